import type { ApprovalAsker } from './approval-asker.ts';
import type { Clock } from './base/clock.ts';
import type { Random } from './base/random.ts';
import type { JournalEvent } from './runtime/core/event.ts';
import type { ApprovalRequest } from './runtime/engine.ts';
import type { AnyTool } from './tools/invoke-tool.ts';

export type LogLevel = 'info' | 'warn' | 'error';

/** What a line is about, for programs that read logs. */
export type LogFields = Readonly<Record<string, string | number | null>>;

export interface TroupeOptions {
  /** Path of a `troupe.toml`, or the same tables as an object; default `troupe.toml` in the working directory. */
  readonly config?: string | object;
  /** Agents given in code, by id: the fields of `[agents.<id>]`. */
  readonly agents?: Readonly<Record<string, object>>;
  /** Where the journal and everything else of this host is kept; default `.troupe` in the working directory. */
  readonly stateDir?: string;
  /** Threads that agents' actors share; default `[runtime] actor_threads`. */
  readonly threads?: number;
  /** Threads for CPU-bound tools; default `[runtime] compute_threads`, else the number of cores. */
  readonly computeThreads?: number;
  /** Start the jobs of `[[cron]]` when they are due, until `close` (SPEC X5). Off by default. */
  readonly cron?: boolean;
  /** Take up every run again that an earlier host on this state directory left unfinished (SPEC J5). */
  readonly resume?: boolean;
  /** Modules whose exported tools run on troupe's threads (SPEC L1). */
  readonly tools?: readonly (string | URL)[];
  /** Tools that are closures of this program and run on this thread. */
  readonly hostTools?: readonly AnyTool[];
  /** Asked before a call that needs a person's approval; `approve` and `troupe approve` may answer first. */
  readonly onApproval?: ApprovalAsker;
  /**
   * What becomes of a call that needs an approval where there is no `onApproval` and nobody listens to `approval`: it
   * waits for `approve` or `troupe approve` up to `approval_timeout_secs`, or is denied at once (the default).
   */
  readonly approvals?: 'wait' | 'deny';
  /** Told in one line of what an operator may want to know: a thread that died, a journal that failed, a job that was due. */
  readonly onLog?: (level: LogLevel, text: string, fields?: LogFields) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * What `troupe.on` hears: `event` for each journaled event, `delta` for each piece of an answer as it is written, `approval`
 * for each call that begins to wait for `approve`.
 */
export interface TroupeEvents {
  event: (event: JournalEvent) => void;
  approval: (request: ApprovalRequest) => void;
  delta: (delta: { readonly runId: string; readonly turn: number; readonly text: string }) => void;
}
