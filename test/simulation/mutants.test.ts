import { afterEach, describe, expect, it, vi } from 'vitest';
import type { endTask } from '../../src/runtime/core/plan-decide.ts';
import type { runMachine } from '../../src/runtime/core/run.ts';
import type { causeOf } from '../../src/runtime/core/run-due.ts';
import type { following } from '../../src/runtime/core/run-follow.ts';
import { firstToBreak, judgeSeed, show } from '../support/sim-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { type Hooks, NO_HOOKS } from './mutate.ts';

const hooks = vi.hoisted(
  (): Hooks => ({ machine: null, following: null, causeOf: null, endTask: null }),
);

vi.mock('../../src/runtime/core/run.ts', async (load) => {
  const real = await load<typeof import('../../src/runtime/core/run.ts')>();
  const mutated: typeof runMachine = (...about) => {
    const machine = real.runMachine(...about);
    return { ...machine, ...hooks.machine?.(machine) };
  };
  return { ...real, runMachine: mutated };
});

vi.mock('../../src/runtime/core/run-follow.ts', async (load) => {
  const real = await load<typeof import('../../src/runtime/core/run-follow.ts')>();
  const mutated: typeof following = (...about) =>
    (hooks.following?.(real.following) ?? real.following)(...about);
  return { ...real, following: mutated };
});

vi.mock('../../src/runtime/core/run-due.ts', async (load) => {
  const real = await load<typeof import('../../src/runtime/core/run-due.ts')>();
  const mutated: typeof causeOf = (state, event) =>
    (hooks.causeOf?.(real.causeOf) ?? real.causeOf)(state, event);
  return { ...real, causeOf: mutated };
});

vi.mock('../../src/runtime/core/plan-decide.ts', async (load) => {
  const real = await load<typeof import('../../src/runtime/core/plan-decide.ts')>();
  const mutated: typeof endTask = (...about) =>
    (hooks.endTask?.(real.endTask) ?? real.endTask)(...about);
  return { ...real, endTask: mutated };
});

/** Every mutant is caught within so many seeds, none of which fails without it. */
const SEEDS = 1000;

afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(hooks, NO_HOOKS);
});

describe('a runtime that is broken on purpose', () => {
  it(`breaks nothing in ${SEEDS} seeds while it is whole`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violations } = await judgeSeed(seed);
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  }, 60_000);

  it.each(MUTANTS)(
    'is caught: %s (%s)',
    async (_what, caughtBy, make) => {
      make(hooks);
      expect(await firstToBreak(caughtBy, 1, SEEDS)).not.toBeNull();
    },
    60_000,
  );

  it('can be shown at work: the story of a seed that fails is printed with its events and acts', async () => {
    expect(await show(1)).toBeNull();
    hooks.causeOf = () => () => 0;
    const story = await show(1);
    expect(story).toContain('run.started');
    expect(story).toContain('host 0: ask model');
  });
});
