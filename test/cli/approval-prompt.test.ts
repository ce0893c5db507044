import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ApprovalPrompt, SETTLE_MS } from '../../src/cli/approval-prompt.ts';
import type { Context } from '../../src/cli/context.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../src/runtime/engine.ts';
import { TurnedClock } from '../support/turned-clock.ts';

class Keys extends EventEmitter {
  readonly isTTY: boolean;
  readonly done: string[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(raw: boolean): void {
    this.done.push(raw ? 'raw' : 'cooked');
  }

  resume(): void {
    this.done.push('resume');
  }

  pause(): void {
    this.done.push('pause');
  }

  type(text: string): void {
    this.emit('data', Buffer.from(text));
  }
}

function openPrompt({ tty = true } = {}) {
  let shown = '';
  const err = Object.assign(
    new PassThrough().on('data', (chunk) => {
      shown += String(chunk);
    }),
    { isTTY: tty, columns: 80, rows: 24 },
  );
  const terminal = new Terminal(new PassThrough(), err, { TERM: 'xterm' });
  const options = { config: '', state: '.troupe', json: false, quiet: false, logLevel: 'warn' };
  const context = { terminal, options } as Context;
  const keys = new Keys(tty);
  const clock = new TurnedClock();
  let interrupts = 0;
  const prompt = new ApprovalPrompt(context, keys, clock, () => {
    interrupts += 1;
  });
  const answers: Record<string, ApprovalAnswer> = {};
  const ask = (n: number, signal = new AbortController().signal) => {
    const request: ApprovalRequest = {
      ...{ id: `run_r#${n}`, runId: 'run_r', agentId: 'writer', callId: `c${n}`, tool: 'shell' },
      ...{ args: { command: `touch ${n}` }, expiresAtMs: 0 },
    };
    void prompt.ask(request, signal).then((answer) => {
      answers[request.id] = answer;
    });
  };
  return {
    ...{ ask, keys, clock, answers, terminal },
    shown: () => shown,
    interrupts: () => interrupts,
    /** After the settling time, and after whoever waits for an answer has it. */
    press: async (text: string) => {
      clock.turn(SETTLE_MS);
      keys.type(text);
      await Promise.resolve();
    },
  };
}

describe('the prompt for approvals', () => {
  it('X3: asks one after another, and each answer is for the one that is shown', async () => {
    const stage = openPrompt();
    stage.ask(1);
    stage.ask(2);
    expect(stage.terminal.question).toBe('may writer call shell? y/n  run_r#1 (1 more after it)');
    await stage.press('n');
    expect(stage.answers).toEqual({
      'run_r#1': { granted: false, by: 'user', why: 'no reason given' },
    });
    expect(stage.terminal.question).toBe('may writer call shell? y/n  run_r#2');
    expect(stage.shown()).toContain('  command: "touch 2"');
    await stage.press('y');
    expect(stage.answers['run_r#2']).toMatchObject({ granted: true, by: 'user' });
    expect(stage.terminal.question).toBeNull();
  });

  it('P2: what was typed before a question could be read, pasted or held down answers nothing', async () => {
    const stage = openPrompt();
    stage.ask(1);
    stage.keys.type('y');
    stage.clock.turn(SETTLE_MS - 1);
    stage.keys.type('y');
    await stage.press('yy');
    await stage.press('yes\r');
    await stage.press('\r');
    await stage.press('x');
    expect(stage.answers).toEqual({});
    stage.ask(2);
    await stage.press('y');
    stage.keys.type('y');
    await Promise.resolve();
    expect(Object.keys(stage.answers)).toEqual(['run_r#1']);
  });

  it('an answer elsewhere takes the question away, shown or waiting, and no key reaches it any more', async () => {
    const stage = openPrompt();
    const [first, second] = [new AbortController(), new AbortController()];
    stage.ask(1, first.signal);
    stage.ask(2, second.signal);
    stage.ask(3);
    second.abort(new Error('the approval was answered elsewhere'));
    expect(stage.shown()).toContain('run_r#2: the approval was answered elsewhere');
    first.abort(new Error('approval timed out'));
    expect(stage.terminal.question).toBe('may writer call shell? y/n  run_r#3');
    await stage.press('y');
    expect(Object.keys(stage.answers)).toEqual(['run_r#3']);
  });

  it('P3: stdin is raw only while a question stands, and Ctrl-C is still a signal', async () => {
    const stage = openPrompt();
    stage.ask(1);
    stage.ask(2);
    expect(stage.keys.done).toEqual(['raw', 'resume']);
    stage.keys.type('\u0003');
    expect(stage.interrupts()).toBe(1);
    await stage.press('y');
    await stage.press('y');
    expect(stage.keys.done).toEqual(['raw', 'resume', 'cooked', 'pause']);
    expect(stage.keys.listenerCount('data')).toBe(0);
  });

  it('without a terminal it says how to answer from another one, and no key counts', async () => {
    const stage = openPrompt({ tty: false });
    stage.ask(1);
    expect(stage.shown()).toContain(
      '  to answer: troupe approve run_r#1, or troupe deny run_r#1 [reason]\n',
    );
    await stage.press('y');
    expect(stage.answers).toEqual({});
    expect(stage.keys.done).toEqual([]);
  });
});
