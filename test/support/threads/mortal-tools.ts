// Tools that end what they run on, as a module that troupe's threads import by its address.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { defineTool } from '../../../src/tools/define-tool.ts';

const files = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
});

/** Does not return: the thread ends first. */
const deaths: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(3),
  throw: () => void setTimeout(() => Promise.reject(new Error('out of band')), 0),
  memory: () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  },
  host: () => void process.kill(process.pid, 'SIGKILL'),
};

function timesIn(log: string): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
}

/** Ends its thread (or `how: host` the process) the first `times` times; `log` gets the thread of each start. */
const dies = {
  parameters: files('log', 'how', 'times'),
  run: async ({ log, how, times }: { log: string; how: string; times: string }) => {
    const before = timesIn(log);
    appendFileSync(log, `${threadId}\n`);
    if (before >= Number(times)) return `survived after ${before}`;
    deaths[how]?.();
    await new Promise(() => undefined);
    return '';
  },
} as const;

export const diesReading = defineTool<{ log: string; how: string; times: string }>({
  ...dies,
  name: 'dies',
  description: 'reads, and ends its thread',
  effect: 'read',
});

export const diesActing = defineTool<{ log: string; how: string; times: string }>({
  ...dies,
  name: 'dies_acting',
  description: 'acts, and ends its thread',
  effect: 'effectful',
});

export const diesComputing = defineTool<{ log: string; how: string; times: string }>({
  ...dies,
  name: 'dies_computing',
  description: 'reads, and ends its thread',
  effect: 'read',
  cpu: true,
});

/** Says in `began` that it has begun, and returns once `until` exists. */
const waits = {
  parameters: files('began', 'until'),
  run: async (
    { began, until }: { began: string; until: string },
    { callKey, signal }: { callKey: string; signal: AbortSignal },
  ) => {
    appendFileSync(began, `${callKey}\n`);
    while (!existsSync(until) && !signal.aborted) {
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
    return 'waited';
  },
} as const;

export const waitsReading = defineTool<{ began: string; until: string }>({
  ...waits,
  name: 'waits',
  description: 'waits for a file',
  effect: 'read',
});

export const waitsActing = defineTool<{ began: string; until: string }>({
  ...waits,
  name: 'waits_acting',
  description: 'acts, and waits for a file',
  effect: 'effectful',
});

export const marks = defineTool<{ file: string }>({
  name: 'marks',
  description: 'makes a file',
  parameters: files('file'),
  effect: 'idempotent',
  run: ({ file }) => {
    writeFileSync(file, '');
    return 'made';
  },
});
