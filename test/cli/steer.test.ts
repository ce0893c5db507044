import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { hostClient } from '../../src/control.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { stateLayout } from '../../src/runtime/state-dir.ts';
import { type CliProcess, type CliStage, openCli } from '../support/cli-fixture.ts';
import { gate } from '../support/model-server.ts';
import { calls, delegate, delegation, eventsIn } from '../support/troupe-fixture.ts';

async function idOf(run: CliProcess): Promise<string> {
  const [, runId = ''] = await run.says(/^run (run_\S+)$/m);
  return runId;
}

function eventsOf({ dir }: CliStage): JournalEvent[] {
  return eventsIn(join(dir, '.troupe'));
}

function ofRun(events: readonly JournalEvent[], runId: string): string[] {
  return events.filter((event) => event.run_id === runId).map((event) => event.type);
}

/** Resolves when the note has been journaled, wherever it went by then. */
async function journaled(stage: CliStage, count = 1): Promise<void> {
  await vi.waitFor(() => {
    const notes = eventsOf(stage).filter((event) => event.type === 'run.user_note');
    expect(notes).toHaveLength(count);
  }, 20_000);
}

describe('troupe note', () => {
  it('N1: from another process reaches the parent and its child, and prints in which turn each read it', async () => {
    const stage = await openCli();
    const asked = gate();
    stage.play({
      lead: [delegate('worker', 'part'), 'all done'],
      worker: [() => asked.opened.then(() => calls({ name: 'agents' })), 'my part'],
    });
    const run = stage.start(['run', 'lead', 'go']);
    const runId = await idOf(run);
    await stage.server.request(1);
    const note = stage.start(['note', runId, 'look', 'at', 'tests']);
    await journaled(stage, 2);
    asked.open();
    expect(await note.code).toBe(0);
    expect(note.out.trim().split('\n').sort()).toEqual([
      `${runId}/delegate/01: read in turn 2`,
      `${runId}: read in turn 2`,
    ]);
    expect(await run.code).toBe(0);
    const texts = stage.server.requests.flatMap((request) =>
      request.messages.map((each) => each.content),
    );
    expect(
      texts.filter((text) => text?.includes('look at tests') === true).length,
    ).toBeGreaterThanOrEqual(2);
  });

  it('N1: says too late where the run ended without another turn, and exits 1', async () => {
    const stage = await openCli();
    const asked = gate();
    stage.play({ quick: [() => asked.opened.then(() => 'that was all')] });
    const run = stage.start(['run', 'quick', 'go']);
    const runId = await idOf(run);
    await stage.server.request(0);
    const note = stage.start(['note', runId, 'more', '--json']);
    await journaled(stage);
    asked.open();
    expect(await note.code).toBe(1);
    expect(JSON.parse(note.out)).toMatchObject({
      receipts: [{ run_id: runId, outcome: 'too_late', turn: null }],
    });
  });

  it('N1: says dead letter where the run was stopped before it could read it', async () => {
    const stage = await openCli();
    stage.play({ quick: [{ hang: true }] });
    const run = stage.start(['run', 'quick', 'go']);
    const runId = await idOf(run);
    await stage.server.request(0);
    const note = stage.start(['note', runId, 'more']);
    await journaled(stage);
    run.kill('SIGINT');
    expect(await note.code).toBe(1);
    expect(note.out).toBe(`${runId}: dead letter, it was stopped before it could read it\n`);
  });

  it('N1: --no-wait is back before the run has read it', async () => {
    const stage = await openCli();
    stage.play({ quick: [{ hang: true }] });
    const run = stage.start(['run', 'quick', 'go']);
    const runId = await idOf(run);
    await stage.server.request(0);
    const { code, out } = await stage.cli('note', runId.slice(0, 8), 'more', '--no-wait');
    expect(code).toBe(0);
    expect(out).toMatch(/^note_\S+: handed to run_/);
    expect(ofRun(eventsOf(stage), runId)).not.toContain('run.cancelled');
  });

  it('N1: a note to a run that has ended says so at once, with its status', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    const run = stage.start(['run', 'quick', 'go']);
    const runId = await idOf(run);
    await run.code;
    const { code, out, err } = await stage.cli('note', runId, 'late');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`error: run ${runId} has already ended: completed\n`);
  });
});

describe('troupe cancel', () => {
  it('N2: from another process stops one child; the parent goes on with a cancelled result', async () => {
    const stage = await openCli();
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('quick', 'b')), 'went on'],
      worker: [{ hang: true }],
      quick: ['my part'],
    });
    const run = stage.start(['run', 'lead', 'go']);
    const runId = await idOf(run);
    await stage.server.request(2);
    const child = `${runId}/delegate/01`;
    const { code, out } = await stage.cli('cancel', child, 'not', 'needed');
    expect({ code, out }).toEqual({ code: 0, out: `${child}: cancelled\n` });
    expect(await run.code).toBe(0);
    expect(run.out).toBe('went on\n');
    const ended = eventsOf(stage).find(
      (event) => event.run_id === child && event.type === 'run.cancelled',
    );
    expect(ended?.data).toMatchObject({ reason: 'not needed', by: 'user' });
    expect(stage.server.requests.at(-1)?.results[0]).toContain('not needed');
  });

  it('N2: of a root stops its whole tree, and its own command exits 130', async () => {
    const stage = await openCli();
    stage.play({ lead: [delegate('worker', 'part')], worker: [{ hang: true }] });
    const run = stage.start(['run', 'lead', 'go']);
    const runId = await idOf(run);
    await stage.server.request(1);
    const { code, out } = await stage.cli('cancel', runId, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ run_id: runId, answer: 'cancelled' });
    expect(await run.code).toBe(130);
    expect(ofRun(eventsOf(stage), `${runId}/delegate/01`)).toContain('run.cancelled');
  });

  it('N2: a run that has ended is harmless and says so, with a host or without one', async () => {
    const stage = await openCli();
    stage.play({ quick: ['yes'] });
    const run = stage.start(['run', 'quick', 'go']);
    const runId = await idOf(run);
    await run.code;
    const { code, out } = await stage.cli('cancel', runId);
    expect({ code, out }).toEqual({ code: 0, out: `${runId}: already ended: completed\n` });
  });

  it('K1: an unknown run exits 1 and names the command that lists them; so does log', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'go');
    for (const args of [
      ['cancel', 'run_none'],
      ['note', 'run_none', 'x'],
      ['log', 'run_none'],
      ['tree', 'run_none'],
    ]) {
      const { code, err } = await stage.cli(...args);
      expect({ code, err }).toEqual({
        code: 1,
        err: "error: no run 'run_none' in this journal; `troupe ps` lists them\n",
      });
    }
  });
});

describe('the host behind the socket', () => {
  it('K2: tells which runs are live and decides about the others by the journal', async () => {
    const stage = await openCli();
    stage.play({ lead: [delegate('quick', 'a'), { hang: true }], quick: ['yes'] });
    const run = stage.start(['run', 'lead', 'go']);
    const runId = await idOf(run);
    await stage.server.request(2);
    const host = hostClient(join(stage.dir, '.troupe'));
    expect(await host.live()).toEqual([runId]);
    expect(await host.stats()).toMatchObject({ runs: 1 });
    const child = `${runId}/delegate/01`;
    const ended = { code: 'run.ended', message: `run ${child} has already ended: completed` };
    await expect(host.note(child, 'x')).rejects.toMatchObject(ended);
    await expect(host.cancel(child)).rejects.toMatchObject(ended);
    await expect(host.cancel('run_none')).rejects.toMatchObject({ code: 'run.not-found' });
    await expect(host.note(runId, '')).rejects.toMatchObject({ code: 'argument.invalid' });
    const types: string[] = [];
    for await (const event of host.follow(child, { subtree: false, afterSeq: 0 }))
      types.push(event.type);
    expect(types.at(-1)).toBe('run.completed');
    expect(await host.cancel(runId)).toEqual({ answer: 'cancelled', left: [] });
    await run.code;
  });

  it('K2: without one, a call says that none is running and where', async () => {
    const stage = await openCli();
    await stage.cli('run', 'puppet', 'go');
    const { path } = stateLayout(join(stage.dir, '.troupe'));
    await expect(hostClient(path).live()).rejects.toMatchObject({
      code: 'host.absent',
      message: expect.stringContaining(`no host is running on ${path}`),
    });
  });
});
