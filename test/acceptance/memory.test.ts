import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';
import { lookAtMemories } from '../../src/memory-look.ts';
import type { ReplyCall } from '../support/model-server.ts';
import {
  calls,
  configOf,
  delegation,
  ofType,
  openStage,
  type Stage,
  type StageOptions,
} from '../support/troupe-fixture.ts';

const OPTIONS: StageOptions = {
  agents: {
    lead: { workspace: { read_memory_from: ['worker'] } },
    worker: {},
    asking: { risk_profile: 'asking' },
    reader: { risk_profile: 'reader', workspace: { read_memory_from: ['worker'] } },
    narrow: { risk_profile: 'narrow', delegates: ['worker'] },
    snoop: { risk_profile: 'snoop' },
    idle: {},
  },
  blocks: {
    risk_profiles: {
      asking: { autonomy: 'supervised' },
      reader: { autonomy: 'read_only' },
      narrow: {
        autonomy: 'full',
        delegation_policy: { mode: 'allow' },
        excluded_tools: ['memory_store'],
      },
      snoop: { autonomy: 'full', allowed_commands: ['cat'] },
    },
  },
};

let stage: Stage;
const asked: string[] = [];

beforeAll(async () => {
  stage = await openStage({
    ...OPTIONS,
    troupe: {
      threads: 1,
      onApproval: ({ tool }) => {
        asked.push(tool);
        return true;
      },
    },
  });
});

afterAll(() => stage.close());

const store = (key: string, content: string) => ({ name: 'memory_store', args: { key, content } });
const recall = (query: string, more: object = {}) => ({
  name: 'memory_recall',
  args: { query, ...more },
});
const forget = (key: string) => ({ name: 'memory_forget', args: { key } });

/** An agent makes these calls, one answer after another, and ends; what it read. */
async function told(agent: string, ...answers: readonly (readonly ReplyCall[])[]) {
  const read: string[] = [];
  stage.play({
    [agent]: ({ turn, results }) => {
      read.push(...results);
      const next = answers[turn - 1];
      return next === undefined ? 'done' : calls(...next);
    },
  });
  const { events } = await stage.run(agent);
  return { read, events };
}

const found = (text: string | undefined) =>
  (JSON.parse(text ?? '[]') as { key: string; agent_id: string; content: string }[]).map(
    ({ agent_id, key }) => `${agent_id}:${key}`,
  );

describe('memory', () => {
  it('X4: costs nothing, not even a file, until somebody remembers something', async () => {
    stage.play({ idle: 'ok' });
    await stage.run('idle');
    expect(existsSync(join(stage.dir, 'state', 'memory.db'))).toBe(false);
  });

  it('X4: outlives the run; an agent reads its own, and of others only what its configuration names', async () => {
    const { read } = await told('worker', [store('port', 'the service listens on 8080')]);
    expect(read).toEqual(['Stored "port".']);
    expect(found((await told('worker', [recall('service')])).read[0])).toEqual(['worker:port']);
    expect(found((await told('lead', [recall('service')])).read[0])).toEqual(['worker:port']);
    expect((await told('idle', [recall('service')])).read).toEqual(['Nothing found.']);
    const named = [recall('service', { agents: ['worker'] })] as const;
    expect((await told('idle', named)).read).toEqual(['Nothing found.']);
  });

  it('X4: writes and forgets as itself, whatever it may read', async () => {
    await told('worker', [store('mine', 'of the worker')]);
    const { read, events } = await told('lead', [forget('mine')]);
    expect(read[0]).toContain("agent 'lead' has no memory 'mine'");
    expect(ofType(events, 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'not_found',
      effect: 'none',
    });
    expect((await told('worker', [forget('mine')])).read).toEqual(['Forgot "mine".']);
  });

  it('S1, S6: a sub-agent writes as its parent, and reads that however it is narrowed', async () => {
    await told('worker', [store('shared', 'zebra of the worker')]);
    const seen: string[] = [];
    const spawn = (more: object) => ({ name: 'spawn_subagent', args: { prompt: 'sub', ...more } });
    stage.play({
      lead: ({ prompt, turn, results }) => {
        if (prompt === 'sub') {
          seen.push(...results);
          if (turn === 1) return calls(store('from-sub', 'zebra of the lead'));
          return turn === 2 ? calls(recall('zebra')) : 'sub is done';
        }
        return turn === 1 ? calls(spawn({ allowed_agent_aliases: [] })) : 'done';
      },
    });
    await stage.run('lead');
    expect(seen.map((text) => (text.startsWith('[') ? found(text) : text))).toEqual([
      'Stored "from-sub".',
      ['lead:from-sub'],
    ]);
    expect(found((await told('lead', [recall('zebra')])).read[0]).sort()).toEqual([
      'lead:from-sub',
      'worker:shared',
    ]);
  });

  it.each([
    ['waited for', {}],
    ['in the background', { background: true }],
  ])(
    'G9: a delegate that is %s writes into its own memory, not into its caller’s',
    async (_how, more) => {
      const key = JSON.stringify(more);
      stage.play({
        lead: ({ turn }) => (turn === 1 ? calls(delegation('worker', 'part', more)) : 'done'),
        worker: ({ turn }) => (turn === 1 ? calls(store(key, 'x')) : 'done'),
      });
      const { run } = await stage.run('lead');
      await Promise.all(stage.troupe.backgroundRuns(run.id).map((left) => left.result()));
      const owners = lookAtMemories(join(stage.dir, 'state')).filter((each) => each.key === key);
      expect(owners.map(({ agent_id }) => agent_id)).toEqual(['worker']);
    },
  );

  it('G8: a bounded delegate remembers nothing where its caller may not', async () => {
    let words = '';
    stage.play({
      narrow: ({ turn }) => (turn === 1 ? calls(delegation('worker', 'part')) : 'done'),
      worker: ({ turn, results }) => {
        words = results[0] ?? words;
        return turn === 1 ? calls(store('of-a-bounded-one', 'x')) : 'done';
      },
    });
    await stage.run('narrow');
    expect(words).toContain('Tool not available to agent');
  });

  it('X3: storing and forgetting ask under supervision, recalling does not; a read-only agent may recall alone', async () => {
    await told('asking', [store('a', 'x')], [recall('a')], [forget('a')]);
    expect(asked).toEqual(['memory_store', 'memory_forget']);
    const { read } = await told('reader', [store('a', 'x')], [recall('service')]);
    expect(read[0]).toContain('Security policy: read-only mode');
    expect(found(read[1])).toEqual(['worker:port']);
  });

  it('R5: what cannot be kept is refused with the reason', async () => {
    const { read } = await told(
      'worker',
      [store('', 'x')],
      [store('k', 'a\0b')],
      [store('k', 'x'.repeat(16_001))],
      [recall('x', { limit: 51 })],
    );
    expect(read[0]).toContain('fewer than 1 characters');
    expect(read[1]).toContain("'content' must not hold a NUL character");
    expect(read[2]).toContain('more than 16000 characters');
    expect(read[3]).toContain('limit');
  });

  it('X4, X1: no tool reads what other agents remember, nor the journal, in their files', async () => {
    await told('worker', [store('secret', 'hidden treasure')]);
    const paths = ['state/memory.db', 'state/memory.db-wal', 'state/journal.db'];
    const { read } = await told(
      'snoop',
      ...paths.map((path) => [{ name: 'file_read', args: { path } }] as const),
      [{ name: 'content_search', args: { pattern: 'treasure' } }],
      [{ name: 'shell', args: { command: 'cat state/memory.db' } }],
    );
    for (const text of read.slice(0, 3)) expect(text).toContain('forbidden');
    expect(read.join('\n')).not.toContain('hidden treasure');
    expect(read).toHaveLength(5);
  });

  it('J5: is the same for the next host', async () => {
    const options = { config: configOf(OPTIONS, stage.server.url), threads: 1 };
    const stateDir = join(stage.dir, 'other-state');
    stage.play({ worker: ({ turn }) => (turn === 1 ? calls(store('k', 'kept')) : 'done') });
    const first = await Troupe.open({ ...options, stateDir });
    await (await first.start({ agent: 'worker', prompt: 'go', workspace: stage.dir })).result();
    await first.close();
    expect(lookAtMemories(stateDir)).toMatchObject([
      { agent_id: 'worker', key: 'k', content: 'kept' },
    ]);
  });
});
