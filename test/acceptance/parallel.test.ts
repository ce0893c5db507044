import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventId } from '../../src/runtime/core/event.ts';
import { gate, type Reply } from '../support/model-server.ts';
import {
  calls,
  delegation,
  MODEL_LABEL,
  ofRun,
  ofType,
  openStage,
  type Part,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      narrow: { runtime_profile: 'narrow' },
      asking: { risk_profile: 'asking', delegates: ['a', 'b'] },
      a: {},
      b: {},
      c: {},
    },
    blocks: {
      runtime_profiles: { narrow: { max_delegation_width: 1 } },
      risk_profiles: {
        asking: {
          autonomy: 'full',
          delegation_policy: { mode: 'allow' },
          always_ask: ['delegate'],
        },
      },
    },
    troupe: {
      threads: 1,
      onApproval: ({ tool }: { readonly tool: string }) => {
        asked.push(tool);
        return true;
      },
    },
  });
});

const asked: string[] = [];

afterAll(() => stage.close());

const failing: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };
const header = (agent: string) => `[Agent '${agent}' (${MODEL_LABEL})]\n`;

/** One agent makes these calls and ends; what it reads of the first, and what is journaled of it all. */
async function told(args: object, parts: Readonly<Record<string, Part>>, from = 'lead') {
  let read = '';
  stage.play({
    ...parts,
    [from]: ({ turn, results }) => {
      if (turn === 1) return calls({ name: 'delegate', args });
      read = results[0] ?? '';
      return 'done';
    },
  });
  const { run, events, outcome } = await stage.run(from);
  expect(outcome.status).toBe('completed');
  const own = ofRun(events, run.id);
  const [result] = ofType(own, 'tool.completed', 'tool.failed');
  return { read, result, own, events, run, outcome };
}

describe('a parallel delegation', () => {
  it('D8: gives every entry the same task, a child each, and their answers in the order of the entries', async () => {
    const { read, own, run, result } = await told(
      { parallel: ['b', 'a', 'b'], prompt: 'look', context: 'known' },
      { a: ({ prompt }) => `a saw ${prompt.length}`, b: 'b saw it' },
    );
    const prompt = '[Context]\nknown\n\n[Task]\nlook';
    expect(read).toBe(
      `[Parallel delegation: 3 agents]\n\n` +
        `--- b (success=true) ---\n${header('b')}b saw it\n\n` +
        `--- a (success=true) ---\n${header('a')}a saw ${prompt.length}\n\n` +
        `--- b (success=true) ---\n${header('b')}b saw it`,
    );
    expect(ofType(own, 'delegation.started').map(({ data }) => data['child_run_id'])).toEqual(
      [1, 2, 3].map((ordinal) => `${run.id}/delegate/0${ordinal}`),
    );
    expect(stage.requestsOf('a').at(-1)?.prompt).toBe(prompt);
    expect(result?.data['structured']).toMatchObject({
      status: 'completed',
      effect: 'none',
      children: [
        { agent_id: 'b', status: 'completed', child_run_id: `${run.id}/delegate/01`, turns: 1 },
        { agent_id: 'a', status: 'completed' },
        { agent_id: 'b', status: 'completed', child_run_id: `${run.id}/delegate/03` },
      ],
    });
  });

  it('D8: one that fails takes nothing from the others, and the model reads all of it', async () => {
    const { read, result } = await told(
      { parallel: ['a', 'b'], prompt: 'look' },
      { a: failing, b: 'b saw it' },
    );
    expect(read).toMatch(
      /^One or more parallel agents failed\n\n\[Parallel delegation: 2 agents\]\n\n/,
    );
    expect(read).toContain("--- a (success=false) ---\nError: Agent 'a' failed: ");
    expect(read).toContain(`--- b (success=true) ---\n${header('b')}b saw it`);
    expect(result).toMatchObject({
      type: 'tool.failed',
      data: {
        error_type: 'parallel_failed',
        effect: 'none',
        structured: { status: 'failed', children: [{ status: 'failed' }, { status: 'completed' }] },
      },
    });
  });

  it.each([
    [['a', 'ghost'], "Unknown agent 'ghost'. Available agents: "],
    [['a', 'lead'], 'delegate target "lead" is not reachable from "lead"'],
  ])('D8, G6: %j refuses the whole call before any start', async (parallel, words) => {
    const { read, own } = await told({ parallel, prompt: 'look' }, { a: 'never' });
    expect(read).toContain(words);
    expect(ofType(own, 'delegation.started', 'tool.started')).toEqual([]);
  });

  it('D3, D8: its children share the width with all others, in the order of the calls', async () => {
    stage.play({
      narrow: ({ turn }) =>
        turn === 1
          ? calls(
              { name: 'delegate', args: { parallel: ['a', 'b'], prompt: 'x' } },
              delegation('c', 'y'),
            )
          : 'done',
      a: 'a',
      b: 'b',
      c: 'c',
    });
    const { run, events } = await stage.run('narrow');
    const order = ofType(ofRun(events, run.id), 'delegation.started', 'delegation.completed');
    expect(order.map(({ type, data }) => `${type.slice(11)} ${data['agent_id']}`)).toEqual([
      'started a',
      'completed a',
      'started b',
      'completed b',
      'started c',
      'completed c',
    ]);
  });

  it('D8, R12: long answers share the room of the result fairly, and each is kept whole', async () => {
    const long = (name: string) => `${name} begins ${'x'.repeat(40_000)} and ends`;
    const { read } = await told(
      { parallel: ['a', 'b', 'c'], prompt: 'x' },
      { a: long('a'), b: 'short', c: long('c') },
    );
    expect(read.length).toBeLessThanOrEqual(16_000);
    expect(read).toContain(`--- b (success=true) ---\n${header('b')}short`);
    const files = [...read.matchAll(/the full text is in (\S+) \.\.\.\]/g)].map(([, file]) => file);
    expect(await Promise.all(files.map((file) => readFile(file ?? '', 'utf8')))).toEqual([
      long('a'),
      long('c'),
    ]);
  });

  it('D7: is approved once for all of its children', async () => {
    asked.length = 0;
    const { own } = await told({ parallel: ['a', 'b'], prompt: 'x' }, { a: 'a', b: 'b' }, 'asking');
    expect(asked).toEqual(['delegate']);
    expect(ofType(own, 'delegation.started')).toHaveLength(2);
  });

  it('N2: a cancel reaches every child, and the call has its one result', async () => {
    const shut = gate();
    stage.play({
      lead: calls({ name: 'delegate', args: { parallel: ['a', 'b'], prompt: 'x' } }),
      a: 'a is done',
      b: async () => {
        await shut.opened;
        return 'too late';
      },
    });
    const run = await stage.start('lead');
    await stage.sees(({ type, run_id }) => type === 'run.completed' && run_id.startsWith(run.id));
    await stage.sees(({ type, run_id }) => type === 'model.started' && run_id.endsWith('/02'));
    await run.cancel('enough');
    const { events, outcome } = await stage.end(run);
    shut.open();
    expect(outcome.status).toBe('cancelled');
    const results = ofType(ofRun(events, run.id), 'tool.completed', 'tool.failed');
    expect(results).toHaveLength(1);
    expect(results[0]?.data['text']).toContain('--- a (success=true) ---');
    expect(results[0]?.data['text']).toContain("Error: Agent 'b' was cancelled: ");
  });

  it('J1: its result follows from the last of its children to end', async () => {
    const { own, run, result } = await told(
      { parallel: ['a', 'b'], prompt: 'x' },
      { a: 'a', b: 'b' },
    );
    const last = ofType(own, 'delegation.completed').at(-1);
    expect(last?.event_id.startsWith(eventId(run.id, 1).slice(0, -1))).toBe(true);
    expect(result?.parent_event_id).toBe(last?.event_id);
  });
});
