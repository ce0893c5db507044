import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import type { ToolEffect } from '../../src/runtime/core/tool.ts';
import { type AnyTool, invokeTool, RESULT_TEXT_CHARS_MAX } from '../../src/tools/invoke-tool.ts';
import { scratch } from '../support/tool-scratch.ts';

type Run = AnyTool['run'];

const box = scratch();

function toolOf(
  run: (...args: Parameters<Run>) => unknown,
  effect: ToolEffect = 'effectful',
): AnyTool {
  return {
    name: 'probe',
    description: 'A probe',
    parameters: { type: 'object' },
    effect,
    place: 'actor',
    timeoutMs: 60_000,
    run: run as Run,
  };
}

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

describe('N2, R11: a call ends at its limit and at its signal', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const never = (effect: ToolEffect = 'effectful'): AnyTool =>
    toolOf(() => new Promise(() => undefined), effect);

  test('a tool that never returns is timed out, and its signal says so', async () => {
    let reason: unknown;
    const tool = toolOf(
      (_args, { signal, progress }) =>
        new Promise(() => {
          progress('so far');
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          });
        }),
    );
    const call = invokeTool(tool, {}, box.context(), { timeoutMs: 100 });
    await vi.advanceTimersByTimeAsync(100);
    expect(await call).toEqual({
      ok: false,
      errorType: 'timeout',
      error: 'probe took longer than 100 ms',
      effect: 'uncertain',
      text: 'so far',
    });
    expect(reason).toMatchObject({ code: 'tool.timeout' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a caller's limit shortens the tool's own, it does not lengthen it", async () => {
    const call = invokeTool({ ...never(), timeoutMs: 50 }, {}, box.context(), { timeoutMs: 1000 });
    await vi.advanceTimersByTimeAsync(50);
    expect(await call).toMatchObject({ errorType: 'timeout' });
  });

  test('a tool that ignores its signal is abandoned at once', async () => {
    const cancel = new AbortController();
    const call = invokeTool(never('read'), {}, box.context({ signal: cancel.signal }));
    cancel.abort(new Error('changed my mind'));
    expect(await call).toEqual({
      ok: false,
      errorType: 'cancelled',
      error: 'probe was cancelled: changed my mind',
      effect: 'none',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a signal that is aborted already starts nothing', async () => {
    const run = vi.fn();
    const outcome = await invokeTool(toolOf(run), {}, box.context({ signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ ok: false, errorType: 'cancelled', effect: 'none' });
    expect(run).not.toHaveBeenCalled();
  });

  test('within its grace a stopped tool may say what it left behind; after it, it is abandoned', async () => {
    const cancel = new AbortController();
    const tidy = toolOf(
      (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () =>
            setTimeout(resolve, 10, {
              ok: false,
              errorType: 'x',
              error: 'y',
              effect: 'none',
              text: 'undone',
            }),
          );
        }),
    );
    const options = { graceMs: 20 };
    const calls = [tidy, never()].map((tool) =>
      invokeTool(tool, {}, box.context({ signal: cancel.signal }), options),
    );
    cancel.abort('stop');
    await vi.advanceTimersByTimeAsync(20);
    const [first, second] = await Promise.all(calls);
    expect(first).toMatchObject({ errorType: 'cancelled', effect: 'none', text: 'undone' });
    expect(second).toMatchObject({ errorType: 'cancelled', effect: 'uncertain' });
  });

  test('what an abandoned tool does later, rejecting or reporting, reaches nobody', async () => {
    const seen: string[] = [];
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const tool = toolOf(async (_args, { progress }) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      progress('too late');
      throw new Error('too late');
    });
    const call = invokeTool(tool, {}, box.context({ progress: (text) => seen.push(text) }), {
      timeoutMs: 10,
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await call).toMatchObject({ errorType: 'timeout' });
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(seen).toEqual([]);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
