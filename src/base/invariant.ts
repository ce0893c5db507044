import { Fault } from './fault.ts';

/** A belief of the authors. Where it does not hold, the actor that found out dies with code `defect`. */
export function invariant(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Fault('defect', `invariant broken: ${why}`, { retry: 'never' });
}
