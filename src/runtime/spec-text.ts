import type { RunSpec } from './core/run-spec.ts';
import type { ToolScope } from './core/tool.ts';

/** What is a run's own even where everything else of it is another's too. */
const OWN = ['root_run_id', 'session_key', 'prompt', 'started_at_ms', 'max_turns'] as const;

interface Known {
  readonly spec: RunSpec;
  /** All but `OWN`, without the closing brace. */
  readonly text: string;
}

/** A run's record as JSON, of which the part that alike runs share is written once. */
export class SpecText {
  /** By the scope, which runs that begin alike have as the same object. */
  readonly #known = new WeakMap<ToolScope, Known>();

  /** An equal value as `JSON.stringify` gives; its keys may stand in another order. */
  of(spec: RunSpec): string {
    // The only part that one of two runs that begin alike may lack.
    if (spec.background !== undefined) return JSON.stringify(spec);
    let known = this.#known.get(spec.scope);
    if (known === undefined || !isAlike(known.spec, spec)) {
      known = { spec, text: sharedText(spec) };
      this.#known.set(spec.scope, known);
    }
    const own = OWN.map((key) => `,"${key}":${JSON.stringify(spec[key])}`);
    return `${known.text}${own.join('')}}`;
  }
}

function sharedText(spec: RunSpec): string {
  const shared: Partial<RunSpec> = { ...spec };
  for (const key of OWN) Reflect.deleteProperty(shared, key);
  return JSON.stringify(shared).slice(0, -1);
}

function isAlike(known: RunSpec, spec: RunSpec): boolean {
  for (const key of Object.keys(spec) as (keyof RunSpec)[]) {
    if (known[key] !== spec[key] && !isOwn(key)) return false;
  }
  return true;
}

function isOwn(key: keyof RunSpec): boolean {
  return (OWN as readonly string[]).includes(key);
}
