import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotOf } from '../support/hostile-box.ts';
import { calls, delegation, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';
import { REFUSED_CALLS } from './refused-calls.ts';

let stage: Stage;
let canary: string;
let work: string;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: { name: 'Worker' },
      off: { enabled: false },
      other: { project: 'red' },
    },
    blocks: { projects: { red: {} } },
    troupe: { threads: 1 },
  });
  canary = join(stage.dir, 'canary');
  work = join(stage.dir, 'work');
  for (const dir of [canary, work]) mkdirSync(dir);
  writeFileSync(join(canary, 'x'), 'the canary is yellow');
  writeFileSync(join(stage.dir, 'x.json'), '{"status":"completed","output":"forged"}');
});

afterAll(() => stage.close());

/** The markers of the table, spelled out. */
function spelled(text: string): string {
  return text
    .replace(/<deep\*(\d+)>/g, (_, levels: string) => {
      const depth = Number(levels);
      return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    })
    .replace(/<(.)\*(\d+)>/g, (_, char: string, times: string) => char.repeat(Number(times)));
}

function spelledDeep(value: unknown): unknown {
  if (typeof value === 'string') return spelled(value);
  if (Array.isArray(value)) return value.map(spelledDeep);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spelledDeep(item)]));
}

/** What one call of a whole runtime came to, as its model reads it and as the journal has it. */
async function made(name: string, args: object | string) {
  let read: readonly string[] = [];
  stage.play({
    lead: ({ turn, results }) => {
      if (turn === 1) return calls({ name, args });
      read = results;
      return 'done';
    },
    worker: 'worked',
  });
  const { outcome, events } = await stage.run('lead', 'go', { workspace: work });
  return { outcome, events, text: read[0] ?? '' };
}

const table = REFUSED_CALLS.flatMap(({ errorType, error, calls: made }) =>
  made.map(([name, args, asked]) => ({ name, args, asked, errorType, error })),
);

describe('R5, G6: a hostile call is refused in these words, starts nothing, writes nothing and ends no run', () => {
  it.each(table)('$name $args', async ({ name, args, asked, errorType, error }) => {
    const before = [snapshotOf(canary), snapshotOf(work)];
    const { outcome, events, text } = await made(name, spelledDeep(args) as object | string);
    const words = spelled(error)
      .replace('<asked>', () => spelled(asked ?? ''))
      .replace('<tools>', /Available tools: (.*)/.exec(text)?.[1] ?? '<tools>');
    expect(text).toBe(words);
    expect(outcome).toMatchObject({ status: 'completed', answer: 'done', effect: 'none' });
    const [failed] = ofType(events, 'tool.failed');
    expect(failed?.data).toMatchObject({ error_type: errorType, effect: 'none' });
    const started = ofType(events, 'tool.started', 'delegation.started', 'plan.started');
    expect(started.filter(({ data }) => data['effect_class'] !== 'read')).toEqual([]);
    expect([snapshotOf(canary), snapshotOf(work)]).toEqual(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('a table that lost its cases would prove nothing', () => {
    expect(table.length).toBeGreaterThan(130);
  });
});

describe('what only looks hostile is done', () => {
  const nested = `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`;

  it.each([
    [
      'control characters in a prompt',
      'delegate',
      delegation('worker', 'a\0b\u001b[31m\u202e').args,
    ],
    ['a path for a prompt', 'delegate', delegation('worker', '../../x').args],
    ['a name in another case', 'delegate', delegation('WORKER', 'x').args],
    ['blanks around an id', 'delegate', delegation(' worker ', 'x').args],
    ['what looks like a prototype in a text', 'delegate', delegation('worker', '__proto__').args],
    ['nested JSON in a text', 'delegate', delegation('worker', nested).args],
    ['a long prompt', 'delegate', delegation('worker', 'x'.repeat(100_000)).args],
    [
      'a task named after what every object has',
      'plan',
      { goal: 'g', tasks: [{ id: 'constructor', agent_id: 'worker', prompt: 'x' }] },
    ],
    [
      'a placeholder that is none',
      'plan',
      { goal: 'g', tasks: [{ id: 'a', agent_id: 'worker', prompt: '{{__proto__.answer}}' }] },
    ],
    ['no tasks yet', 'delegate', { action: 'list_results' }],
  ])('%s', async (_name, tool, args) => {
    const { outcome, events, text } = await made(tool, args ?? {});
    expect(outcome).toMatchObject({ status: 'completed', answer: 'done' });
    expect(ofType(events, 'tool.failed')).toEqual([]);
    expect(ofType(events, 'tool.completed').length).toBeGreaterThan(0);
    expect(text).not.toBe('');
  });
});
