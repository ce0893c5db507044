// Tools whose effects outlive the host, as a module that troupe's threads import by its address.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { defineTool } from '../../../src/tools/define-tool.ts';

const log = {
  type: 'object',
  properties: { log: { type: 'string' } },
  required: ['log'],
  additionalProperties: false,
};

/** A line that is on the disk when this returns. */
function writeLine(file: string, line: string): void {
  const handle = openSync(file, 'a');
  writeSync(handle, `${line}\n`);
  fsyncSync(handle);
  closeSync(handle);
}

export const act = defineTool<{ log: string }>({
  name: 'act',
  description: 'does something once',
  parameters: log,
  effect: 'effectful',
  run: async ({ log: file }, { callKey }) => {
    // Room for a crash on either side of the effect.
    await after(15);
    writeLine(file, callKey);
    await after(15);
    return 'acted';
  },
});

export const slow = defineTool<{ rounds: number }>({
  name: 'slow',
  description: 'computes for a while',
  parameters: {
    type: 'object',
    properties: { rounds: { type: 'integer' } },
    required: ['rounds'],
    additionalProperties: false,
  },
  effect: 'read',
  cpu: true,
  run: ({ rounds }) => {
    let sum = 0;
    for (let round = 0; round < rounds; round += 1) sum = (sum + round * round) % 1_000_003;
    return `sum ${sum}`;
  },
});
