import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Troupe } from '../../src/host.ts';
import { gate, startModelServer } from '../support/model-server.ts';
import { configOf, eventsIn, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ agents: { lead: {} }, troupe: { threads: 1 } });
});

afterAll(() => stage.close());

function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-opening-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe('opening and closing', () => {
  it('L2: two troupes with two state directories live side by side, and each has its own runs', async () => {
    const other = await openStage({ agents: { lead: {} }, troupe: { threads: 1 } });
    stage.play({ lead: 'from one' });
    other.play({ lead: 'from two' });
    const [one, two] = await Promise.all([stage.run('lead'), other.run('lead')]);
    expect([one.outcome.answer, two.outcome.answer]).toEqual(['from one', 'from two']);
    expect(stage.troupe.run(two.run.id)).toBeUndefined();
    expect((await other.troupe.runs()).map(({ run_id }) => run_id)).toEqual([two.run.id]);
    await other.close();
  });

  it('J6: a second troupe on the same state directory is refused, and the first is not harmed', async () => {
    const config = configOf({ agents: { lead: {} } }, stage.server.url);
    await expect(Troupe.open({ config, stateDir: stage.troupe.stateDir })).rejects.toMatchObject({
      code: 'state.locked',
    });
    stage.play({ lead: 'still here' });
    expect((await stage.run('lead')).outcome.answer).toBe('still here');
  });

  it('L2: close waits for what runs, and close with cancel cancels it; then nothing is started any more', async () => {
    const dir = temporaryDir();
    const server = await startModelServer();
    onTestFinished(() => server.close());
    const shut = gate();
    server.on(async () => {
      await shut.opened;
      return 'done';
    });
    const config = configOf({ agents: { lead: {} } }, server.url);
    const stateDir = join(dir, 'state');
    const first = await Troupe.open({ config, stateDir });
    const run = await first.start({ agent: 'lead', prompt: 'go', workspace: dir });
    const closing = first.close();
    await expect(first.start({ agent: 'lead', prompt: 'go' })).rejects.toMatchObject({
      code: 'host.closed',
    });
    shut.open();
    await closing;
    await first.close();
    expect((await run.result()).status).toBe('completed');
    const second = await Troupe.open({ config, stateDir });
    server.on(() => ({ hang: true }));
    const hanging = await second.start({ agent: 'lead', prompt: 'go', workspace: dir });
    const slow = second.close();
    await second.close({ cancel: 'shutting down' });
    await slow;
    expect(await hanging.result()).toMatchObject({ status: 'cancelled', reason: 'shutting down' });
    expect(eventsIn(stateDir).filter(({ type }) => type.startsWith('run.c'))).toHaveLength(2);
  });

  it('L2: await using closes at the end of its block', async () => {
    const dir = temporaryDir();
    const config = configOf({ agents: { lead: {} } }, stage.server.url);
    stage.play({ lead: 'done' });
    let seen: Troupe | null = null;
    {
      await using troupe = await Troupe.open({ config, stateDir: join(dir, 'state') });
      seen = troupe;
      await troupe.start({ agent: 'lead', prompt: 'go', workspace: dir });
    }
    await expect(seen.start({ agent: 'lead', prompt: 'go' })).rejects.toMatchObject({
      code: 'host.closed',
    });
    expect(ofType(eventsIn(join(dir, 'state')), 'run.completed')).toHaveLength(1);
  });

  it('L2: listeners of events still hear everything that close waits for', async () => {
    const dir = temporaryDir();
    mkdirSync(join(dir, 'work'));
    const config = configOf({ agents: { lead: {} } }, stage.server.url);
    stage.play({ lead: 'done' });
    const troupe = await Troupe.open({ config, stateDir: join(dir, 'state') });
    const types: string[] = [];
    troupe.on('event', ({ type }) => types.push(type));
    await troupe.start({ agent: 'lead', prompt: 'go', workspace: join(dir, 'work') });
    await troupe.close();
    expect(types.at(-1)).toBe('run.completed');
  });
});
