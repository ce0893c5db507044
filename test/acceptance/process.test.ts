import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Troupe } from '../../src/host.ts';
import { type BuiltPackage, buildPackage, startProgram } from '../support/built-package.ts';
import { startModelServer } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import { calls, configOf, delegate, eventsIn } from '../support/troupe-fixture.ts';

let built: BuiltPackage;

beforeAll(async () => {
  built = await buildPackage();
}, 120_000);

afterAll(() => built.remove());

function temporaryDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-process-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function server(handler: Parameters<Awaited<ReturnType<typeof startModelServer>>['on']>[0]) {
  const started = await startModelServer();
  onTestFinished(() => started.close());
  started.on(handler);
  return started;
}

/** Without the pipes that a program's own input and output are. */
function ownResources<Seen extends { resources: string[] }>(seen: Seen): Seen {
  return {
    ...seen,
    resources: seen.resources.filter((kind) => !/^(PipeWrap|CloseReq)$/.test(kind)),
  };
}

describe('the package in a process of its own', () => {
  it('L3: importing it starts nothing, listens to nothing, defines nothing and writes nothing', async () => {
    const dir = temporaryDir();
    const { code, out, err } = await startProgram('import-only', [built.url], dir).ended;
    expect(err).toBe('');
    expect(code).toBe(0);
    const { before, after, exports } = JSON.parse(out);
    expect(ownResources(after)).toEqual(ownResources(before));
    expect(exports).toEqual(expect.arrayContaining(['Fault', 'Troupe', 'defineTool']));
    expect(readdirSync(dir)).toEqual([]);
  });

  it('L2: nothing keeps the process alive after close()', async () => {
    const dir = temporaryDir();
    const model = await server(({ results }) =>
      results.length === 0 ? calls({ name: 'code_stats', args: {} }) : 'done',
    );
    const config = configOf({ agents: { lead: {} } }, model.url);
    const args = [built.url, JSON.stringify(config), join(dir, 'state')];
    const { code, signal, out, err } = await startProgram('run-once', args, dir).ended;
    expect(err).toBe('');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    const { outcome, resources } = JSON.parse(out);
    expect(outcome).toMatchObject({ status: 'completed', answer: 'done', turns: 2 });
    expect(ownResources({ resources })).toEqual({ resources: [] });
    audit(eventsIn(join(dir, 'state')));
  });

  it('J6: a state directory that another live process owns is refused, names it, and is free once that has ended', async () => {
    const dir = temporaryDir();
    const stateDir = join(dir, 'state');
    const config = configOf({ agents: { lead: {} } }, 'http://127.0.0.1:9/v1');
    const owner = startProgram('own-state', [built.url, JSON.stringify(config), stateDir], dir);
    onTestFinished(() => void owner.child.kill('SIGKILL'));
    await owner.says('open');
    const thrown = await Troupe.open({ config, stateDir }).catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ code: 'state.locked', retry: 'safe' });
    expect(String(thrown)).toContain(`process ${owner.child.pid}`);
    owner.child.stdin?.end();
    expect(await owner.ended).toMatchObject({ code: 0, err: '' });
    const troupe = await Troupe.open({ config, stateDir });
    await troupe.close();
  });

  it('J4: where the disk takes no more, every promise says journal.unwritable, nothing hangs, and what was committed is there', async () => {
    const dir = temporaryDir();
    const stateDir = join(dir, 'state');
    const model = await server(({ system, messages }) =>
      system === 'agent:worker'
        ? { text: 'x'.repeat(60_000) }
        : delegate('worker', `part ${messages.length}`),
    );
    const config = configOf({ agents: { lead: { max_turns: 1000 }, worker: {} } }, model.url);
    const args = [built.url, JSON.stringify(config), stateDir];
    // 1 MiB a file: the journal's log meets it after some turns.
    const program = startProgram('fill-disk', args, dir, 'ulimit -f 2048');
    const { code, out, err } = await program.ended;
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      result: 'journal.unwritable',
      events: 'journal.unwritable',
      cancel: 'journal.unwritable',
      start: 'journal.unwritable',
      close: 'fine',
    });
    const events = eventsIn(stateDir);
    expect(events.length).toBeGreaterThan(10);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(
      events.some(({ type, parent_run_id }) => type === 'run.failed' && parent_run_id === null),
    ).toBe(false);
  });
});
