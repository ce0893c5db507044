import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calls,
  delegate,
  delegation,
  MODEL_LABEL,
  ofRun,
  ofType,
  openStage,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: { name: 'The Worker' },
      other: {},
      twice: { runtime_profile: 'run' },
    },
    blocks: { runtime_profiles: { run: { identical_delegations: 'run' } } },
    runtime: { max_turns: 50 },
    troupe: { threads: 1 },
  });
});

afterAll(() => stage.close());

/** What the lead reads of one call. */
async function resultOf(args: object | string, from = 'lead'): Promise<string> {
  let seen = '';
  stage.play({
    [from]: ({ turn, results }) => {
      if (turn === 1) return calls({ name: 'delegate', args });
      seen = results[0] ?? '';
      return 'done';
    },
    worker: 'worked',
    other: 'other work',
  });
  const { events } = await stage.run(from);
  const refused = ofType(events, 'tool.failed');
  if (refused.length > 0) {
    expect(ofType(events, 'delegation.started')).toEqual([]);
    expect(refused[0]?.data).toMatchObject({ effect: 'none' });
  }
  return seen;
}

describe('one delegation', () => {
  it("D1, D5: the child's answer comes back in the same turn, headed by agent, provider type and model", async () => {
    expect(await resultOf({ agent_id: 'worker', prompt: 'part' })).toBe(
      `[Agent 'worker' (${MODEL_LABEL})]\nworked`,
    );
    expect(stage.requestsOf('worker').at(-1)?.prompt).toBe('part');
  });

  it('D1: agent is another name for agent_id', async () => {
    expect(await resultOf({ agent: 'worker', prompt: 'part' })).toContain('worked');
    expect(await resultOf({ agent: 'worker', agent_id: 'other', prompt: 'part' })).toContain(
      'name different agents',
    );
  });

  it('D1: context goes before the task', async () => {
    await resultOf({ agent_id: 'worker', prompt: 'part', context: 'known' });
    expect(stage.requestsOf('worker').at(-1)?.prompt).toBe('[Context]\nknown\n\n[Task]\npart');
  });

  it('D5: the structured result beside the text holds status, child run, turns, effect and usage', async () => {
    stage.play({ lead: [delegate('worker', 'part'), 'done'], worker: 'worked' });
    const { run, events } = await stage.run('lead');
    const [completed] = ofType(ofRun(events, run.id), 'tool.completed');
    expect(completed?.data['structured']).toEqual({
      status: 'completed',
      child_run_id: `${run.id}/delegate/01`,
      turns: 1,
      effect: 'none',
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 },
      cost_cents: null,
    });
  });

  it('D2: max_turns is moved into 24 to 100, and absent means the budget of the target', async () => {
    const budget = async (more: object) => {
      stage.play({ lead: [delegate('worker', 'part', more), 'done'], worker: 'worked' });
      const { run, events } = await stage.run('lead');
      return ofRun(events, `${run.id}/delegate/01`)[0]?.data['max_turns'];
    };
    expect(await budget({ max_turns: 1 })).toBe(24);
    expect(await budget({ max_turns: 33 })).toBe(33);
    expect(await budget({ max_turns: 5000 })).toBe(100);
    expect(await budget({})).toBe(50);
  });

  it('R1: ids of children count on over turns and kinds', async () => {
    stage.play({
      lead: ({ turn, prompt }) => {
        if (prompt === 'sub') return 'sub done';
        if (turn === 1) return calls(delegation('worker', 'a'), delegation('other', 'b'));
        if (turn === 2) return calls({ name: 'spawn_subagent', args: { prompt: 'sub' } });
        return turn === 3 ? delegate('worker', 'c') : 'done';
      },
      worker: 'worked',
      other: 'other work',
    });
    const { run, events, outcome } = await stage.run('lead');
    expect(run.id).toMatch(/^run_[A-Za-z0-9_-]+$/);
    const started = ofType(events, 'delegation.started');
    expect(started.map(({ data }) => data['child_run_id'])).toEqual([
      `${run.id}/delegate/01`,
      `${run.id}/delegate/02`,
      `${run.id}/subagent/03`,
      `${run.id}/delegate/04`,
    ]);
    expect(outcome.status).toBe('completed');
  });
});

describe('arguments of delegate', () => {
  it.each([
    [{ agent_id: 'worker', prompt: '  ' }, "'prompt' parameter must not be empty"],
    [{ agent_id: 'worker' }, "Missing 'prompt' parameter"],
    [{ prompt: 'part' }, "Missing 'agent_id' parameter"],
    [{ agent_id: 7, prompt: 'part' }, "Missing 'agent_id' parameter"],
    [{ agent_id: 'worker', prompt: ['part'] }, "Missing 'prompt' parameter"],
    [
      { agent_id: 'worker', prompt: 'part', max_turns: '9' },
      "'max_turns' parameter must be a whole number",
    ],
    [{ agent_id: 'worker', prompt: 'part', speed: 1 }, "Unknown parameters for delegate: 'speed'"],
    [
      { agent_id: 'worker', prompt: 'part', action: 'fire' },
      "Unknown action 'fire'. Use delegate/check_result/list_results/cancel_task/await_sessions.",
    ],
  ])('D13, G6: %j is refused, and no child exists', async (args, words) => {
    expect(await resultOf(args)).toBe(words);
  });

  it('R5: malformed JSON is said back with the place', async () => {
    expect(await resultOf('{"agent_id": "worker", "prompt": }')).toMatch(
      /not valid JSON at line 1, column \d+/,
    );
    expect(await resultOf('["worker"]')).toContain('must be a JSON object');
  });
});

describe('identical delegations', () => {
  it('R6: share starts one child and gives its result to every equal call', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            { name: 'delegate', args: '{"agent_id":"worker","prompt":"same"}' },
            { name: 'delegate', args: '{ "prompt": "same", "agent_id": "worker" }' },
            delegation('worker', 'different'),
          );
        }
        read = results;
        return 'done';
      },
      worker: ({ prompt }) => `did ${prompt}`,
    });
    const { events } = await stage.run('lead');
    expect(ofType(events, 'delegation.started')).toHaveLength(2);
    const header = `[Agent 'worker' (${MODEL_LABEL})]\n`;
    expect(read).toEqual([`${header}did same`, `${header}did same`, `${header}did different`]);
  });

  it('R6: run starts a child for every call', async () => {
    stage.play({
      twice: [calls(delegation('worker', 'same'), delegation('worker', 'same')), 'done'],
      worker: 'worked',
    });
    const { events } = await stage.run('twice');
    expect(ofType(events, 'delegation.started')).toHaveLength(2);
  });

  it('R6: an equal call of another tool is not executed again and says so, and every identical spawn_subagent runs', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, prompt, results }) => {
        if (prompt === 'sub') return 'sub done';
        const spawn = { name: 'spawn_subagent', args: { prompt: 'sub' } };
        const list = { name: 'agents' };
        if (turn === 1) return calls(list, list, spawn, spawn);
        read = results;
        return 'done';
      },
    });
    const { events } = await stage.run('lead');
    expect(read[1]).toContain("Skipped duplicate tool call 'agents'");
    expect(read.slice(2)).toEqual(['sub done', 'sub done']);
    expect(ofType(events, 'delegation.started')).toHaveLength(2);
  });
});
