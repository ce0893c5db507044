import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import {
  calls,
  delegate,
  delegation,
  type Moment,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let home: string;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-home-')));
  mkdirSync(join(home, 'secret'));
  const independent = (agent: string) => ({ agent, mode: 'independent' });
  const allow = { autonomy: 'full', delegation_policy: { mode: 'allow' } };
  stage = await openStage({
    agents: {
      lead: {
        risk_profile: 'tight',
        delegates: ['half', independent('solo'), independent('wary'), independent('twin')],
      },
      twin: { risk_profile: 'tight', workspace: { dir: home } },
      half: { risk_profile: 'wide', workspace: { dir: home } },
      solo: { risk_profile: 'wide', workspace: { dir: home }, delegates: ['lead'] },
      wary: { risk_profile: 'wary' },
      boss: { risk_profile: 'tight', delegates: ['wary'] },
    },
    blocks: {
      risk_profiles: {
        tight: { ...allow, allowed_tools: ['say', 'spawn_subagent'], max_actions_per_hour: 700 },
        wide: { ...allow, max_actions_per_hour: 70 },
        wary: { ...allow, always_ask: ['say', 'write_file'] },
      },
    },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(async () => {
  await stage.close();
  rmSync(home, { recursive: true, force: true });
});

const specsOf = (events: readonly JournalEvent[]) =>
  ofType(events, 'run.started').map(({ data }) => data as unknown as RunSpec);
const specOf = (events: readonly JournalEvent[], runId: string) =>
  specsOf(ofRun(events, runId))[0] as RunSpec;
const read: string[] = [];
const once = (first: ReturnType<typeof calls>) => (moment: Moment) => {
  if (moment.turn === 1) return first;
  read.splice(0, read.length, ...moment.results);
  return 'done';
};

describe('a delegate in independent mode', () => {
  it('G8: has tools that its caller lacks, its own folder and its own budget; a bounded one has not', async () => {
    const write = calls({ name: 'file_write', args: { path: 'mine.txt', content: 'x' } });
    stage.play({
      lead: once(calls(delegation('half', 'a'), delegation('solo', 'b'))),
      half: 'bounded',
      solo: ({ turn }) => (turn === 1 ? write : 'written'),
    });
    const { run, events } = await stage.run('lead');
    expect(read[1]).toContain('written');
    expect(existsSync(join(home, 'mine.txt'))).toBe(true);
    const [root, half, solo] = ['', '/delegate/01', '/delegate/02'].map((end) =>
      specOf(events, run.id + end),
    );
    const control = ['agents', 'delegate', 'plan'];
    expect(half?.tools).toEqual([...control, 'say', 'spawn_subagent']);
    expect(half?.independent).toBe(false);
    expect(solo?.tools).toEqual(expect.arrayContaining([...control, 'file_write', 'shell']));
    expect(solo).toMatchObject({
      independent: true,
      budget: { actions_per_hour_max: 70, own: true },
      scope: { files: [{ workspaceDir: home }, root?.security.files] },
    });
    expect(solo?.security).toEqual(root?.security);
  });

  it('G8: is one by an explicit entry, also where it shares the risk profile of its caller', async () => {
    stage.play({ lead: once(delegate('twin', 'a')), twin: 'x' });
    const { run, events } = await stage.run('lead');
    const twin = specOf(events, `${run.id}/delegate/01`);
    expect(twin).toMatchObject({
      independent: true,
      scope: { files: [{ workspaceDir: home }, {}] },
    });
    expect(specOf(events, run.id).scope.files[0]?.workspaceDir).toBe(stage.dir);
  });

  it('G8: begins a ceiling of its own: those below it are held to its tools, those of its caller are not asked', async () => {
    stage.play({
      lead: ({ prompt, turn }) =>
        prompt === 'deeper' ? 'x' : turn === 1 ? delegate('solo', 'b') : 'done',
      solo: ({ turn, prompt }) =>
        turn > 1 || prompt === 'sub'
          ? 'x'
          : calls(delegation('lead', 'deeper'), delegation('half', 'c'), {
              name: 'spawn_subagent',
              args: { prompt: 'sub' },
            }),
      half: 'x',
    });
    const { run, events } = await stage.run('lead');
    const solo = `${run.id}/delegate/01`;
    const { tools } = specOf(events, solo);
    const half = specOf(events, `${solo}/delegate/02`);
    expect(half.tools).toEqual(
      tools.filter((name) => !['agents', 'delegate', 'plan'].includes(name)),
    );
    const sub = specOf(events, `${solo}/subagent/03`);
    expect(sub).toMatchObject({ independent: false, budget: { actions_per_hour_max: 70 } });
    expect(sub.budget).not.toHaveProperty('own');
    expect(sub.scope).toEqual(specOf(events, solo).scope);
  });

  it('G8: is refused before it starts where its profile always asks; as a bounded one it is not', async () => {
    stage.play({ lead: once(delegate('wary', 'a')), wary: 'x' });
    const { run, events } = await stage.run('lead');
    expect(read).toEqual([
      'delegate target "wary" cannot run in independent mode from "lead": risk profile "wary" has always_ask entries (say, write_file). See the README, "What is not supported".',
    ]);
    expect(ofType(ofRun(events, run.id), 'tool.failed')[0]?.data).toMatchObject({ effect: 'none' });
    expect(ofType(events, 'delegation.started', 'tool.started')).toEqual([]);
    stage.play({ boss: once(delegate('wary', 'a')), wary: 'x' });
    expect((await stage.run('boss')).outcome.status).toBe('completed');
    expect(read[0]).toContain("[Agent 'wary'");
  });

  it.each([
    ['in the background', delegation('wary', 'a', { background: true })],
    ['in parallel', { name: 'delegate', args: { parallel: ['half', 'wary'], prompt: 'a' } }],
  ])('G8, D8: %s it is refused just so, and nobody begins', async (_how, call) => {
    stage.play({ lead: once(calls(call)), wary: 'x', half: 'x' });
    const { events } = await stage.run('lead');
    expect(read[0]).toContain(
      'delegate target "wary" cannot run in independent mode from "lead": risk profile "wary" has always_ask entries',
    );
    expect(ofType(events, 'delegation.started')).toEqual([]);
  });

  it('G8, D8: is one beside bounded ones in a parallel call, each under its own rights', async () => {
    const parallel = {
      name: 'delegate',
      args: { parallel: ['half', 'solo', 'half'], prompt: 'a' },
    };
    stage.play({ lead: once(calls(parallel)), solo: 'x', half: 'x' });
    const { run, events } = await stage.run('lead');
    expect(read[0]).toContain('--- solo (success=true) ---');
    const specs = ['01', '02', '03'].map((nn) => specOf(events, `${run.id}/delegate/${nn}`));
    expect(specs.map(({ independent }) => independent)).toEqual([false, true, false]);
    expect(specs.map(({ tools }) => tools.includes('shell'))).toEqual([false, true, false]);
    expect(specs.map(({ budget }) => budget?.own === true)).toEqual([false, true, false]);
  });

  it('G8, D9: is one in the background, too', async () => {
    stage.play({ lead: once(calls(delegation('solo', 'a', { background: true }))), solo: 'x' });
    const { run } = await stage.run('lead');
    await Promise.all(stage.troupe.backgroundRuns(run.id).map((left) => left.result()));
    const all = [];
    for await (const event of stage.troupe.journal.read({ subtreeOf: run.id })) all.push(event);
    expect(specOf(all, `${run.id}/delegate/01`)).toMatchObject({ independent: true });
  });

  it('P12, G8: is one as the task of a plan, too', async () => {
    const tasks = [
      { id: 'a', agent_id: 'solo', prompt: 'a' },
      { id: 'b', agent_id: 'half', prompt: 'b', depends_on: ['a'] },
    ];
    stage.play({ lead: once(calls({ name: 'plan', args: { tasks } })), solo: 'x', half: 'x' });
    const { events } = await stage.run('lead');
    const modes = specsOf(events).map(({ agent_id, independent }) => [agent_id, independent]);
    expect(modes).toEqual([
      ['lead', false],
      ['solo', true],
      ['half', false],
    ]);
  });

  it('R9: is held to the frozen policy of the initiator like everybody', async () => {
    const look = calls({ name: 'list_dir', args: { path: 'secret' } });
    stage.play({
      lead: once(delegate('solo', 'b')),
      solo: ({ turn, results }) => (turn === 1 ? look : (results[0] ?? '')),
    });
    await stage.run('lead', 'go', { files: { forbidden: [join(home, 'secret')] } });
    expect(read[0]).toContain('forbidden');
    await stage.run('lead', 'go');
    expect(read[0]).not.toContain('forbidden');
  });

  it('G3: counts in the depth of its caller', async () => {
    stage.play({
      lead: once(delegate('solo', 'b')),
      solo: ({ turn, results }) => (turn === 1 ? delegate('half', 'c') : (results[0] ?? '')),
      half: ({ turn, results }) => (turn === 1 ? delegate('solo', 'd') : (results[0] ?? '')),
    });
    const { events } = await stage.run('lead');
    expect(read[0]).toContain('Delegation depth limit reached (2/2)');
    expect(Math.max(...specsOf(events).map(({ depth }) => depth))).toBe(2);
  });
});
