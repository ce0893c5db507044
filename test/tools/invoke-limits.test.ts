import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolEffect } from '../../src/runtime/core/tool.ts';
import { type AnyTool, invokeTool } from '../../src/tools/invoke-tool.ts';
import { scratch, toolOf } from '../support/tool-scratch.ts';

const box = scratch();
afterAll(() => box.remove());

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
