// Ctrl-C, `kill`, or the end of the terminal, of a command that carries runs (SPEC K1). Owns the process's handlers for
// SIGINT, SIGTERM and SIGHUP.
// C1  The first signal asks for an orderly end. The second, of either kind, ends the process there and then.
import { EXIT } from './core/exit-code.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignals {
  /** Gives the signals back to the system. */
  release(): void;
}

export function onStopSignals(first: (signal: (typeof SIGNALS)[number]) => void): StopSignals {
  let stopping = false;
  const heard = (signal: (typeof SIGNALS)[number]): void => {
    if (stopping) process.exit(EXIT.cancelled); // C1
    stopping = true;
    first(signal);
  };
  for (const signal of SIGNALS) process.on(signal, heard);
  return {
    release: () => {
      for (const signal of SIGNALS) process.off(signal, heard);
    },
  };
}
