import type { Json, JsonObject } from '../../base/json.ts';
import type { MemoryIdentity } from './memory.ts';

/** What a call that did not succeed left outside: nothing, its effect, or nobody knows. */
export type Effect = 'none' | 'applied' | 'uncertain';

const GRAVITY: Readonly<Record<Effect, number>> = { none: 0, applied: 1, uncertain: 2 };

/** The graver of two effects. */
export function worseEffect(left: Effect, right: Effect): Effect {
  return GRAVITY[right] > GRAVITY[left] ? right : left;
}

/**
 * What a tool does outside, as its author declares it. `read`: nothing; `idempotent`: doing it twice is doing it
 * once; `effectful`: twice is twice, so a call in flight at a crash is never repeated.
 */
export type ToolEffect = 'read' | 'idempotent' | 'effectful';

/**
 * Where a tool runs. `actor`: on the run's own actor thread, so it must yield; `compute`: on a killable thread of the
 * compute pool; `host`: on the host's thread (closures, child processes); `control`: by the run's supervisor.
 */
export type ToolPlace = 'actor' | 'compute' | 'host' | 'control';

/** What a model is told about a tool. `parameters` is a JSON Schema (draft-07) of an object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

/** A tool as the registry knows it. `module` names the file that a thread imports to run it; absent for built-ins. */
export interface ToolDefinition extends ToolSpec {
  readonly effect: ToolEffect;
  readonly place: ToolPlace;
  /** Milliseconds one call may take before it fails with `tool.timeout`. */
  readonly timeoutMs: number;
  readonly module?: { readonly url: string; readonly exportName: string };
}

/** Which files a run's tools may touch. Every path is absolute and without symlinks as far as it existed at start. */
export interface FileScope {
  readonly workspaceDir: string;
  /** Only the workspace and the roots below; else anything that is not forbidden. */
  readonly workspaceOnly: boolean;
  readonly roots: readonly string[];
  readonly readRoots: readonly string[];
  readonly writeRoots: readonly string[];
  readonly forbidden: readonly string[];
  /** Never writable by a tool, whatever the roots say: troupe's own config, journal and state directory. */
  readonly protected: readonly string[];
}

/** A scope that lists nothing: its workspace and, unless `workspaceOnly`, all else. */
export function plainScope(workspaceDir: string, workspaceOnly: boolean): FileScope {
  const none = { roots: [], readRoots: [], writeRoots: [], forbidden: [], protected: [] };
  return { workspaceDir, workspaceOnly, ...none };
}

/** What a run's shell may start. */
export interface CommandScope {
  /** Names of programs; empty = none. */
  readonly allowed: readonly string[];
  readonly envPassthrough: readonly string[];
  readonly timeoutMs: number;
  readonly blockHighRisk: boolean;
}

/** The rights under which one call runs: the agent's own file scope AND the initiator's frozen one (SPEC R9). */
export interface ToolScope {
  readonly files: readonly FileScope[];
  readonly commands: CommandScope;
}

/** The part of `AbortSignal` that core needs; a real `AbortSignal` fits. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a tool is handed beside its arguments. */
export interface ToolContext<Signal extends CancelSignal = CancelSignal> {
  readonly runId: string;
  readonly agentId: string;
  /** Stable over restarts, unique to this call: `<run>/<frame>`. Pass it to an API that takes an idempotency key. */
  readonly callKey: string;
  readonly signal: Signal;
  readonly scope: ToolScope;
  /** Whose memory the run has; only tools on the host's thread are told. */
  readonly memory?: MemoryIdentity | undefined;
  /** Keeps what was produced so far, so that a failing or cancelled call still shows it to the model. */
  progress(partialText: string): void;
}

/** How a call ended. `text` of a failure is its partial output; the model reads both (SPEC R12). */
export type ToolOutcome =
  | { readonly ok: true; readonly text: string; readonly data?: Json }
  | {
      readonly ok: false;
      /** A closed vocabulary a tool: `not_found`, `outside_scope`, `invalid_arguments`, `timeout`, … */
      readonly errorType: string;
      readonly error: string;
      readonly effect: Effect;
      readonly text?: string;
    };

/** A tool with its code. `run` may return text, any JSON (shown as such), or a whole outcome; it may throw. */
export interface Tool<Args = never, Signal extends CancelSignal = CancelSignal>
  extends ToolDefinition {
  run(args: Args, context: ToolContext<Signal>): Promise<ToolOutcome | Json> | ToolOutcome | Json;
}
