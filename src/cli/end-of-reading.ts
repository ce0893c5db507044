import type { Fault } from '../base/fault.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { safeBlock } from './core/plain-text.ts';

/** What ended a reading before the journal's end is said on stderr (SPEC J8). @returns the exit code. */
export function endOfReading({ terminal }: Context, damage: Fault | null): number {
  if (damage === null) return EXIT.completed;
  terminal.say(`${terminal.paintErr('red', 'error')}: ${safeBlock(damage.message)}`);
  return EXIT.failed;
}
