import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../support/model-server.ts';
import {
  calls,
  delegate,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let retrying: Stage;

beforeAll(async () => {
  const agents = { lead: {}, worker: {} };
  const troupe = { threads: 1, tools: [STAGE_TOOLS] };
  stage = await openStage({
    agents,
    troupe,
    provider: { max_retries: 0, timeout_secs: 0.4, total_timeout_secs: 5 },
  });
  retrying = await openStage({ agents, troupe, provider: { max_retries: 1 } });
});

afterAll(async () => {
  await stage.close();
  await retrying.close();
});

const bad: [string, Reply, string][] = [
  ['a 500', { status: 500, body: { error: { message: 'oops' } } }, 'model.server-error'],
  ['a 429', { status: 429, body: 'slow down' }, 'model.rate-limited'],
  ['a 401', { status: 401, body: {} }, 'model.refused'],
  ['a socket that closes before a byte', { drop: true }, 'model.unreachable'],
  [
    'a socket that closes in the middle',
    { text: 'half an answer', cutAfterBytes: 200 },
    'model.malformed',
  ],
  ['silence', { hang: true }, 'model.timeout'],
  ['silence after the headers', { text: '', hangAfterHeaders: true }, 'model.timeout'],
  ['a page that is no JSON', { status: 200, body: '<html>hello</html>' }, 'model.malformed'],
  ['a frame that is no JSON', { text: 'so far', rawFrame: '{"choices": [' }, 'model.malformed'],
  [
    'an error in the stream',
    { text: 'so far', errorFrame: { error: { message: 'x' } } },
    'model.malformed',
  ],
];

describe('a model that fails', () => {
  it.each(bad)(
    'R13: %s fails the run with its code, and is never an empty success',
    async (_name, reply, code) => {
      stage.play({ lead: reply });
      const { outcome, events } = await stage.run('lead');
      expect(outcome).toMatchObject({ status: 'failed', answer: '', error: { code } });
      expect(outcome.error?.message).toContain('openai-compatible.local');
      expect(ofType(events, 'model.failed')[0]?.data).toMatchObject({ error_type: code, turn: 1 });
      expect(ofType(events, 'model.completed', 'run.completed')).toEqual([]);
    },
  );

  it.each(bad)(
    'D6: %s under a child is its parent’s result, and the parent goes on',
    async (_name, reply, code) => {
      stage.play({
        lead: ({ turn, results }) => (turn === 1 ? delegate('worker', 'x') : (results[0] ?? '')),
        worker: reply,
      });
      const { outcome, events } = await stage.run('lead');
      expect(outcome.status).toBe('completed');
      expect(outcome.answer).toMatch(/^Agent 'worker' failed: openai-compatible\.local/);
      expect(ofType(events, 'delegation.failed')[0]?.data).toMatchObject({ error_type: code });
    },
  );

  it('M2: a fault that may pass is asked again, once for max_retries = 1, and the answer says how often', async () => {
    let asked = 0;
    retrying.play({
      lead: () => {
        asked += 1;
        return asked === 1 ? { status: 503, headers: { 'retry-after': '0' }, body: '' } : 'at last';
      },
    });
    const { outcome, events } = await retrying.run('lead');
    expect(outcome).toMatchObject({ status: 'completed', answer: 'at last' });
    expect(asked).toBe(2);
    expect(ofType(events, 'model.completed')[0]?.data['attempts']).toBe(2);
    expect(ofType(events, 'model.started')).toHaveLength(1);
  });

  it('R5: calls without an id, without arguments and with arguments that are no object come to a result each', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            { name: 'say', id: null, args: { text: 'no id' } },
            { name: 'where', args: '' },
            { name: 'say', args: '"text"' },
            { name: 'say', args: 'null' },
            { name: 'say', args: '{"text":"a"}{"text":"b"}' },
          );
        }
        read = results;
        return 'done';
      },
    });
    const { outcome } = await stage.run('lead');
    expect(outcome.status).toBe('completed');
    expect(read).toHaveLength(5);
    expect(read[0]).toBe('no id');
    expect(JSON.parse(read[1] ?? '')).toMatchObject({ main: false });
    for (const text of read.slice(2, 4)) expect(text).toContain('one JSON object');
    expect(read[4]).toContain('not valid JSON');
  });

  it('R11: a hundred calls in one answer are answered, each once and in order', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            ...Array.from({ length: 100 }, (_, at) => ({ name: 'say', args: { text: `t${at}` } })),
          );
        }
        read = results;
        return 'done';
      },
    });
    await stage.run('lead');
    expect(read).toEqual(Array.from({ length: 100 }, (_, at) => `t${at}`));
  });
});
