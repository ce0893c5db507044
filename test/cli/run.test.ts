import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type CliStage, openCli } from '../support/cli-fixture.ts';
import { gate } from '../support/model-server.ts';
import { calls, delegate, delegation, eventsIn } from '../support/troupe-fixture.ts';

const CONTROL = /[^\P{Cc}\n\t]/u;

function typesIn({ dir }: CliStage): string[] {
  return eventsIn(join(dir, '.troupe')).map((event) => event.type);
}

/** A tool call that a plain TERM does not end, and the file that tells it has begun. */
function stubborn(stage: CliStage) {
  const script = '#!/bin/sh\ntrap "" TERM INT\necho $$ > began\nwhile :; do sleep 0.1; done\n';
  stage.write('stubborn', script, 0o755);
  return calls({ name: 'shell', args: { command: './stubborn' } });
}

describe('troupe run: what it says', () => {
  it('K1: the final answer alone on stdout, the run id and its events on stderr, exit 0', async () => {
    const stage = await openCli();
    stage.play({ lead: [delegate('worker', 'part'), 'all done'], worker: ['my part'] });
    const { code, out, err } = await stage.cli('run', 'lead', 'go');
    expect({ code, out }).toEqual({ code: 0, out: 'all done\n' });
    const [, runId] = /^run (run_\S+)$/m.exec(err) ?? [];
    expect(err).toContain(`${runId}/delegate/01 run.completed`);
    expect(err).toMatch(/ run_\S+ run\.started +agent lead, openai-compatible\.local\/m: go\n/);
  });

  it('K1: nothing of the tree is drawn where stderr is no terminal', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    const { err } = await stage.cli('run', 'quick', 'go');
    expect(err).not.toMatch(CONTROL);
    expect(err).not.toContain('model: ');
  });

  it('K1: --json prints one object with the keys of the contract, and nothing else', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    const { code, out, err } = await stage.cli('run', 'quick', 'go', '--json');
    expect(code).toBe(0);
    expect(out.endsWith('}\n') && out.trim().split('\n')).toHaveLength(1);
    const [, run_id] = /^run (run_\S+)$/m.exec(err) ?? [];
    expect(JSON.parse(out)).toEqual({
      run_id,
      status: 'completed',
      answer: 'yes',
      turns: 1,
      usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 },
      cost_cents: null,
      effect: 'none',
    });
  });

  it('--quiet says nothing at all on stderr', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    expect(await stage.cli('run', 'quick', 'go', '--quiet')).toEqual({
      code: 0,
      out: 'yes\n',
      err: '',
    });
  });

  it.each([
    ['as -', ['-']],
    ['as nothing', []],
  ])('K1: a prompt %s is read from stdin', async (_title, prompt) => {
    const stage = await openCli();
    const run = stage.start(['run', 'puppet', ...prompt, '--quiet'], { stdin: 'piped\nwords' });
    expect(await run.code).toBe(0);
    expect(run.out).toBe('I only play: piped\nwords\n');
  });

  it('K1: what plays a scenario is never shown as a language model', async () => {
    const stage = await openCli();
    const { err } = await stage.cli('run', 'puppet', 'go');
    expect(err).toContain('agent puppet, scripted (no language model): go');
    expect((await stage.cli('agents')).out).toMatch(/^puppet .* scripted \(no language model\) /m);
  });

  it('control characters of a model never reach stderr, and a pipe gets the answer as it is', async () => {
    const stage = await openCli();
    stage.play({ quick: ['\u001b]0;owned\u0007\u009b2J\u001b[31mred'] });
    const { out, err } = await stage.cli('run', 'quick', 'go');
    expect(err).not.toMatch(CONTROL);
    expect(err).toContain('\\x1b]0;owned\\x07');
    expect(out).toBe('\u001b]0;owned\u0007\u009b2J\u001b[31mred\n');
  });

  it('a reader that goes away is no crash', async () => {
    const stage = await openCli();
    const asked = gate();
    stage.play({ quick: [() => asked.opened.then(() => 'x'.repeat(300_000))] });
    const run = stage.start(['run', 'quick', 'go']);
    await stage.server.request(0);
    run.hangUp();
    asked.open();
    expect(await run.code).toBe(0);
    expect(run.err).not.toMatch(/EPIPE|at .*\.js/);
  });
});

describe('troupe run: how it exits', () => {
  it.runIf(existsSync('/dev/full'))('an answer that cannot be written is an error', async () => {
    const stage = await openCli();
    const run = stage.start(['run', 'puppet', 'go'], { stdout: '/dev/full' });
    expect(await run.code).toBe(1);
    expect(run.err).toMatch(/^error: stdout: .*ENOSPC/m);
  });

  it('K1: a failed run exits 1, says why on stderr and nothing on stdout', async () => {
    const stage = await openCli();
    stage.play({ quick: [{ status: 401, body: { error: { message: 'who are you' } } }] });
    const { code, out, err } = await stage.cli('run', 'quick', 'go');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^failed: /m);
    expect(err).toMatch(/`troupe log run_\S+ --subtree`/);
  });

  it('K1: a run without its own final answer exits 3; its last words are not on stdout', async () => {
    const stage = await openCli();
    stage.play({ lead: [{ text: 'half of it', ...calls({ name: 'agents' }) }] });
    const { code, out, err } = await stage.cli('run', 'lead', 'go', '--max-turns', '1');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('incomplete: turn_limit');
    expect(err).toContain('half of it');
  });

  it('K1: an incomplete run says so in its JSON too', async () => {
    const stage = await openCli();
    stage.play({ lead: [calls({ name: 'agents' })] });
    const { code, out } = await stage.cli('run', 'lead', 'go', '--max-turns', '1', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({ status: 'incomplete', reason: 'turn_limit', turns: 1 });
  });

  it('K1: SIGINT cancels the tree, waits for it and exits 130', async () => {
    const stage = await openCli();
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('quick', 'b'))],
      worker: [{ hang: true }],
      quick: [{ hang: true }],
    });
    const run = stage.start(['run', 'lead', 'go']);
    await stage.server.request(2);
    run.kill('SIGINT');
    expect(await run.code).toBe(130);
    expect(run.out).toBe('');
    expect(run.err).toContain('cancelled: stopped by the user (SIGINT)');
    expect(typesIn(stage).filter((type) => type === 'run.cancelled')).toHaveLength(3);
  });

  it('K1: SIGTERM cancels as well, and --json still prints its object', async () => {
    const stage = await openCli();
    stage.play({ quick: [{ hang: true }] });
    const run = stage.start(['run', 'quick', 'go', '--json']);
    await stage.server.request(0);
    run.kill('SIGTERM');
    expect(await run.code).toBe(130);
    expect(JSON.parse(run.out)).toMatchObject({ status: 'cancelled', answer: '' });
  });

  it('K1: a second SIGINT ends the process there and then, and no tool survives it', async () => {
    const stage = await openCli();
    stage.play({ lead: [stubborn(stage)] });
    const run = stage.start(['run', 'lead', 'go', '--workspace', stage.dir]);
    const began = join(stage.dir, 'began');
    await vi.waitFor(() => expect(readFileSync(began, 'utf8')).toMatch(/\n$/), 20_000);
    run.kill('SIGINT');
    await run.says(/SIGINT: cancelling/);
    run.kill('SIGINT');
    expect(await run.code).toBe(130);
    expect(typesIn(stage)).not.toContain('run.cancelled');
    const pid = Number(readFileSync(began, 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), 20_000);
  });
});

describe('troupe run: what it refuses', () => {
  it.each([
    ['an unknown agent', ['run', 'nobody', 'go'], "Unknown agent 'nobody'. Available agents: lead"],
    ['an empty prompt', ['run', 'lead', '  '], 'the prompt is empty'],
    ['an unknown project', ['run', 'lead', 'go', '--project', 'x'], "unknown project 'x'"],
    [
      'a workspace that is not there',
      ['run', 'lead', 'go', '--workspace', 'none'],
      'does not exist',
    ],
    [
      'turns that are no number',
      ['run', 'lead', 'go', '--max-turns', 'ten'],
      'whole number from 1',
    ],
    ['an unknown option', ['run', 'lead', 'go', '--loud'], "unknown option '--loud'"],
    ['a level of diagnostics that is none', ['ps', '--log-level', 'loud'], 'Allowed choices are'],
    ['too many arguments', ['run', 'lead', 'go', 'on'], 'too many arguments'],
    ['no agent', ['run'], "missing required argument 'agent'"],
    [
      'a configuration that is not there',
      ['run', 'lead', 'go', '--config', 'x.toml'],
      '`troupe init`',
    ],
  ])('K1: %s exits 2 and says what to do', async (_title, args, words) => {
    const stage = await openCli();
    const { code, out, err } = await stage.cli(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
    expect(stage.server.requests).toEqual([]);
  });

  it('C1: a broken configuration exits 2 with every one of its six faults, and starts nothing', async () => {
    const stage = await openCli();
    stage.write('broken.toml', BROKEN);
    const { code, out, err } = await stage.cli('run', 'a', 'go', '--config', 'broken.toml');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('6 faults');
    for (const path of BROKEN_PATHS) expect(err).toContain(path);
    expect(existsSync(join(stage.dir, '.troupe'))).toBe(false);
  });

  it('warnings of the configuration are said once, and do not stop it', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
    stage.write('troupe.toml', `${config}\n[mcp_servers.m]\ncommand = "m"\n`);
    const { code, err } = await stage.cli('run', 'quick', 'go');
    expect(code).toBe(0);
    expect(err.match(/^warning: .*mcp_servers\.m.*not in force/gm)).toHaveLength(1);
  });

  it('X2: a run without money ends with 3, and says which key to change and when it frees', async () => {
    const stage = await openCli();
    const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
    stage.write(
      'troupe.toml',
      config.replace('autonomy =', 'max_cost_per_day_cents = 0\nautonomy ='),
    );
    const { code, out, err } = await stage.cli('run', 'quick', 'go');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(
      /^incomplete: Cost budget exhausted: agent 'quick' .*max_cost_per_day_cents = 0, \[risk_profiles\.\w+\]/m,
    );
    expect(stage.server.requests).toEqual([]);
  });

  it('J6: a second host is refused with who has it and what to do, and the first goes on', async () => {
    const stage = await openCli();
    const asked = gate();
    stage.play({ quick: [() => asked.opened.then(() => 'first')] });
    const first = stage.start(['run', 'quick', 'go', '--quiet']);
    await stage.server.request(0);
    const { code, out, err } = await stage.cli('run', 'quick', 'go');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: state directory \S+\.troupe is in use by process \d+/m);
    expect(err).toContain('--state');
    asked.open();
    expect(await first.code).toBe(0);
    expect(first.out).toBe('first\n');
  });
});

const BROKEN = `
[providers.models.openai-compatible.local]
base_url = "not an address"
model = "m"

[risk_profiles.p]
autonomy = "wild"

[runtime_profiles.r]
max_turns = 0

[agents.a]
model_provider = "openai-compatible.local"
risk_profile = "q"
max_turn = 3

[agents.b]
model_provider = "openai.none"
`;

const BROKEN_PATHS = [
  'providers.models.openai-compatible.local.base_url',
  'risk_profiles.p.autonomy',
  'runtime_profiles.r.max_turns',
  'agents.a.risk_profile',
  'agents.a.max_turn',
  'agents.b.model_provider',
];
