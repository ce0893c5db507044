import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { gate, type Reply } from '../support/model-server.ts';
import {
  calls,
  delegate,
  delegation,
  MODEL_LABEL,
  ofRun,
  ofType,
  openStage,
  type Part,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, worker: {}, short: { max_turns: 2 }, hasty: { runtime_profile: 'hasty' } },
    blocks: { runtime_profiles: { hasty: { delegation_timeout_secs: 0.3 } } },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

/** The lead delegates once to `target` and ends; what it read, and what its journal says of the child. */
async function told(target: string, part: Part) {
  let read = '';
  stage.play({
    lead: ({ turn, results }) => {
      if (turn === 1) return delegate(target, 'part');
      read = results[0] ?? '';
      return 'went on';
    },
    [target]: part,
  });
  const { run, outcome, events } = await stage.run('lead');
  expect(outcome).toMatchObject({ status: 'completed', answer: 'went on' });
  const own = ofRun(events, run.id);
  const [end] = ofType(own, 'delegation.completed', 'delegation.failed');
  const [result] = ofType(own, 'tool.completed', 'tool.failed');
  const structured = (result?.data['structured'] ?? {}) as JsonObject;
  return { read, end, result, structured, events, child: `${run.id}/delegate/01`, outcome };
}

const failing: Reply = { status: 400, body: { error: { message: 'no', code: 'bad_thing' } } };

describe('how a child ends, as its parent reads it', () => {
  it('D6: a failed child gives its wrapped error, and the parent goes on', async () => {
    const { read, end, structured } = await told('worker', failing);
    expect(read).toMatch(/^Agent 'worker' failed: openai-compatible\.local\/m answered 400/);
    expect(read).not.toContain('Warning');
    expect(end).toMatchObject({
      type: 'delegation.failed',
      data: { agent_id: 'worker', error_type: 'model.refused', effect: 'none' },
    });
    expect(structured).toMatchObject({ status: 'failed', effect: 'none' });
  });

  it('D6: what a failed child had done is named as uncertain', async () => {
    const { read, end, outcome } = await told('worker', [calls({ name: 'breaks_off' }), failing]);
    expect(read).toMatch(/^Agent 'worker' failed: /);
    expect(read).toContain(
      'Warning: the effects of this run are uncertain: breaks_off (turn-1/call-1',
    );
    expect(end?.data).toMatchObject({ effect: 'uncertain' });
    expect(outcome.effect).toBe('uncertain');
  });

  it.each(['', '  \n ', '<think>only thoughts</think>', '<think>never closed'])(
    'D6: an answer without a word (%j) is a failure',
    async (answer) => {
      const { read, end, result } = await told('worker', answer);
      expect(read).toBe(
        "Agent 'worker' failed: model provider returned an invalid semantic completion.",
      );
      expect(end?.type).toBe('delegation.failed');
      expect(result?.type).toBe('tool.failed');
    },
  );

  it('D6: a child beyond delegation_timeout_secs is cancelled and its request aborted', async () => {
    const { read, end, events, child } = await told('hasty', { hang: true });
    expect(read).toBe("Agent 'hasty' timed out after 0.3s");
    expect(end).toMatchObject({ type: 'delegation.failed', data: { error_type: 'timeout' } });
    expect(ofType(ofRun(events, child), 'run.cancelled')[0]?.data).toMatchObject({
      by: 'deadline',
      error_type: 'timeout',
    });
    expect(await stage.requestsOf('hasty').at(-1)?.closed).toBe(true);
  });

  it('D6: delegation_timeout_secs does not bind a root run', async () => {
    const shut = gate();
    stage.play({
      hasty: async () => {
        await shut.opened;
        return 'late but fine';
      },
      lead: [delegate('hasty', 'x'), 'done'],
    });
    const run = await stage.start('hasty');
    // A delegated run that starts later and times out proves that the time has passed.
    await stage.run('lead');
    shut.open();
    expect(await run.result()).toMatchObject({ status: 'completed', answer: 'late but fine' });
  });

  it('D6: a child without its own final answer gives the reason and its last words, and is journaled as completed incomplete', async () => {
    const { read, end, result, structured } = await told('short', {
      text: 'as far as I came',
      calls: [{ name: 'say', args: { text: 'more' } }],
    });
    expect(read).toBe(
      "Agent 'short' ended without its own final answer: turn_limit.\n\nas far as I came",
    );
    expect(end).toMatchObject({
      type: 'delegation.completed',
      data: { child_status: 'incomplete', turns: 2 },
    });
    expect(result?.type).toBe('tool.failed');
    expect(structured).toMatchObject({ status: 'incomplete', turns: 2 });
  });

  it('D5, R12: an answer beyond max_result_chars is cut with a mark that says how much is missing and where it is', async () => {
    const answer = `head ${'x'.repeat(200_000)} tail`;
    const { read, structured } = await told('worker', answer);
    expect(read.length).toBeLessThanOrEqual(16_000);
    expect(read).toMatch(
      new RegExp(`^\\[Agent 'worker' \\(${MODEL_LABEL}\\)\\]\nhead x+\n\\[\\.\\.\\. `),
    );
    expect(read).toMatch(/x+ tail$/);
    const [, missing, whole, file] =
      /\[\.\.\. (\d+) of (\d+) characters left out here; the full text is in (\S+) \.\.\.\]/.exec(
        read,
      ) ?? [];
    expect(Number(whole)).toBe(answer.length);
    expect(Number(missing)).toBeGreaterThan(180_000);
    expect(await readFile(file ?? '', 'utf8')).toBe(answer);
    expect(structured).toMatchObject({ status: 'completed' });
  });

  it('R13: the outcome, the terminal event and the parent’s result agree', async () => {
    const { events, child, structured, end } = await told('worker', 'worked');
    const [terminal] = ofType(ofRun(events, child), 'run.completed');
    const tree = await stage.troupe.tree(child);
    expect(terminal?.data).toMatchObject({ answer: 'worked', turns: 1, effect: 'none' });
    expect(structured).toMatchObject({ status: 'completed', turns: 1, effect: 'none' });
    expect(end?.data).toMatchObject({ child_status: 'completed', turns: 1 });
    expect(tree).toMatchObject({ status: 'completed', turns: 1, effect: 'none' });
  });

  it('M4: usage of the whole tree comes up to the root, and what a server did not say stays unknown', async () => {
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('worker', 'b')), 'done'],
      worker: 'worked',
    });
    const known = await stage.run('lead');
    expect(known.outcome.usage).toEqual({
      inputTokens: 40,
      outputTokens: 20,
      cachedInputTokens: 0,
    });
    stage.play({
      lead: [calls(delegation('worker', 'a'), delegation('worker', 'b')), 'done'],
      worker: { text: 'worked', usage: null },
    });
    const unknown = await stage.run('lead');
    expect(unknown.outcome.usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      cachedInputTokens: null,
    });
  });
});
