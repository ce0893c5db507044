import type { JsonObject } from '../../base/json.ts';
import type { CronDue } from './cron.ts';
import type { Usage } from './model.ts';
import type { Narrowing } from './narrowing.ts';
import type { PlanEvent, ReviewVerdict } from './plan-event.ts';
import type { PlanSpec } from './plan-spec.ts';
import type { RunSpec } from './run-spec.ts';
import type { Effect, ToolEffect, ToolPlace } from './tool.ts';

/** What will be done about one call of the model's answer: decided once, by gates and checks, and journaled with it. */
export type CallVerdict =
  | {
      readonly kind: 'tool';
      readonly place: ToolPlace;
      readonly effect: ToolEffect;
      readonly approval: boolean;
    }
  | {
      readonly kind: 'delegate';
      readonly agent_id: string;
      readonly prompt: string;
      readonly max_turns: number | null;
      readonly approval: boolean;
      /** The call returns at once, and this is how the child is asked about (SPEC D9). A UUID. */
      readonly task_id?: string;
      /** SPEC G8; absent = bounded by its caller. */
      readonly mode?: 'independent';
    }
  | {
      readonly kind: 'subagent';
      readonly prompt: string;
      readonly approval: boolean;
      /** SPEC S4; absent = it has its parent's rights. */
      readonly narrowing?: Narrowing;
    }
  /** The same prompt to several agents, each a child of its own (SPEC D8); one approval for all of them. */
  | {
      readonly kind: 'parallel';
      readonly entries: readonly ParallelEntry[];
      readonly prompt: string;
      readonly max_turns: number | null;
      readonly approval: boolean;
    }
  /** A graph of tasks, checked whole (SPEC P1); one approval for all of it (SPEC P13). */
  | { readonly kind: 'plan'; readonly plan: PlanSpec; readonly approval: boolean }
  /** The call that ends a reviewer's run (SPEC P7). */
  | { readonly kind: 'review'; readonly review: ReviewVerdict }
  /** The result of an earlier identical delegation of the same answer is this call's too (SPEC R6). */
  | { readonly kind: 'shared'; readonly with: number }
  | { readonly kind: 'refused'; readonly error_type: string; readonly words: string };

/** One child that a parallel call asks for. */
export interface ParallelEntry {
  readonly agent_id: string;
  /** SPEC G8; absent = bounded by its caller. */
  readonly mode?: 'independent';
}

export interface AnsweredCall {
  /** Unique within the answer, also where a sloppy model repeated one. */
  readonly id: string;
  readonly name: string;
  readonly args_text: string;
  readonly provider_meta?: JsonObject;
  readonly verdict: CallVerdict;
}

/** How a child run ended, as its parent needs it. */
export interface ChildOutcome {
  readonly child_run_id: string;
  readonly agent_id: string;
  readonly status: RunStatusEnded;
  readonly answer: string;
  /** Where the whole answer is kept, if it is longer than the parent may show its model. */
  readonly full_path: string | null;
  readonly turns: number;
  readonly effect: Effect;
  /** Names of operations whose effect is uncertain. */
  readonly operations: readonly string[];
  readonly usage: Usage;
  readonly cost_cents: number | null;
  readonly error_type: string | null;
  readonly error: string | null;
  /** Why an incomplete run ended, or why a cancelled one was cancelled. */
  readonly reason: string | null;
  /** Who cancelled it: `deadline` for its own delegation timeout. */
  readonly stopped_by: string | null;
  /** `<provider type>/<model>` of SPEC D5. */
  readonly model_label: string;
  /** What a reviewer submitted (SPEC P7). */
  readonly review: ReviewVerdict | null;
}

export type RunStatusEnded = 'completed' | 'failed' | 'cancelled' | 'incomplete';

/** What every terminal event says, whatever the status. */
export interface TerminalData {
  readonly answer: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost_cents: number | null;
  readonly effect: Effect;
  readonly operations: readonly string[];
  readonly error_type: string | null;
  readonly error: string | null;
  /** Of an incomplete run `turn_limit`, `run_time_limit`, `cost_budget`, `answer_length`; of a cancelled one words. */
  readonly reason: string | null;
  readonly by: string | null;
  /** What a reviewer submitted (SPEC P7). */
  readonly review: ReviewVerdict | null;
}

/** The cause that is bringing a run to its end before its own final answer; the first one wins (SPEC R13). */
export interface StopData {
  readonly status: 'cancelled' | 'incomplete' | 'failed';
  /** Words for people, or the closed reason of an incomplete run. */
  readonly reason: string;
  /** `user`, `parent`, `deadline`, `limit`, `runtime`. */
  readonly by: string;
  readonly error_type: string | null;
}

/** Why a run had to be taken up again. */
export interface ResumeData {
  /** `host_lost`: the process ended; `thread_lost`: only the thread under the run's actor. */
  readonly why: 'host_lost' | 'thread_lost';
  readonly detail: string;
  /** Its own work was going on when that happened, so it may have been the cause. */
  readonly suspect: boolean;
}

export interface Note {
  readonly note_id: string;
  readonly text: string;
}

interface Shapes {
  'run.started': RunSpec;
  /** The run goes on after its host or its thread was lost (SPEC J5, J7). */
  'run.resumed': ResumeData;
  'run.user_note': Note & {
    readonly forwarded_to: readonly string[];
    readonly forward_failed: readonly string[];
  };
  /** Its job was due once more while it still went on (SPEC X5). */
  'run.cron_skipped': CronDue;
  'run.stopping': StopData;
  'run.completed': TerminalData;
  'run.failed': TerminalData;
  'run.cancelled': TerminalData;
  'run.incomplete': TerminalData;
  'note.read': { readonly note_id: string; readonly turn: number };
  'note.too_late': { readonly note_id: string };
  'note.dead_letter': { readonly note_id: string; readonly why: string };
  'turn.started': { readonly turn: number };
  'turn.completed': { readonly turn: number };
  'model.started': { readonly turn: number; readonly provider: string; readonly model: string };
  'model.completed': {
    readonly turn: number;
    readonly text: string;
    readonly calls: readonly AnsweredCall[];
    readonly usage: Usage;
    readonly cost_cents: number | null;
    readonly served_by: string;
    readonly finish_reason: string;
    readonly attempts: number;
    readonly provider_meta?: JsonObject;
    readonly raw?: JsonObject;
  };
  'model.failed': { readonly turn: number; readonly error_type: string; readonly error: string };
  'tool.started': {
    readonly call_id: string;
    readonly name: string;
    readonly effect_class: ToolEffect;
  };
  'tool.completed': {
    readonly call_id: string;
    readonly name: string;
    readonly text: string;
    /** Length of the whole result in UTF-16 units; more than `text` holds where it was cut. */
    readonly chars: number;
    readonly full_path: string | null;
    readonly shared_with?: number;
    /** What a program may want beside the text: for a delegation the structured result of SPEC D5. */
    readonly structured?: JsonObject;
  };
  'tool.failed': {
    readonly call_id: string;
    readonly name: string;
    readonly error_type: string;
    readonly error: string;
    readonly effect: Effect;
    /** Partial output, shown to the model with the error. */
    readonly text: string;
    readonly chars: number;
    readonly full_path: string | null;
    readonly shared_with?: number;
    readonly structured?: JsonObject;
  };
  'approval.requested': {
    readonly call_id: string;
    readonly name: string;
    readonly args_text: string;
  };
  'approval.granted': { readonly call_id: string; readonly by: string };
  'approval.denied': { readonly call_id: string; readonly by: string; readonly why: string };
  'delegation.started': {
    readonly child_run_id: string;
    readonly agent_id: string;
    readonly ordinal: number;
    readonly depth: number;
    readonly call: number;
    readonly kind: 'delegate' | 'subagent';
    /** Of a background child (SPEC D9). */
    readonly task_id?: string;
  };
  'delegation.completed': ChildEnd & { readonly child_status: RunStatusEnded };
  'delegation.failed': ChildEnd & { readonly error_type: string };
}

interface ChildEnd {
  readonly child_run_id: string;
  readonly agent_id: string;
  readonly ordinal: number;
  readonly turns: number;
  readonly effect: Effect;
  readonly operations: readonly string[];
  readonly usage: Usage;
  readonly cost_cents: number | null;
  /** Of a child of a parallel call, whose result waits for others: its part of it (SPEC D8). */
  readonly part?: { readonly text: string; readonly full_path: string | null };
}

export type RunEventType = keyof Shapes;
export type RunEventData<Type extends RunEventType> = Shapes[Type];

/** What the run machine decides on. The driver adds ids, cause, time and place in the journal. */
export type RunEvent =
  | {
      [Type in RunEventType]: {
        readonly type: Type;
        readonly frame: string | null;
        readonly data: Shapes[Type];
      };
    }[RunEventType]
  | PlanEvent;

export function runEvent<Type extends RunEventType>(
  type: Type,
  frame: string | null,
  data: Shapes[Type],
): RunEvent {
  return { type, frame, data } as RunEvent;
}

export function turnFrame(turn: number): string {
  return `turn-${turn}`;
}

/** The index of the call that a frame names, 0 where it names none. */
export function callIndexOf(frame: string | null): number {
  return Number(/\/call-(\d+)$/.exec(frame ?? '')?.[1] ?? 0);
}

export function callFrame(turn: number, call: number): string {
  return `turn-${turn}/call-${call}`;
}
