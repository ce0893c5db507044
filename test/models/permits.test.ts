import { describe, expect, it } from 'vitest';
import { Permits } from '../../src/models/permits.ts';

const never = () => new AbortController().signal;

describe('permits of a provider', () => {
  it('are given in the order in which they were asked for, and no more than there are', async () => {
    const permits = new Permits(1);
    const order: string[] = [];
    const first = await permits.take(never());
    const taken = ['a', 'b', 'c'].map(async (name) => {
      const release = await permits.take(never());
      order.push(name);
      release?.();
    });
    expect(permits.waiting).toBe(3);
    expect(order).toEqual([]);
    first?.();
    await Promise.all(taken);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('leave a cancelled waiter out, and its place to the next', async () => {
    const permits = new Permits(1);
    const first = await permits.take(never());
    const cancelled = new AbortController();
    const second = permits.take(cancelled.signal);
    const third = permits.take(never());
    cancelled.abort();
    expect(await second).toBeNull();
    expect(permits.waiting).toBe(1);
    first?.();
    expect(await third).not.toBeNull();
  });

  it('come back once, however often they are released', async () => {
    const permits = new Permits(1);
    const release = await permits.take(never());
    release?.();
    release?.();
    expect(await permits.take(never())).not.toBeNull();
    const waiting = permits.take(never());
    expect(permits.waiting).toBe(1);
    void waiting;
  });

  it('are not given to who was cancelled before asking', async () => {
    const permits = new Permits(null);
    expect(await permits.take(AbortSignal.abort())).toBeNull();
  });
});
