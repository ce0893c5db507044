import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { openProgress } from '../../src/cli/progress.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { wallClock } from '../../src/cli/wall-clock.ts';
import type { EventType, JournalEvent } from '../../src/runtime/core/event.ts';
import { specOf } from '../support/run-fixtures.ts';

/** A stream that keeps what is written to it; a terminal of 80 columns or a pipe. */
function stream(isTTY: boolean) {
  const written: string[] = [];
  const kept = new PassThrough().on('data', (chunk) => written.push(String(chunk)));
  return {
    sink: Object.assign(kept, { isTTY, columns: 80, rows: 24 }),
    text: () => written.join(''),
  };
}

function stage(options: { tty: boolean; env?: Record<string, string>; quiet?: boolean }) {
  const out = stream(options.tty);
  const err = stream(options.tty);
  const terminal = new Terminal(out.sink, err.sink, options.env ?? { TERM: 'xterm' });
  const global = {
    config: '',
    state: '',
    json: false,
    quiet: options.quiet ?? false,
    logLevel: 'warn',
  } as const;
  const context: Context = { terminal, options: global };
  return {
    terminal,
    progress: openProgress(context, ['run_r'], wallClock),
    out: out.text,
    err: err.text,
  };
}

function event(n: number, type: EventType, data: object, runId = 'run_r'): JournalEvent {
  return {
    seq: n,
    event_id: `${runId}#${n}`,
    run_id: runId,
    parent_run_id: null,
    parent_event_id: null,
    frame_id: null,
    ts: '2026-03-01T12:00:01.123Z',
    type,
    v: 1,
    data: data as JournalEvent['data'],
  };
}

const STARTED = event(1, 'run.started', specOf({ agent_id: 'lead' }));
const ENDED = event(2, 'run.completed', {
  answer: 'x',
  turns: 1,
  cost_cents: null,
  error: null,
  reason: null,
});

describe('progress', () => {
  it('K1: a terminal gets a tree that names the model for what it is, and its last frame stays', () => {
    const { progress, err, out } = stage({ tty: true });
    progress.see(STARTED);
    progress.see(ENDED);
    progress.end();
    expect(err()).toContain('model: scripted (no language model)');
    expect(err()).toMatch(/lead run_r {2}\S*completed\S* [^\n]*\n$/);
    expect(out()).toBe('');
  });

  it('lines said meanwhile go above the tree, and afterwards below it', () => {
    const { terminal, progress, err } = stage({ tty: true });
    progress.see(STARTED);
    terminal.say('a thread ended');
    progress.end();
    terminal.say('all over');
    expect(err()).toMatch(/a thread ended[\s\S]*lead run_r[\s\S]*all over\n$/);
  });

  it('K1: a pipe gets a line an event of its own tree, without any escape', () => {
    const { progress, err } = stage({ tty: false });
    progress.see(STARTED);
    progress.see(event(2, 'turn.started', { turn: 1 }));
    progress.see(event(1, 'run.started', specOf(), 'run_other'));
    progress.end();
    expect(err()).toBe(
      '12:00:01.123Z run_r run.started           agent lead, scripted (no language model): do it\n',
    );
  });

  it('a dumb terminal gets lines too, and --quiet nothing', () => {
    const dumb = stage({ tty: true, env: { TERM: 'dumb' } });
    dumb.progress.see(STARTED);
    expect(dumb.err()).not.toContain('\u001b');
    expect(dumb.err()).toContain('run.started');
    const quiet = stage({ tty: true, quiet: true });
    quiet.progress.see(STARTED);
    quiet.progress.end();
    expect(quiet.err()).toBe('');
  });

  it('NO_COLOR takes the colours from a terminal, not the tree', () => {
    const { terminal, progress, err } = stage({ tty: true, env: { TERM: 'xterm', NO_COLOR: '1' } });
    progress.see(STARTED);
    progress.end();
    expect(err()).not.toContain('\u001b[3');
    expect(err()).toContain('lead run_r');
    expect(terminal.paintOut('red', 'x')).toBe('x');
    expect(stage({ tty: true }).terminal.paintOut('red', 'x')).toBe('\u001b[31mx\u001b[0m');
  });
});
