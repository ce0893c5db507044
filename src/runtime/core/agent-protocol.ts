import type { Share } from '../../actors/core/shared-values.ts';
import type { FaultWire } from '../../base/fault.ts';
import type { Message } from './message.ts';
import type { ModelAnswer, ModelRef, ToModel } from './model.ts';
import type { ToolOutcome, ToolScope, ToolSpec } from './tool.ts';

/** What an agent's actor needs to begin, apart from its run: plain data, one object for all runs that begin alike. */
export interface AgentBrief {
  readonly agentId: string;
  readonly system: string;
  readonly model: ModelRef;
  /** What the model is offered. */
  readonly tools: readonly ToolSpec[];
  readonly scope: ToolScope;
}

export interface AgentInit extends AgentBrief {
  readonly runId: string;
}

/** From an actor thread to the model thread: `ToModel`, but for the beginning of a conversation, whose brief is shared. */
export type OnModelLine =
  | Exclude<ToModel, { readonly kind: 'open' }>
  | { readonly kind: 'open-shared'; readonly runId: string; readonly brief: Share<AgentBrief> };

/** From a run's supervisor to its actor. */
export type ToAgent =
  | {
      readonly kind: 'ask';
      readonly turn: number;
      /** The whole history where `fresh`, else what was added since the last ask. */
      readonly messages: readonly Message[];
      readonly fresh: boolean;
    }
  | {
      readonly kind: 'run';
      readonly turn: number;
      readonly call: number;
      readonly name: string;
      readonly argsText: string;
      readonly callKey: string;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'abort-ask'; readonly turn: number }
  | { readonly kind: 'abort-run'; readonly turn: number; readonly call: number };

/** How much harm a call could do, where its tool can tell: for now the command lines of `shell`. */
export type CallRisk = 'low' | 'medium' | 'high';

/** What the actor's check of one call's arguments found. */
export type CallCheck =
  | { readonly ok: true; readonly risk?: CallRisk }
  | { readonly ok: false; readonly errorType: string; readonly error: string };

/** From an actor to its supervisor. Every `ask` and every `run` is answered exactly once, also when aborted. */
export type FromAgent =
  | { readonly kind: 'delta'; readonly turn: number; readonly text: string }
  | {
      readonly kind: 'answered';
      readonly turn: number;
      readonly answer: ModelAnswer;
      readonly checks: readonly CallCheck[];
    }
  | { readonly kind: 'failed'; readonly turn: number; readonly fault: FaultWire }
  /** The actor's side of the conversation was lost: the same ask is wanted again, with the whole history. */
  | { readonly kind: 'stale'; readonly turn: number }
  | {
      readonly kind: 'ran';
      readonly turn: number;
      readonly call: number;
      readonly outcome: ToolOutcome;
    };

/** One call for a thread of the compute pool. */
export interface ComputeJob {
  readonly name: string;
  readonly module: { readonly url: string; readonly exportName: string } | null;
  readonly argsText: string;
  readonly runId: string;
  readonly agentId: string;
  readonly callKey: string;
  readonly timeoutMs: number;
  readonly scope: ToolScope;
}
