import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calls,
  delegate,
  type Moment,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {},
      worker: {},
      narrow: { risk_profile: 'narrow' },
      quiet: { capabilities: { delegation: false } },
      brief: { max_turns: 2 },
    },
    blocks: { risk_profiles: { narrow: { autonomy: 'full', allowed_tools: ['say'] } } },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const spawn = (prompt: unknown, more: object = {}) =>
  calls({ name: 'spawn_subagent', args: { prompt, ...more } });

/** `agent` spawns once: what it read, and what was journaled. `sub` is what its sub-agent says. */
async function spawned(
  agent: string,
  sub: (moment: Moment) => ReturnType<typeof calls> | string | { status: number },
) {
  let read = '';
  stage.play({
    [agent]: (moment) => {
      if (moment.prompt === 'sub') return sub(moment);
      if (moment.turn === 1) return spawn('sub');
      read = moment.results[0] ?? '';
      return 'done';
    },
  });
  const told = await stage.run(agent);
  return { ...told, read, child: `${told.run.id}/subagent/01` };
}

describe('spawn_subagent', () => {
  it("S1, S3: the same agent answers a sub-task out of its parent's sight, and exactly that answer comes back", async () => {
    const { read, events, run, child } = await spawned('lead', () => '  as it is\n');
    expect(read).toBe('  as it is\n');
    const [parent] = ofRun(events, run.id);
    const [started] = ofRun(events, child);
    for (const key of ['agent_id', 'system_prompt', 'model', 'risk_profile', 'scope', 'security']) {
      expect(started?.data[key], key).toEqual(parent?.data[key]);
    }
    expect(started?.data).toMatchObject({ origin: 'subagent', is_subagent: true, depth: 1 });
  });

  it("S7: the child's turns never enter its parent's history, and its session key is subagent-<uuid>", async () => {
    const { events, child } = await spawned('lead', ({ turn }) =>
      turn === 1 ? calls({ name: 'say', args: { text: 'secret middle' } }) : 'only this',
    );
    const last = stage.requestsOf('lead').at(-1);
    expect(last?.prompt).toBe('go');
    expect(JSON.stringify(last?.messages)).not.toContain('secret middle');
    expect(ofRun(events, child)[0]?.data['session_key']).toMatch(
      /^subagent-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('S3: an empty answer is "subagent completed without output"', async () => {
    expect((await spawned('lead', () => '  ')).read).toBe('subagent completed without output');
  });

  it('S3: a failure of the run is wrapped', async () => {
    const { read } = await spawned('lead', () => ({ status: 400 }));
    expect(read).toMatch(/^subagent run failed: openai-compatible\.local\/m answered 400/);
  });

  it('S3, R2: a sub-agent that ran out of turns has failed, and its last words are partial output', async () => {
    const { read } = await spawned('brief', () => ({
      ...calls({ name: 'say', args: { text: 'x' } }),
      text: 'got so far',
    }));
    expect(read).toBe('subagent run failed: incomplete: turn_limit\n\ngot so far');
  });

  it('S6, G2: a sub-agent has its parent’s tools but spawn_subagent, and no model_switch', async () => {
    const { events, run, child } = await spawned('lead', () => 'x');
    const parent = ofRun(events, run.id)[0]?.data['tools'] as string[];
    const own = ofRun(events, child)[0]?.data['tools'] as string[];
    expect(own).toEqual(parent.filter((name) => name !== 'spawn_subagent'));
    expect(own).not.toContain('model_switch');
    const offered = stage.server.requests.at(-2)?.tools;
    expect(offered).toEqual(own);
  });
});

describe('the guards of spawn_subagent', () => {
  async function refused(agent: string, args: object): Promise<string> {
    let read = '';
    stage.play({
      [agent]: ({ turn, results }) => {
        if (turn === 1) return calls({ name: 'spawn_subagent', args });
        read = results[0] ?? '';
        return 'done';
      },
    });
    const { events } = await stage.run(agent);
    expect(ofType(events, 'delegation.started')).toEqual([]);
    expect(ofType(events, 'tool.failed')[0]?.data).toMatchObject({ effect: 'none' });
    return read;
  }

  it.each([[{}], [{ prompt: ' ' }], [{ prompt: 3 }]])(
    'S2: without a prompt (%j) it is refused',
    async (args) => {
      expect(await refused('lead', args)).toBe("Missing or empty 'prompt' parameter");
    },
  );

  it('S2: a risk profile that does not list it refuses it', async () => {
    expect(await refused('narrow', { prompt: 'x' })).toBe(
      "spawn_subagent: refused — agent 'narrow' risk_profile does not list spawn_subagent in allowed_tools",
    );
    expect(stage.requestsOf('narrow').at(-1)?.tools).toEqual(['say']);
  });

  it('S2: unknown parameters are refused', async () => {
    expect(await refused('lead', { prompt: 'x', speed: 1 })).toBe(
      "Unknown parameters for spawn_subagent: 'speed'. It takes prompt, policy and allowed_agent_aliases.",
    );
  });

  it('S2: the prompt is missed before the tool gate, and that before what is wrong with a narrowing', async () => {
    expect(await refused('narrow', { policy: 3 })).toBe("Missing or empty 'prompt' parameter");
    expect(await refused('narrow', { prompt: 'x', policy: 3 })).toContain(
      'spawn_subagent: refused',
    );
    expect(await refused('lead', { prompt: 'x', policy: 3 })).toBe(
      "spawn_subagent: 'policy' must be an object",
    );
  });

  it('S2: a sub-agent is told that it is one before its tools and its narrowing are looked at', async () => {
    let inner: readonly string[] = [];
    await spawned('lead', ({ turn, results }) => {
      if (turn === 1) {
        return calls(
          { name: 'spawn_subagent', args: {} },
          { name: 'spawn_subagent', args: { prompt: 'x', policy: { autonomy: 'god' } } },
        );
      }
      inner = results;
      return 'x';
    });
    expect(inner).toEqual([
      "Missing or empty 'prompt' parameter",
      'spawn_subagent: a subagent may not spawn its own subagents (depth-1 cap)',
    ]);
  });

  it('S2: a sub-agent may not spawn', async () => {
    let inner = '';
    await spawned('lead', ({ turn, results }) => {
      if (turn === 1) return spawn('deeper');
      inner = results[0] ?? '';
      return 'x';
    });
    expect(inner).toBe('spawn_subagent: a subagent may not spawn its own subagents (depth-1 cap)');
  });

  it('S2, G1: spawning needs no right to delegate', async () => {
    const { read, outcome } = await spawned('quiet', () => 'sub done');
    expect(read).toBe('sub done');
    expect(outcome.status).toBe('completed');
  });

  it('S2: alternating spawn and delegate grows no chain past the depth limit plus one', async () => {
    // Everybody tries to go deeper by either way, whatever the last attempt came to.
    const deeper = ({ turn, request }: Moment) => {
      if (turn > 2) return 'enough';
      const self = request.system === 'agent:lead' ? 'worker' : 'lead';
      return turn === 1 ? spawn('on') : delegate(self, 'on');
    };
    stage.play({ lead: deeper, worker: deeper });
    const { events, outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    const depths = ofType(events, 'run.started').map(({ data }) => Number(data['depth']));
    expect(Math.max(...depths)).toBe(3);
    for (const event of ofType(events, 'run.started')) {
      if (event.data['depth'] === 3) expect(event.data['origin']).toBe('subagent');
    }
  });
});
