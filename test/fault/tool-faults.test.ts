import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ReplyCall } from '../support/model-server.ts';
import { calls, ofType, openStage, STAGE_TOOLS, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

const anything = { type: 'object' };
const onHost = (name: string, run: () => unknown, timeoutMs = 5000) =>
  defineTool({
    name,
    description: 'a closure of the program',
    parameters: anything,
    effect: 'effectful',
    timeoutMs,
    run: run as () => string,
  });

const circular: Record<string, unknown> = {};
circular['self'] = circular;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {} },
    troupe: {
      threads: 1,
      computeThreads: 1,
      tools: [STAGE_TOOLS],
      hostTools: [
        onHost('host_throws', () => {
          throw Object.assign(new Error('host said no'), { code: 'E_NO' });
        }),
        onHost('host_rejects_text', () => Promise.reject('plain words')),
        onHost('host_never', () => new Promise(() => undefined), 50),
        onHost('host_circular', () => circular),
        onHost('host_function', () => () => 1),
        onHost('host_bigint', () => ({ big: 1n })),
        onHost('host_nothing', () => undefined),
      ],
    },
  });
});

afterAll(() => stage.close());

/** What the model reads of these calls; the run must end well. */
async function read(...made: readonly ReplyCall[]) {
  let texts: readonly string[] = [];
  stage.play({
    lead: ({ turn, results }) => {
      if (turn === 1) return calls(...made);
      texts = results;
      return 'done';
    },
  });
  const { outcome, events } = await stage.run('lead');
  expect(outcome).toMatchObject({ status: 'completed', answer: 'done' });
  return { texts, events, outcome };
}

describe('tools that behave badly', () => {
  it('R5: what is thrown, error or not, is the call’s result, on every kind of thread', async () => {
    const { texts } = await read(
      { name: 'throws_text' },
      { name: 'throws_nothing' },
      { name: 'host_throws' },
      { name: 'host_rejects_text' },
    );
    expect(texts).toEqual([
      'throws_text failed: plain words',
      expect.stringMatching(/^throws_nothing failed: .*undefined/),
      'host_throws failed: host said no',
      'host_rejects_text failed: plain words',
    ]);
  });

  it('R11: a tool that never returns fails at its timeoutMs, and its effect is uncertain', async () => {
    const { texts, outcome, events } = await read({ name: 'never' }, { name: 'host_never' });
    expect(texts).toEqual(['never took longer than 60 ms', 'host_never took longer than 50 ms']);
    expect(outcome.effect).toBe('uncertain');
    for (const { data } of ofType(events, 'tool.failed')) {
      expect(data).toMatchObject({ error_type: 'timeout', effect: 'uncertain' });
    }
  });

  it('R5: a result that JSON cannot carry fails its call alone', async () => {
    const { texts } = await read(
      { name: 'host_circular' },
      { name: 'host_function' },
      { name: 'host_bigint' },
      { name: 'host_nothing' },
      { name: 'say', args: { text: 'fine' } },
    );
    for (const text of texts.slice(0, 3)) expect(text).toContain('returned what JSON cannot carry');
    expect(texts.slice(3)).toEqual(['', 'fine']);
  });

  it.each(['long', 'long_on_compute'])(
    'R12: a result of 10 MB (%s) is cut for the model and whole in its file',
    async (name) => {
      const count = 10_000_000;
      const { texts, events } = await read({ name, args: { count } });
      const [text = ''] = texts;
      expect(text.length).toBeLessThanOrEqual(16_000);
      const [, whole, file] =
        /of (\d+) characters left out here; the full text is in (\S+) \.\.\.\]/.exec(text) ?? [];
      expect(Number(whole)).toBe(count);
      expect(readFileSync(file ?? '', 'utf8').length).toBe(count);
      const [completed] = ofType(events, 'tool.completed');
      expect(completed?.data['chars']).toBe(count);
      expect(String(completed?.data['text']).length, 'the journal holds the cut text').toBeLessThan(
        20_000,
      );
    },
  );

  it('J7: a tool that ends its compute thread fails its call alone, and the pool goes on', async () => {
    const { texts, events } = await read(
      { name: 'leaves_compute' },
      { name: 'say', args: { text: 'fine' } },
    );
    expect(texts[0]).toMatch(/^leaves_compute ended its thread: /);
    expect(texts[1]).toBe('fine');
    expect(ofType(events, 'tool.failed')[0]?.data).toMatchObject({
      error_type: 'thread_lost',
      effect: 'uncertain',
    });
    const after = await read({ name: 'long_on_compute', args: { count: 3 } });
    expect(after.texts).toEqual(['xxx']);
  });
});
