// Tools of tests, as a module that troupe's threads import by its address.
import { existsSync, writeFileSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';
import { defineTool } from '../../../src/tools/define-tool.ts';

const anything = { type: 'object', properties: {} };
const text = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
});
const count = {
  type: 'object',
  properties: { count: { type: 'integer', minimum: 0 } },
  required: ['count'],
  additionalProperties: false,
};

export const say = defineTool<{ text: string }>({
  name: 'say',
  description: 'says it again',
  parameters: text('text'),
  effect: 'read',
  run: ({ text: said }) => said,
});

export const long = defineTool<{ count: number }>({
  name: 'long',
  description: 'gives so many characters',
  parameters: count,
  effect: 'read',
  run: ({ count: chars }) => 'x'.repeat(chars),
});

export const longOnCompute = defineTool<{ count: number }>({
  name: 'long_on_compute',
  description: 'gives so many characters',
  parameters: count,
  effect: 'read',
  cpu: true,
  run: ({ count: chars }) => 'x'.repeat(chars),
});

export const breaksOff = defineTool({
  name: 'breaks_off',
  description: 'fails after the first half',
  parameters: anything,
  effect: 'effectful',
  run: (_args, { progress }) => {
    progress('the first half');
    throw new Error('no second half');
  },
});

export const throwsText = defineTool({
  name: 'throws_text',
  description: 'rejects with what is no error',
  parameters: anything,
  effect: 'read',
  run: () => Promise.reject('plain words'),
});

export const throwsNothing = defineTool({
  name: 'throws_nothing',
  description: 'rejects with nothing at all',
  parameters: anything,
  effect: 'read',
  run: () => Promise.reject(undefined),
});

export const never = defineTool({
  name: 'never',
  description: 'does not return',
  parameters: anything,
  effect: 'effectful',
  timeoutMs: 60,
  run: () => new Promise<string>(() => undefined),
});

export const deaf = defineTool<{ mark: string }>({
  name: 'deaf',
  description: 'does not return, whatever its signal says',
  parameters: text('mark'),
  effect: 'effectful',
  run: ({ mark }) => {
    writeFileSync(mark, 'running');
    return new Promise<string>(() => undefined);
  },
});

export const leaves = defineTool({
  name: 'leaves',
  description: 'ends the thread it runs on',
  parameters: anything,
  effect: 'effectful',
  run: () => process.exit(3),
});

export const leavesCompute = defineTool({
  name: 'leaves_compute',
  description: 'ends the thread it runs on',
  parameters: anything,
  effect: 'effectful',
  cpu: true,
  run: () => process.exit(3),
});

export const spins = defineTool<{ mark: string }>({
  name: 'spins',
  description: 'computes for ever',
  parameters: text('mark'),
  effect: 'effectful',
  cpu: true,
  run: ({ mark }) => {
    writeFileSync(mark, 'running');
    for (;;) if (existsSync(`${mark}.never`)) return 'unreachable';
  },
});

export const where = defineTool({
  name: 'where',
  description: 'names its thread',
  parameters: anything,
  effect: 'read',
  run: () => ({ thread: threadId, main: isMainThread }),
});

export const whereCompute = defineTool({
  name: 'where_compute',
  description: 'names its thread',
  parameters: anything,
  effect: 'read',
  cpu: true,
  run: () => ({ thread: threadId, main: isMainThread }),
});

/** Returns well and leaves a timer behind that throws. */
const leavesTimer = {
  description: 'returns, and something of it fails afterwards',
  parameters: anything,
  effect: 'read',
  run: () => {
    setTimeout(() => {
      throw new Error('left behind');
    }, 0);
    return 'returned';
  },
} as const;

export const leavesTimerHere = defineTool({ ...leavesTimer, name: 'leaves_timer' });
export const leavesTimerCompute = defineTool({
  ...leavesTimer,
  name: 'leaves_timer_compute',
  cpu: true,
});

/** Declared as one that yields, and does not. */
export const spinsHere = defineTool<{ mark: string }>({
  name: 'spins_here',
  description: 'computes for ever on the thread of its run',
  parameters: text('mark'),
  effect: 'effectful',
  run: ({ mark }) => {
    writeFileSync(mark, 'running');
    for (;;) if (existsSync(`${mark}.never`)) return 'unreachable';
  },
});
