import type { FaultCode } from '../../base/fault.ts';

/** SPEC K1. */
export const EXIT = { completed: 0, failed: 1, usage: 2, incomplete: 3, cancelled: 130 } as const;

export function exitOfStatus(status: 'completed' | 'failed' | 'cancelled' | 'incomplete'): number {
  return EXIT[status];
}

/** Of several runs: a failure counts most, then a run without its own end, then one that was called off. */
export function worstExit(statuses: readonly (keyof typeof WORSE)[]): number {
  const worst = [...statuses].sort((one, other) => WORSE[other] - WORSE[one])[0];
  return exitOfStatus(worst ?? 'completed');
}

const WORSE = { completed: 0, cancelled: 1, incomplete: 2, failed: 3 } as const;

/** What the user wrote, on the command line or in the configuration, and not what happened then. */
const USAGE_CODES: readonly FaultCode[] = [
  'agent.not-found',
  'agent.unusable',
  'argument.invalid',
  'config.invalid',
  'memory.not-found',
  'scenario.invalid',
  'tool.invalid',
];

export function exitOfFault(code: FaultCode): number {
  return USAGE_CODES.includes(code) ? EXIT.usage : EXIT.failed;
}
