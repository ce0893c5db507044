import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import type { ReplyCall } from '../support/model-server.ts';
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
const asked: string[] = [];

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: {
        delegates: [{ agent: 'solo', mode: 'independent' }],
        workspace: { read_memory_from: ['worker'] },
      },
      worker: {},
      solo: {},
    },
    risk: { allowed_commands: ['echo', 'ls'], max_actions_per_hour: 50 },
    troupe: {
      threads: 1,
      tools: [STAGE_TOOLS],
      onApproval: ({ tool }) => {
        asked.push(tool);
        return true;
      },
    },
  });
  mkdirSync(join(stage.dir, 'src'));
  writeFileSync(join(stage.dir, 'src/a.txt'), 'in here');
  symlinkSync('/', join(stage.dir, 'out'));
});

afterAll(() => stage.close());

type Words = ReturnType<typeof calls> | string;

/** `lead` spawns once: what it read, and what became of its sub-agent, which says `sub`. */
async function spawned(args: object, sub: (moment: Moment) => Words = () => 'x') {
  let read = '';
  stage.play({
    lead: (moment) => {
      if (moment.prompt === 'sub') return sub(moment);
      if (moment.turn === 1) {
        return calls({ name: 'spawn_subagent', args: { prompt: 'sub', ...args } });
      }
      read = moment.results[0] ?? '';
      return 'done';
    },
    worker: ({ turn, results, prompt }) =>
      turn === 1 ? calls(JSON.parse(prompt) as ReplyCall) : (results[0] ?? ''),
    solo: 'alone',
  });
  const { run, events } = await stage.run('lead');
  const spec = (end: string) =>
    ofRun(events, run.id + end)[0]?.data as unknown as RunSpec | undefined;
  return { read, events, run, spec, sub: spec('/subagent/01') };
}

/** The sub-agent does one thing and says what came of it. */
const trying =
  (name: string, args: object) =>
  ({ turn, results }: Moment): Words =>
    turn === 1 ? calls({ name, args }) : (results[0] ?? '');

describe('a sub-agent that is held shorter than its parent', () => {
  it('S4: gets what is left, which its model is offered and its tools are held to', async () => {
    const policy = { allowed_tools: ['file_read', 'shell'], allowed_commands: ['ls'] };
    const { read, sub } = await spawned({ policy }, trying('shell', { command: 'echo hi' }));
    expect(read).toContain('"echo" is not among the allowed programs (ls)');
    expect(sub?.tools).toEqual(['file_read', 'shell']);
    expect(stage.requestsOf('lead').find(({ prompt }) => prompt === 'sub')?.tools).toEqual(
      sub?.tools,
    );
    expect(sub?.narrowings).toEqual([policy]);
  });

  it('S4: may read and not write where its workspace is made read-only', async () => {
    const policy = { allowed_roots_read_only: ['.'] };
    const look = await spawned({ policy }, trying('file_read', { path: 'src/a.txt' }));
    expect(look.read).toContain('in here');
    const write = await spawned({ policy }, trying('file_write', { path: 'b.txt', content: 'x' }));
    expect(write.read).toContain('in a root that is read-only');
  });

  it('S4, X3: asks where its parent need not, and is not offered effects when it only reads', async () => {
    asked.length = 0;
    const policy = { autonomy: 'supervised' };
    await spawned({ policy }, trying('file_write', { path: 'c.txt', content: 'x' }));
    expect(asked).toEqual(['file_write']);
    const { sub } = await spawned({ policy: { autonomy: 'read_only' } });
    expect(sub?.autonomy).toBe('read_only');
    expect(sub?.tools).toContain('file_read');
    expect(sub?.tools).not.toContain('file_write');
  });

  it('S4: hands its bounds on to those it delegates to', async () => {
    const policy = { forbidden_paths: ['src'], excluded_tools: ['shell'], max_actions_per_hour: 5 };
    const prompt = JSON.stringify({ name: 'file_read', args: { path: 'src/a.txt' } });
    const { read, spec } = await spawned({ policy }, ({ turn, results }) =>
      turn === 1 ? delegate('worker', prompt) : (results[0] ?? ''),
    );
    expect(read).toContain('forbidden');
    const below = spec('/subagent/01/delegate/01');
    expect(below?.tools).not.toContain('shell');
    expect(below?.budget?.actions_per_hour_max).toBe(5);
  });

  it('S4, G8: leads nobody to an independent run; its parent and one that was not narrowed do', async () => {
    const further = ({ turn, results }: Moment): Words =>
      turn === 1 ? delegate('solo', 'x') : (results[0] ?? '');
    const { read, events } = await spawned({ policy: { max_actions_per_hour: 1 } }, further);
    expect(read).toContain(
      'delegate target "solo" cannot run in independent mode from "lead": a sub-agent above it was given less',
    );
    expect(ofType(events, 'run.started')).toHaveLength(2);
    expect((await spawned({}, further)).read).toContain('alone');
  });

  it('S4: may be kept from delegating', async () => {
    const { read, sub } = await spawned(
      { policy: { delegation_policy: { mode: 'forbidden' } } },
      ({ turn, results }) => (turn === 1 ? delegate('worker', 'x') : (results[0] ?? '')),
    );
    expect(sub?.tools.filter((name) => ['agents', 'delegate', 'plan'].includes(name))).toEqual([]);
    expect(read).toContain("Tool not available to agent 'lead': delegate");
  });

  it('S6: reads its own memory, whatever it was left', async () => {
    const { sub } = await spawned({ allowed_agent_aliases: [] });
    expect(sub?.memory).toEqual({ own: 'lead', readable: ['lead'] });
    expect((await spawned({})).sub?.memory).toEqual({ own: 'lead', readable: ['lead', 'worker'] });
  });
});

describe('a narrowing that would widen', () => {
  it.each([
    [{ policy: { autonomy: 'full', allowed_roots: ['/'] } }, 'allowed_roots entry "/"'],
    [{ policy: { allowed_roots: ['out/etc'] } }, 'allowed_roots entry "out/etc"'],
    [{ policy: { allowed_commands: ['rm'] } }, 'allowed_commands entry "rm"'],
    [{ policy: { max_actions_per_hour: 51 } }, "max_actions_per_hour=51 exceeds parent's 50"],
  ])('S3, S4, G6: is refused before anything starts: %j', async (args, words) => {
    const { read, events } = await spawned(args);
    expect(read).toContain(
      `subagent spawn failed: subagent policy override escalates beyond parent: subagent ${words}`,
    );
    expect(ofType(events, 'run.started')).toHaveLength(1);
    expect(ofType(events, 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'rights_widened',
      effect: 'none',
    });
  });

  it('S3, S4: of the memory is refused by the name of the alias', async () => {
    const { read } = await spawned({ allowed_agent_aliases: ['worker', 'solo'] });
    expect(read).toBe(
      'subagent spawn failed: subagent allowlist override contains alias "solo" not present on parent\'s memory allowlist; SubAgent overrides may only narrow',
    );
  });
});
