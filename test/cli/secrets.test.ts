import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCli } from '../support/cli-fixture.ts';
import { calls, delegation } from '../support/troupe-fixture.ts';

const KEY = 'sk-live-603deb1015ca71be2b73';
const DEAD_KEY = 'quiet-falcon-under-glass';

it('C6: no command says a key, whatever its log level, also where every provider fails and repeats it', async () => {
  const stage = await openCli();
  const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8')
    .replace('max_retries = 0', 'max_retries = 1\napi_key_env = "TROUPE_TEST_KEY"')
    .replace('["./stubborn"]', '["env"]')
    .concat(`
[providers.models.openai-compatible.dead]
base_url = "http://127.0.0.1:9/v1"
model = "m"
max_retries = 0
api_key_env = "TROUPE_TEST_DEAD_KEY"
[agents.dead]
model_provider = "openai-compatible.dead"
risk_profile = "p"
runtime_profile = "r"
`);
  stage.write('troupe.toml', config);
  const env = { TROUPE_TEST_KEY: KEY, TROUPE_TEST_DEAD_KEY: DEAD_KEY };
  const echo = { error: { message: `bad key ${KEY}`, code: KEY, param: `Bearer ${KEY}` } };
  stage.play({
    lead: [
      calls(
        delegation('worker', 'part'),
        delegation('dead', 'part'),
        delegation('quick', 'part', { background: true }),
        { name: 'shell', args: { command: 'env' } },
      ),
      { status: 500, body: echo },
    ],
    worker: [{ status: 401, body: echo }],
    quick: [
      calls({ name: 'shell', args: { command: 'env' } }),
      { status: 429, headers: { 'retry-after': '0' }, body: echo },
    ],
  });
  let said = '';
  const cli = async (...args: string[]): Promise<void> => {
    const one = stage.start(args, { env });
    await one.code;
    said += one.out + one.err;
  };
  await cli('check', '--log-level', 'trace');
  await cli('run', 'lead', 'go', '--log-level', 'trace');
  await cli('run', 'dead', 'go', '--log-level', 'trace', '--json');
  const [, runId = ''] = /^run (run_\S+)$/m.exec(said) ?? [];
  await cli('log', runId, '--subtree', '--log-level', 'trace');
  await cli('log', runId, '--subtree', '--json');
  for (const command of ['ps', 'agents', 'doctor', 'resume']) {
    await cli(command, '--log-level', 'trace');
    await cli(command, '--json', '--log-level', 'trace');
  }
  await cli('tree', runId);
  await cli('tree', runId, '--json');
  expect(stage.server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(said).toContain('HOME=');
  expect(said).toMatch(/TROUPE_TEST_KEY/);
  const written = readdirSync(stage.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  for (const text of [said, ...written]) {
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(DEAD_KEY);
  }
});
