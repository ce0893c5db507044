// Packs troupe, checks the package's shape, installs it in an empty project, imports it and runs it there.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const project = mkdtempSync(join(tmpdir(), 'troupe-package-'));

function run(command, args, options = {}) {
  return execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
}

try {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', project]);
  const tarball = join(
    project,
    readdirSync(project).find((name) => name.endsWith('.tgz')),
  );
  console.log(run(join(bin, 'publint'), ['--strict', tarball]).trim());
  console.log(run(join(bin, 'attw'), [tarball, '--profile', 'esm-only']).trim());

  writeFileSync(
    join(project, 'package.json'),
    '{ "name": "empty", "private": true, "type": "module" }\n',
  );
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', tarball], {
    cwd: project,
  });
  writeFileSync(
    join(project, 'use.mjs'),
    `import { Troupe, defineTool } from 'troupe';
const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  parameters: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
  effect: 'read',
  run: ({ who }) => 'hello ' + who,
});
const troupe = await Troupe.open({
  config: {
    providers: { models: { scripted: { words: { file: 'words.yaml' } } } },
    risk_profiles: { open: { autonomy: 'full' } },
    agents: { lead: { model_provider: 'scripted.words', risk_profile: 'open' } },
  },
  hostTools: [greet],
  stateDir: 'state',
});
const run = await troupe.start({ agent: 'lead', prompt: 'world' });
const outcome = await run.result();
await troupe.close();
if (outcome.answer !== 'hello world') throw new Error('unexpected outcome: ' + JSON.stringify(outcome));
console.log('library: ' + outcome.answer);
`,
  );
  writeFileSync(
    join(project, 'words.yaml'),
    `agents:
  lead:
    turns:
      - calls: [{ tool: greet, args: { who: "{{ prompt }}" } }]
      - text: "{{ results[0].text }}"
`,
  );
  console.log(run(process.execPath, ['use.mjs'], { cwd: project }).trim());

  cpSync(join(project, 'node_modules/troupe/examples/audit'), join(project, 'audit'), {
    recursive: true,
  });
  const cli = join(project, 'node_modules/.bin/troupe');
  const checked = run(cli, ['check', '--config', 'audit/troupe.toml'], { cwd: project });
  console.log(`cli check: ${checked.trim()}`);
  const answer = run(
    cli,
    ['run', 'lead', 'Audit it.', '--config', 'audit/troupe.toml', '--quiet'],
    { cwd: project },
  );
  if (!answer.includes('## Structure')) throw new Error(`unexpected answer: ${answer}`);
  console.log('cli run: the audit example works from the package');
} finally {
  rmSync(project, { recursive: true, force: true });
}
