import { expect, test } from 'vitest';
import { describeExit, type ExitReason } from '../../../src/actors/core/exit.ts';
import { advance, type Lifecycle } from '../../../src/actors/core/lifecycle.ts';

const lives: Lifecycle[] = ['starting', 'running', 'draining', 'stopped'];

test('a life only moves forward, whichever way it is pushed', () => {
  for (const [at, from] of lives.entries()) {
    for (const [target, to] of lives.entries()) {
      expect(advance(from, to)).toBe(lives[Math.max(at, target)]);
    }
  }
});

test('every exit says in words what happened', () => {
  const fault = { code: 'actor.crashed', message: 'boom', retry: 'never', detail: {} } as const;
  const exits: ExitReason[] = [
    { type: 'normal' },
    { type: 'stopped', reason: 'user' },
    { type: 'crashed', fault },
    { type: 'lost', detail: 'the thread exited' },
    { type: 'not-ready', detail: 'ten seconds' },
  ];
  expect(exits.map(describeExit)).toEqual([
    'ended by itself',
    'stopped: user',
    'crashed: boom',
    'lost: the thread exited',
    'not ready: ten seconds',
  ]);
});
