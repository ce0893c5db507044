import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskRecord } from '../../src/runtime/core/task-record.ts';
import { writeTaskFile } from '../../src/task-file.ts';
import { snapshotOf } from '../support/hostile-box.ts';

const TASK_ID = '11111111-1111-4111-8111-111111111111';

let box: string;
let results: string;
let file: string;
let canary: string;

beforeEach(() => {
  box = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-results-')));
  results = join(box, 'ws/delegate_results');
  file = join(results, `${TASK_ID}.json`);
  canary = join(box, 'outside');
  mkdirSync(results, { recursive: true });
  mkdirSync(canary);
  writeFileSync(join(canary, 'c.json'), '{"status":"running"}');
});

afterEach(() => rmSync(box, { recursive: true, force: true }));

const RECORD = {
  task_id: TASK_ID,
  agent: 'worker',
  status: 'completed',
  output: 'the real answer',
  error: null,
} as unknown as TaskRecord;

async function written(how: 'make' | 'amend' = 'amend'): Promise<string | null> {
  const fault = await writeTaskFile(results, RECORD, how);
  return fault === null ? null : fault.replaceAll(box, '<box>');
}

describe('D9: a result file that was swapped for something else', () => {
  const name = `"<box>/ws/delegate_results/${TASK_ID}.json"`;

  it.each([
    [
      'a symlink to a file outside',
      () => symlinkSync(join(canary, 'c.json'), file),
      `${name} is a symlink`,
    ],
    [
      'a symlink to nothing',
      () => symlinkSync(join(canary, 'new.json'), file),
      `${name} is a symlink`,
    ],
    ['a symlink to a device', () => symlinkSync('/dev/zero', file), `${name} is a symlink`],
    [
      'a symlink to /proc/self/mem',
      () => symlinkSync('/proc/self/mem', file),
      `${name} is a symlink`,
    ],
    ['a symlink to itself', () => symlinkSync(file, file), `${name} is a symlink`],
    [
      'a named pipe',
      () => execFileSync('mkfifo', [file]),
      `${name} is a named pipe, not a regular file`,
    ],
    ['a directory', () => mkdirSync(file), `${name} is a directory`],
    [
      'a hard link of a file outside',
      () => linkSync(join(canary, 'c.json'), file),
      `${name} has 2 names (hard links), and what the others are cannot be told; write a new file instead`,
    ],
  ])('%s is not written, and neither is what it leads to', async (_name, swap, words) => {
    swap();
    const before = [snapshotOf(canary), lstatSync(file).ino];
    expect(await written()).toBe(words);
    expect(await written('make')).toBe(words);
    expect([snapshotOf(canary), lstatSync(file).ino]).toEqual(before);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{{{'],
    ['JSON of another shape', '[1, 2]'],
    ['null', 'null'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0, 1])],
    ['a status that is no text', '{"status":{"__proto__":1}}'],
    ['very deep JSON', '['.repeat(100_000)],
  ])('garbage (%s) is replaced by the real result', async (_name, garbage) => {
    writeFileSync(file, garbage);
    expect(await written()).toBeNull();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ output: 'the real answer' });
  });

  it('a file that was deleted is not brought back by its end, and a last state is kept', async () => {
    expect(await written()).toBeNull();
    expect(() => lstatSync(file)).toThrow();
    writeFileSync(file, '{"status":"cancelled"}');
    expect(await written()).toBeNull();
    expect(readFileSync(file, 'utf8')).toBe('{"status":"cancelled"}');
  });
});

describe('D9: the folder of the results that was swapped for something else', () => {
  it.each([
    [
      'a symlink outside',
      () => symlinkSync(canary, results),
      '"<box>/ws/delegate_results/11111111-1111-4111-8111-111111111111.json" is not a directory',
    ],
    [
      'a symlink to nothing',
      () => symlinkSync(join(canary, 'none'), results),
      '"<box>/ws/delegate_results/11111111-1111-4111-8111-111111111111.json" is not a directory',
    ],
    [
      'a file',
      () => writeFileSync(results, ''),
      '"<box>/ws/delegate_results/11111111-1111-4111-8111-111111111111.json" is not a directory',
    ],
    [
      'a named pipe',
      () => execFileSync('mkfifo', [results]),
      '"<box>/ws/delegate_results/11111111-1111-4111-8111-111111111111.json" is not a directory',
    ],
  ])('%s takes no result', async (_name, swap, words) => {
    rmSync(results, { recursive: true });
    swap();
    const before = snapshotOf(canary);
    expect(await written('make')).toBe(words);
    expect(snapshotOf(canary)).toEqual(before);
  });

  it('a workspace that became a symlink outside takes none either', async () => {
    rmSync(join(box, 'ws'), { recursive: true });
    symlinkSync(canary, join(box, 'ws'));
    const before = snapshotOf(canary);
    expect(await written('make')).not.toBeNull();
    expect(snapshotOf(canary)).toEqual(before);
  });
});
