import type { ToolDefinition, ToolEffect, ToolOutcome } from '../../src/runtime/core/tool.ts';
import type { SimEngine } from './sim-engine.ts';

function tool(name: string, effect: ToolEffect, place: ToolDefinition['place']): ToolDefinition {
  const parameters = { type: 'object' };
  return { name, description: name, parameters, effect, place, timeoutMs: 1000 };
}

/** One for each effect in each place. */
export const SIM_TOOLS: ReadonlyMap<string, ToolDefinition> = new Map(
  [
    tool('work', 'read', 'actor'),
    tool('mend', 'idempotent', 'actor'),
    tool('act', 'effectful', 'actor'),
    tool('count', 'read', 'compute'),
    tool('forge', 'effectful', 'compute'),
    tool('fetch', 'read', 'host'),
    tool('set', 'idempotent', 'host'),
    tool('post', 'effectful', 'host'),
  ].map((each) => [each.name, each]),
);

/** Milliseconds after which what hears no cancel is ended in some other way. */
export const PATIENCE_MS = 3000;

/** A call that goes on in the world. */
export interface Going {
  abort(): void;
  /** What it runs on is gone: nothing more is heard of it. */
  drop(): void;
}

/** Where a call is. */
export interface CallPlace {
  readonly runId: string;
  readonly turn: number;
  readonly call: number;
}

/**
 * Plays a call: it may take effect and then answers, once, unless it is dropped. `deaf` is called in place of an answer
 * where the call has taken its thread hostage.
 */
export function playTool(
  engine: SimEngine,
  { name, effect, timeoutMs }: ToolDefinition,
  place: CallPlace,
  answer: (outcome: ToolOutcome) => void,
  deaf: (() => void) | null,
): Going {
  const { world: clock, faults, random } = engine;
  const times = engine.begin('call', place, name, effect);
  const uncertain = effect === 'read' ? 'none' : 'uncertain';
  let untime: () => void = () => undefined;
  let over = false;
  const later = (ms: number, fn: () => void) => {
    untime();
    untime = clock.after(ms, fn);
  };
  const end = (outcome: ToolOutcome) => {
    if (over) return;
    over = true;
    engine.note('said', place, name, effect, outcome.ok ? outcome.text : undefined);
    answer(outcome);
  };
  const failure = (errorType: string, kind: 'none' | 'uncertain'): ToolOutcome => {
    const about = { ok: false, errorType, error: `${name} ${errorType}`, effect: kind } as const;
    return random.chance(0.5) ? about : { ...about, text: engine.text('partial') };
  };
  const happen = () => {
    if (effect !== 'read') engine.note('effect', place, name, effect);
    const partial = random.chance(faults.toolPartial);
    later(engine.delay(), () =>
      end(
        partial
          ? failure('tool_failed', uncertain)
          : { ok: true, text: engine.text(`${name} of ${place.runId}, time ${times}`) },
      ),
    );
  };
  const isDeaf = deaf !== null && random.chance(faults.toolDeaf);
  if (isDeaf) later(PATIENCE_MS, deaf);
  else if (random.chance(faults.toolHangs)) {
    later(timeoutMs, () => end(failure('timeout', uncertain)));
  } else if (random.chance(faults.toolFails)) {
    later(engine.delay(), () => end(failure('tool_failed', 'none')));
  } else later(engine.delay(), happen);
  return {
    abort: () => {
      if (over || isDeaf || random.chance(faults.abortIgnored)) return;
      const wait = random.chance(faults.abortLate) ? random.int(PATIENCE_MS) : 1;
      later(wait, () => end(failure('cancelled', uncertain)));
    },
    drop: () => {
      over = true;
      untime();
    },
  };
}
