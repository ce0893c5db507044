import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../src/runtime/engine.ts';
import { type Gate, gate } from '../support/model-server.ts';
import {
  calls,
  delegation,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
  typesOf,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let asked: ApprovalRequest[] = [];
let aborted = 0;
let answer: (request: ApprovalRequest) => boolean | Promise<boolean> = () => true;

const profiles = {
  strict: { autonomy: 'full', require_tool_approval: true, delegation_policy: { mode: 'allow' } },
  careful: { autonomy: 'supervised', delegation_policy: { mode: 'allow' } },
  reader: { autonomy: 'read_only' },
};

beforeAll(async () => {
  stage = await openStage({
    agents: {
      strict: { risk_profile: 'strict' },
      peer: { risk_profile: 'strict', runtime_profile: 'quick' },
      careful: { risk_profile: 'careful' },
      reader: { risk_profile: 'reader' },
    },
    blocks: {
      risk_profiles: profiles,
      runtime_profiles: { quick: { approval_timeout_secs: 0.2 } },
    },
    troupe: {
      threads: 1,
      tools: [STAGE_TOOLS],
      onApproval: (request, signal) => {
        asked.push(request);
        signal.addEventListener('abort', () => {
          aborted += 1;
        });
        return answer(request);
      },
    },
  });
});

afterAll(() => stage.close());

describe('approval', () => {
  it('D7: each delegation is asked for once, and once approved its child starts', async () => {
    asked = [];
    answer = ({ args }) => args['prompt'] !== 'no';
    let read: readonly string[] = [];
    stage.play({
      strict: ({ turn, results }) => {
        if (turn === 1) return calls(delegation('peer', 'yes'), delegation('peer', 'no'));
        read = results;
        return 'done';
      },
      peer: 'peered',
    });
    const { run, events } = await stage.run('strict');
    expect(asked.map(({ tool, runId }) => `${tool} ${runId}`)).toEqual(
      Array.from({ length: 2 }, () => `delegate ${run.id}`),
    );
    expect(read[0]).toContain('peered');
    expect(read[1]).toBe(
      "Tool call not executed: 'delegate' requires approval, and it was denied by onApproval: denied",
    );
    expect(ofType(events, 'delegation.started')).toHaveLength(1);
    const own = typesOf(events, run.id);
    expect(own.indexOf('approval.granted')).toBeLessThan(own.indexOf('delegation.started'));
  });

  it('X3: supervised asks before what acts, not before what reads; read_only is not even offered it', async () => {
    asked = [];
    answer = () => true;
    stage.play({
      careful: [calls({ name: 'say', args: { text: 'x' } }, { name: 'breaks_off' }), 'done'],
    });
    await stage.run('careful');
    expect(asked.map(({ tool }) => tool)).toEqual(['breaks_off']);
    let read = '';
    stage.play({
      reader: ({ turn, results }) => {
        if (turn === 1) return calls({ name: 'breaks_off' });
        read = results[0] ?? '';
        return 'done';
      },
    });
    await stage.run('reader');
    expect(stage.requestsOf('reader').at(-1)?.tools).not.toContain('breaks_off');
    expect(read).toContain("read-only mode, cannot perform 'breaks_off'");
  });

  it.each(['', '   ', '{}'])(
    'X3: a call whose arguments are written as %j can be asked for',
    async (args) => {
      asked = [];
      answer = () => true;
      stage.play({ careful: [calls({ name: 'breaks_off', args }), 'done'] });
      const { outcome } = await stage.run('careful');
      expect(outcome.status).toBe('completed');
      expect(asked.map((request) => request.args)).toEqual([{}]);
    },
  );

  it('X3: an answer that throws is a denial with its words', async () => {
    answer = () => {
      throw new Error('the screen is gone');
    };
    stage.play({ careful: [calls({ name: 'breaks_off' }), 'done'] });
    const { events, outcome } = await stage.run('careful');
    expect(outcome.status).toBe('completed');
    expect(ofType(events, 'approval.denied')[0]?.data['why']).toContain('the screen is gone');
  });

  it('R11: an unanswered request is denied after approval_timeout_secs', async () => {
    answer = () => new Promise<boolean>(() => undefined);
    stage.play({ peer: [calls({ name: 'say', args: { text: 'x' } }), 'done'] });
    const before = aborted;
    const { events, outcome } = await stage.run('peer');
    expect(outcome.status).toBe('completed');
    expect(ofType(events, 'approval.denied')[0]?.data['why']).toContain(
      'nobody answered within 0.2 s (approval_timeout_secs)',
    );
    expect(aborted).toBe(before + 1);
  });

  it('N2: cancelling takes a request for approval back, and a late yes starts nothing', async () => {
    const shut: Gate = gate();
    answer = async () => {
      await shut.opened;
      return true;
    };
    stage.play({ careful: calls({ name: 'breaks_off' }) });
    const before = aborted;
    const run = await stage.start('careful');
    await stage.sees(({ type }) => type === 'approval.requested', run.id);
    expect(await run.cancel()).toBe('cancelled');
    expect(aborted).toBe(before + 1);
    shut.open();
    const { events, outcome } = await stage.end(run);
    expect(outcome).toMatchObject({ status: 'cancelled', effect: 'none' });
    expect(ofType(ofRun(events, run.id), 'tool.started')).toEqual([]);
  });
});
