import type { FaultWire } from '../../base/fault.ts';
import type { BudgetRefusal } from './budget-line.ts';
import type { CronDue } from './cron.ts';
import type { ModelAnswer } from './model.ts';
import type { CallVerdict, ChildOutcome, Note, ResumeData, StopData } from './run-event.ts';
import type { RunSpec } from './run-spec.ts';
import type { ToolOutcome } from './tool.ts';

/** How a tool call ended, with where its whole result lies if the history may not hold all of it. */
export interface KeptOutcome {
  readonly outcome: ToolOutcome;
  readonly chars: number;
  readonly fullPath: string | null;
}

export interface RefusedCall extends BudgetRefusal {
  readonly call: number;
}

/** What can happen to a run, said by its supervisor: requests from outside and outcomes of what was due. */
export type RunCommand =
  | {
      readonly type: 'start';
      readonly spec: RunSpec;
      /** Given where it is called off before it began. */
      readonly stop: StopData | null;
    }
  | {
      readonly type: 'answered';
      readonly turn: number;
      readonly answer: ModelAnswer;
      /** One a call of the answer, in its order. */
      readonly verdicts: readonly CallVerdict[];
    }
  | { readonly type: 'model-failed'; readonly turn: number; readonly fault: FaultWire }
  | {
      readonly type: 'ran';
      readonly turn: number;
      readonly call: number;
      readonly kept: KeptOutcome;
    }
  | {
      readonly type: 'approval';
      readonly turn: number;
      readonly call: number;
      readonly granted: boolean;
      readonly by: string;
      readonly why: string;
    }
  /** A background child is on its way (SPEC D9). */
  | { readonly type: 'child-began'; readonly ordinal: number }
  | { readonly type: 'child-ended'; readonly ordinal: number; readonly outcome: ChildOutcome }
  | {
      readonly type: 'note';
      readonly note: Note;
      readonly forwardedTo: readonly string[];
      readonly forwardFailed: readonly string[];
    }
  | { readonly type: 'cron-due'; readonly skipped: CronDue }
  | { readonly type: 'stop'; readonly stop: StopData }
  | {
      readonly type: 'resume';
      readonly resume: ResumeData;
      /** Calls that had not begun and for which no budget is left now. */
      readonly refused: readonly RefusedCall[];
    }
  /** Everything that was in flight for a stopping run has settled or was terminated. */
  | { readonly type: 'halted' }
  /** Decide what a long step left undone. */
  | { readonly type: 'proceed' };
