import { afterAll, describe, expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { invokeTool, RESULT_TEXT_CHARS_MAX } from '../../src/tools/invoke-tool.ts';
import { scratch, toolOf } from '../support/tool-scratch.ts';

const box = scratch();
afterAll(() => box.remove());

function cycle(): object {
  const a: Record<string, unknown> = {};
  a['self'] = a;
  return a;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i += 1) value = [value];
  return value;
}

class Money {
  readonly cents = 5;
}

describe('what a tool returns becomes one outcome', () => {
  test.each([
    ['text', 'text', undefined],
    ['', '', undefined],
    [undefined, '', undefined],
    [null, 'null', null],
    [7, '7', 7],
    [false, 'false', false],
    [[1, 'a'], '[\n  1,\n  "a"\n]', [1, 'a']],
    [{ a: 1, b: undefined }, '{\n  "a": 1\n}', { a: 1 }],
    [{ ok: true }, '{\n  "ok": true\n}', { ok: true }],
    [{ ok: true, text: 'done' }, 'done', undefined],
    [{ ok: true, text: 'done', data: { n: 1 } }, 'done', { n: 1 }],
    [{ ok: false }, '{\n  "ok": false\n}', { ok: false }],
    [Object.create(null), '{}', {}],
  ])('%j', async (returned, text, data) => {
    const outcome = await invokeTool(
      toolOf(() => returned),
      {},
      box.context(),
    );
    expect(outcome).toEqual(data === undefined ? { ok: true, text } : { ok: true, text, data });
  });

  test('a promise is awaited, and its value treated alike', async () => {
    expect(
      await invokeTool(
        toolOf(async () => ({ a: 1 })),
        {},
        box.context(),
      ),
    ).toMatchObject({ data: { a: 1 } });
  });

  test('a failed outcome is taken as it is', async () => {
    const outcome = {
      ok: false,
      errorType: 'not_found',
      error: 'gone',
      effect: 'applied',
      text: 'half',
    };
    expect(
      await invokeTool(
        toolOf(() => outcome),
        {},
        box.context(),
      ),
    ).toEqual(outcome);
  });

  test.each([
    [{ ok: false, errorType: 'x', error: 'y' }],
    [{ ok: false, errorType: 'x', error: 'y', effect: 'maybe' }],
    [{ ok: false, error: 'y', effect: 'none' }],
    [{ ok: false, errorType: '', error: 'y', effect: 'none' }],
    [{ ok: false, errorType: 'x', error: 7, effect: 'none' }],
    [{ ok: false, errorType: 'x', error: 'y', effect: 'none', text: 7 }],
    [{ ok: false, errorType: 'x', error: 'y', effect: 'none', extra: 1 }],
  ])('the malformed failure %j is a failure, never a success', async (returned) => {
    const outcome = await invokeTool(
      toolOf(() => returned),
      {},
      box.context(),
    );
    expect(outcome).toMatchObject({ ok: false, errorType: 'invalid_result', effect: 'uncertain' });
  });

  test.each([
    ['a function', () => () => 1, 'result is a function'],
    ['a symbol', () => Symbol('x'), 'result is a symbol'],
    ['a BigInt inside', () => ({ n: [1n] }), 'result.n[0] is a BigInt'],
    ['NaN', () => ({ n: Number.NaN }), 'result.n is NaN'],
    ['Infinity', () => [Number.POSITIVE_INFINITY], 'result[0] is Infinity'],
    ['a cycle', () => cycle(), 'result.self refers back'],
    ['a Date', () => ({ at: new Date(0) }), 'result.at is a Date'],
    ['a Map', () => new Map(), 'result is a Map'],
    ['bytes', () => Buffer.from('x'), 'result is a Buffer'],
    ['an instance', () => new Money(), 'result is a Money'],
    ['a symbol key', () => ({ [Symbol('k')]: 1 }), 'symbol as a key'],
    ['a __proto__ key', () => JSON.parse('{"__proto__":1}'), '__proto__'],
    ['too deep', () => deep(10_000), 'deeper than 200 levels'],
    [
      'a getter that throws',
      () =>
        Object.defineProperty({}, 'x', {
          enumerable: true,
          get: () => {
            throw new Error('no');
          },
        }),
      'throws when it is read',
    ],
    ['a method', () => ({ close() {} }), 'result.close is a function'],
  ])('%s cannot be carried, and the error says where it is', async (_name, make, words) => {
    const outcome = await invokeTool(toolOf(make, 'read'), {}, box.context());
    expect(outcome).toMatchObject({ ok: false, errorType: 'invalid_result', effect: 'none' });
    expect(outcome.ok ? '' : outcome.error).toContain(words);
  });

  test('a result of 10 MB passes whole, one above the cap is cut with a mark', async () => {
    const ten = 'x'.repeat(10_485_760);
    expect(
      await invokeTool(
        toolOf(() => ten),
        {},
        box.context(),
      ),
    ).toEqual({ ok: true, text: ten });
    const outcome = await invokeTool(
      toolOf(() => 'y'.repeat(RESULT_TEXT_CHARS_MAX + 5)),
      {},
      box.context(),
    );
    expect(outcome.text?.length).toBeLessThan(RESULT_TEXT_CHARS_MAX + 100);
    expect(outcome.text?.endsWith('[cut: 5 more characters were dropped]')).toBe(true);
  });
});

describe('R5: what a tool throws is the outcome of its call', () => {
  test.each([
    [new Error('broken'), 'broken'],
    [new TypeError(''), 'TypeError'],
    ['a string', 'a string'],
    ['', 'an empty string was thrown'],
    [undefined, 'thrown value undefined'],
    [null, 'thrown value null'],
    [7, 'thrown value 7'],
    [{ code: 'X' }, 'thrown value {"code":"X"}'],
    [cycle(), 'thrown value of type object'],
    [1n, 'thrown value of type bigint'],
    [Symbol('s'), 'Symbol(s)'],
    [
      new Proxy(
        {},
        {
          getPrototypeOf: () => {
            throw new Error('trap');
          },
        },
      ),
      'throws when it is read',
    ],
  ])('thrown %#', async (thrown, words) => {
    const throwing = toolOf(() => {
      throw thrown;
    });
    const rejecting = toolOf(() => Promise.reject(thrown), 'read');
    const outcome = await invokeTool(throwing, {}, box.context());
    expect(outcome).toMatchObject({ ok: false, errorType: 'tool_error', effect: 'uncertain' });
    expect(outcome.ok ? '' : outcome.error).toContain(words);
    expect(await invokeTool(rejecting, {}, box.context())).toMatchObject({
      ok: false,
      effect: 'none',
    });
  });

  test('a fault that says nothing happened is believed', async () => {
    const outcome = await invokeTool(
      toolOf(() => {
        throw new Fault('tool.failed', 'refused', { retry: 'safe' });
      }),
      {},
      box.context(),
    );
    expect(outcome).toMatchObject({ ok: false, effect: 'none' });
  });

  test('a huge error message is cut', async () => {
    const outcome = await invokeTool(
      toolOf(() => Promise.reject(new Error('e'.repeat(1e6)))),
      {},
      box.context(),
    );
    expect(outcome.ok ? 0 : outcome.error.length).toBeLessThan(4100);
  });

  test('R12: what was reported as progress goes with a failure, not with a success', async () => {
    const seen: string[] = [];
    const context = box.context({ progress: (text) => seen.push(text) });
    const failing = toolOf((_args, { progress }) => {
      progress('one');
      progress('one two');
      throw new Error('then it broke');
    });
    expect(await invokeTool(failing, {}, context)).toMatchObject({ ok: false, text: 'one two' });
    expect(seen).toEqual(['one', 'one two']);
    const working = toolOf((_args, { progress }) => {
      progress('half');
      return 'whole';
    });
    expect(await invokeTool(working, {}, context)).toEqual({ ok: true, text: 'whole' });
  });
});
