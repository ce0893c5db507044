import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { type Gate, gate, type ReplyCall } from '../support/model-server.ts';
import {
  calls,
  delegate,
  delegation,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let shut: Gate = gate();
let atOnce = 0;
let atOnceMost = 0;

const meets = defineTool<{ n: number }>({
  name: 'meets',
  description: 'waits for the test',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  effect: 'read',
  run: async () => {
    atOnce += 1;
    atOnceMost = Math.max(atOnceMost, atOnce);
    if (atOnce === 3) shut.open();
    await shut.opened;
    atOnce -= 1;
    return 'met';
  },
});

const counts = defineTool({
  name: 'counts',
  description: 'counts how many run at once',
  parameters: { type: 'object', properties: { n: { type: 'integer' } } },
  effect: 'read',
  run: async () => {
    atOnce += 1;
    atOnceMost = Math.max(atOnceMost, atOnce);
    await Promise.resolve();
    atOnce -= 1;
    return `${atOnceMost}`;
  },
});

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: {},
      brief: { max_turns: 3 },
      plain: { runtime_profile: 'plain' },
      orderly: { runtime_profile: 'orderly' },
    },
    blocks: {
      runtime_profiles: { plain: { agentic: false }, orderly: { parallel_tools: false } },
      runtime: { max_runs_per_root: 10 },
    },
    troupe: { threads: 1, tools: [STAGE_TOOLS], hostTools: [meets, counts] },
  });
});

afterAll(() => stage.close());

/** One answer with these calls: what the model read, and what was journaled. */
async function turn(agent: string, ...made: readonly ReplyCall[]) {
  let read: readonly string[] = [];
  stage.play({
    worker: 'worked',
    [agent]: ({ turn: n, results }) => {
      if (n === 1) return calls(...made);
      read = results;
      return 'done';
    },
  });
  const told = await stage.run(agent);
  expect(told.outcome).toMatchObject({ status: 'completed', answer: 'done' });
  return { ...told, read };
}

describe('a turn', () => {
  it('R3, R4: asks, answers, starts delegations before the other calls, collects, and ends with an answer without calls', async () => {
    const { events, run } = await turn(
      'lead',
      { name: 'say', args: { text: 'a' } },
      delegation('worker', 'part'),
    );
    const own = ofRun(events, run.id);
    const types = typesOf(events, run.id);
    expect(types.slice(0, 4)).toEqual([
      'run.started',
      'turn.started',
      'model.started',
      'model.completed',
    ]);
    expect(types.slice(-5)).toEqual([
      'turn.started',
      'model.started',
      'model.completed',
      'turn.completed',
      'run.completed',
    ]);
    const launched = own.findIndex((event) => event.type === 'delegation.started');
    const ran = own.findIndex(
      ({ type, data }) => type === 'tool.started' && data['name'] === 'say',
    );
    expect(launched).toBeGreaterThan(-1);
    expect(launched).toBeLessThan(ran);
  });

  it('R3: calls of one answer run at once', async () => {
    shut = gate();
    atOnceMost = 0;
    const made = [1, 2, 3].map((n) => ({ name: 'meets', args: { n } }));
    expect((await turn('lead', ...made)).read).toEqual(['met', 'met', 'met']);
    expect(atOnceMost).toBe(3);
  });

  it('R3: with parallel_tools off, calls run one after the other, in order', async () => {
    atOnceMost = 0;
    const made = [1, 2, 3].map((n) => ({ name: 'counts', args: { n } }));
    const { events } = await turn('orderly', ...made);
    expect(atOnceMost).toBe(1);
    expect(
      ofType(events, 'tool.started', 'tool.completed').map(
        ({ type, frame_id }) => `${type} ${frame_id}`,
      ),
    ).toEqual(
      [1, 2, 3].flatMap((n) => [
        `tool.started turn-1/call-${n}`,
        `tool.completed turn-1/call-${n}`,
      ]),
    );
  });

  it('R5: unknown tools, malformed and wrong arguments are results with what is wrong and where', async () => {
    const { read } = await turn(
      'lead',
      { name: 'no_such_tool', args: {} },
      { name: 'say', args: '{"text": "a"' },
      { name: 'say', args: { text: 5 } },
      { name: 'say', args: { text: 'a', more: 1 } },
      { name: 'say', args: [1] },
      { name: 'say', args: { text: 'fine' } },
    );
    expect(read[0]).toMatch(/^Unknown tool: no_such_tool\. Available tools: .*say/);
    expect(read[1]).toMatch(/not valid JSON at line 1, column \d+/);
    expect(read[2]).toMatch(/text.*5.*string|text.*string.*5/);
    expect(read[3]).toContain('more');
    expect(read[4]).toContain('one JSON object');
    expect(read[5]).toBe('fine');
  });

  it('R7: what a model was told is never told differently later', async () => {
    stage.play({
      lead: ({ turn: n }) =>
        n < 6 ? calls({ name: 'say', args: { text: `round ${n}` } }) : 'done',
    });
    await stage.run('lead');
    const requests = stage.requestsOf('lead').slice(-6);
    for (const [at, request] of requests.entries()) {
      const before = requests[at - 1]?.messages ?? [];
      expect(request.messages.slice(0, before.length)).toEqual(before);
      expect(request.tools).toEqual(requests[0]?.tools);
    }
  });

  it('R8: agentic = false is one request without tools, whose calls are nothing', async () => {
    stage.play({ plain: { text: 'answer', calls: [{ name: 'say', args: { text: 'a' } }] } });
    const before = stage.requestsOf('plain').length;
    const { outcome, events } = await stage.run('plain');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'answer', turns: 1 });
    expect(
      stage
        .requestsOf('plain')
        .slice(before)
        .map(({ tools }) => tools),
    ).toEqual([[]]);
    expect(ofType(events, 'tool.started')).toEqual([]);
  });

  it('R2: a model that never stops calling tools ends incomplete at its turn limit, with its last words', async () => {
    stage.play({
      brief: { text: 'not yet', calls: [{ name: 'say', args: { text: 'again' } }] },
    });
    const { outcome } = await stage.run('brief');
    expect(outcome).toMatchObject({
      status: 'incomplete',
      reason: 'turn_limit',
      turns: 3,
      answer: 'not yet',
    });
    const { outcome: once } = await stage.run('brief', 'go', { maxTurns: 1 });
    expect(once).toMatchObject({ status: 'incomplete', turns: 1 });
  });
});

describe('results of a turn', () => {
  it('R12: eight results of 200 kB are cut to a fair share each, and the whole of each is in a file', async () => {
    const made = Array.from({ length: 8 }, (_, at) => ({
      name: 'long',
      args: { count: 200_000 + at },
    }));
    const { read, events } = await turn('lead', ...made);
    expect(read).toHaveLength(8);
    expect(read.join('').length).toBeLessThanOrEqual(64_000);
    const files = read.map((text, at) => {
      const [, missing, whole, file] =
        /^x+\n\[\.\.\. (\d+) of (\d+) characters left out here; the full text is in (\S+) \.\.\.\]\nx+$/.exec(
          text,
        ) ?? [];
      expect(Number(whole)).toBe(200_000 + at);
      const kept = text.replace(/\n\[.*\]\n/, '').length;
      expect(kept + Number(missing)).toBe(200_000 + at);
      expect(text.length).toBeGreaterThan(7000);
      return file ?? '';
    });
    expect(files.map((file) => readFileSync(file, 'utf8').length)).toEqual(
      made.map(({ args }) => args.count),
    );
    const completed = ofType(events, 'tool.completed');
    expect(completed.map(({ data }) => data['chars']).sort()).toEqual(
      made.map((m) => m.args.count),
    );
  });

  it('R12: short results leave their share to a long one', async () => {
    const { read } = await turn(
      'lead',
      { name: 'long', args: { count: 100_000 } },
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => ({ name: 'say', args: { text: `short ${n}` } })),
    );
    expect(read[0]?.length).toBeGreaterThan(15_000);
    expect(read[0]?.length).toBeLessThanOrEqual(16_000);
    expect(read[0]).toContain(' of 100000 characters left out here');
  });

  it('R12: calls with one id for all get a result each, in call order', async () => {
    const { read, events } = await turn(
      'lead',
      { name: 'say', args: { text: 'one' }, id: 'same' },
      { name: 'say', args: { text: 'two' }, id: 'same' },
      { name: 'no_such_tool', args: {}, id: 'same' },
      { ...delegation('worker', 'part'), id: 'same' },
    );
    expect(read[0]).toBe('one');
    expect(read[1]).toBe('two');
    expect(read[2]).toContain('Unknown tool');
    expect(read[3]).toContain('worked');
    const ids = ofType(events, 'tool.completed', 'tool.failed').map(({ data }) => data['call_id']);
    expect(new Set(ids).size).toBe(4);
    const sent = stage.requestsOf('lead').at(-1)?.messages ?? [];
    const asked = sent.flatMap((message) => (message.tool_calls ?? []).map(({ id }) => id));
    const answered = sent.flatMap((message) => message.tool_call_id ?? []);
    expect(answered).toEqual(asked);
  });

  it('R12, R5: a failed tool gives its error and its partial output, whatever its siblings did', async () => {
    const { read, outcome } = await turn(
      'lead',
      { name: 'breaks_off' },
      { name: 'say', args: { text: 'sibling' } },
    );
    expect(read[0]).toBe('breaks_off failed: no second half\n\nthe first half');
    expect(read[1]).toBe('sibling');
    expect(outcome.effect).toBe('uncertain');
  });
});

describe('one tree', () => {
  it('R9: every descendant has the principal, the policy version and the frozen file policy of its root', async () => {
    const forbidden = join(stage.dir, 'secret');
    mkdirSync(forbidden, { recursive: true });
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('orderly', 'b')), 'done'],
      worker: ({ prompt, turn: n }) =>
        prompt === 'sub' || n > 1
          ? 'x'
          : calls({ name: 'spawn_subagent', args: { prompt: 'sub' } }, delegation('brief', 'c')),
      orderly: 'x',
      brief: ({ turn: n, results }) =>
        n === 1 ? calls({ name: 'list_dir', args: { path: 'secret' } }) : (results[0] ?? ''),
    });
    const { events } = await stage.run('lead', 'go', {
      principal: 'ada',
      orgPosition: 'research',
      files: { forbidden: [forbidden] },
    });
    const started = ofType(events, 'run.started');
    expect(started).toHaveLength(5);
    const [first] = started.map(({ data }) => data['security'] as JsonObject);
    expect(first).toMatchObject({
      principal: 'ada',
      org_position: 'research',
      policy_version: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const { data } of started) expect(data['security']).toEqual(first);
    const brief = started.find(({ data }) => data['agent_id'] === 'brief');
    const [refused] = ofType(ofRun(events, brief?.run_id ?? ''), 'tool.failed');
    expect(refused?.data, 'the deepest run meets the policy of the initiator').toMatchObject({
      name: 'list_dir',
      error_type: 'forbidden_path',
    });
    const other = await stage.run('plain');
    expect(ofType(other.events, 'run.started')[0]?.data['security']).not.toEqual(first);
  });

  it('R11: a tree launches max_runs_per_root runs and no more, and the refusal names the limit', async () => {
    const refusals: string[] = [];
    stage.play({
      lead: ({ turn: n, results }) => {
        refusals.push(...results.filter((text) => text.includes('Limit of runs')));
        if (n > 4) return 'done';
        return calls(...[1, 2, 3].map((k) => delegation('worker', `${n}.${k}`)));
      },
      worker: ({ turn: n, prompt, results }) => {
        refusals.push(...results.filter((text) => text.includes('Limit of runs')));
        if (n > 1) return 'x';
        return calls(...[1, 2, 3].map((k) => delegation('orderly', `${prompt}.${k}`)));
      },
      orderly: 'x',
    });
    const { run, events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(ofType(events, 'run.started')).toHaveLength(11);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals[0]).toBe(
      `Limit of runs reached: ${run.id} has launched 10 of 10 runs ([runtime] max_runs_per_root). Finish the work without further delegation.`,
    );
    for (const { data } of ofType(events, 'tool.failed')) {
      expect(data).toMatchObject({ error_type: 'runs_limit', effect: 'none' });
    }
  });

  it('R11, R6: a shared delegation counts as the one run that it launches', async () => {
    stage.play({
      lead: ({ turn: n }) => {
        if (n > 6) return 'done';
        return calls(...[1, 2, 3].map(() => delegation('orderly', `${n}`)));
      },
      orderly: 'x',
    });
    const { events } = await stage.run('lead');
    expect(ofType(events, 'delegation.started')).toHaveLength(6);
    expect(ofType(events, 'tool.failed')).toEqual([]);
  });

  it('R13: every run has one terminal event, and it is its last', async () => {
    stage.play({ lead: [delegate('worker', 'a'), 'done'], worker: { status: 400 } });
    const { run, events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(typesOf(events, run.id).at(-1)).toBe('run.completed');
    expect(typesOf(events, `${run.id}/delegate/01`).slice(-2)).toEqual([
      'model.failed',
      'run.failed',
    ]);
  });
});
