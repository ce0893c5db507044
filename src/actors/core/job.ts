import type { FaultWire } from '../../base/fault.ts';

/** Everything the compute pool says to a running job, after the job itself. */
export type ToJob = { readonly type: 'abort'; readonly reason: string };

/** Everything a running job says to the compute pool. The last two end it. */
export type FromJob =
  | { readonly type: 'progress'; readonly body: unknown }
  /** It has heard that it is to stop: its thread still takes messages. */
  | { readonly type: 'stopping' }
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly fault: FaultWire };
