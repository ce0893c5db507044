import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../base/fault.ts';
import type { ToolOutcome } from '../runtime/core/tool.ts';
import { BoundedOutput } from './bounded-output.ts';
import { failed } from './core/failure.ts';
import { endGroup } from './process-group.ts';

/** Milliseconds between SIGTERM and SIGKILL. */
export const SHELL_GRACE_MS = 1000;
/** Milliseconds to wait for the kernel after SIGKILL. */
const FORCE_MS = 3000;
/** Milliseconds to wait for the last output once the group is gone. */
const DRAIN_MS = 500;
/** Longest time a call needs, in milliseconds, from its signal to its outcome, with as much again for a busy machine. */
export const SHELL_STOP_MS = 2 * (SHELL_GRACE_MS + FORCE_MS + DRAIN_MS);

/** `setTimeout` fires at once above this. */
const TIMER_MS_MAX = 2_147_483_647;

export interface StopCause {
  readonly errorType: 'timeout' | 'cancelled';
  readonly words: string;
}

/** The part of a child process that a call needs. */
export interface ShellChild {
  readonly pid?: number | undefined;
  /** Absent where the system had no descriptor left to start it with. */
  readonly stdout?: Readable | null;
  readonly stderr?: Readable | null;
  once(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One command from its start to the end of everything it started. Its outcome is its first cause's. */
export class ShellCall {
  readonly pgid: number | undefined;
  readonly #mark: string;
  readonly #stdout = new BoundedOutput();
  readonly #stderr = new BoundedOutput();
  readonly #streams: readonly Readable[];
  readonly #exited: Promise<Exit>;
  readonly #stopped: Promise<void>;
  #onStopped: () => void = () => undefined;
  readonly #spawnError: Promise<Error>;
  #exit: Exit | null = null;
  #cause: StopCause | null = null;

  constructor(child: ShellChild, mark: string) {
    this.pgid = child.pid;
    this.#mark = mark;
    this.#spawnError = new Promise((resolve) => child.on('error', resolve));
    this.#streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
    child.stdout?.on('data', (chunk: Buffer) => this.#stdout.take(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.take(chunk));
    this.#stopped = new Promise((resolve) => {
      this.#onStopped = resolve;
    });
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  /** Ends the call for this cause; a call that has its cause already, or whose shell has exited, keeps its own. */
  readonly stop = (cause: StopCause): void => {
    if (this.#cause !== null || this.#exit !== null) return;
    this.#cause = cause;
    this.#onStopped();
  };

  async notStarted(): Promise<ToolOutcome> {
    const error = await this.#spawnError;
    const hint = messageOf(error).includes('ENOENT') ? '; does the workspace directory exist?' : '';
    return failed('not_started', `/bin/sh could not be started: ${messageOf(error)}${hint}`);
  }

  /** Resolves when the group is gone. */
  async outcome(timeoutMs: number, signal: AbortSignal): Promise<ToolOutcome> {
    const onAbort = (): void =>
      this.stop({ errorType: 'cancelled', words: `it was cancelled: ${messageOf(signal.reason)}` });
    const onTimeout = (): void =>
      this.stop({ errorType: 'timeout', words: `it took longer than ${timeoutMs / 1000} s` });
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, TIMER_MS_MAX));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await Promise.race([this.#exited, this.#stopped]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
    const limits = { graceMs: SHELL_GRACE_MS, forceMs: FORCE_MS };
    const isGone = await endGroup(this.pgid ?? 0, this.#mark, limits);
    await this.#drain();
    return this.#verdict(isGone);
  }

  /** What the pipes still hold; a process that escaped with one of them does not hold the call. */
  async #drain(): Promise<void> {
    const done = Promise.allSettled(this.#streams.map((stream) => finished(stream)));
    const stop = new AbortController();
    await Promise.race([done, pause(DRAIN_MS, undefined, { signal: stop.signal })]);
    stop.abort();
    for (const stream of this.#streams) stream.destroy();
  }

  #verdict(isGone: boolean): ToolOutcome {
    const text = this.#text(isGone);
    if (this.#cause !== null) {
      const { errorType, words } = this.#cause;
      return failed(errorType, `The command was ended: ${words}`, { effect: 'uncertain', text });
    }
    const { code, signal } = this.#exit ?? { code: null, signal: null };
    if (code === 0) {
      const data = {
        exit_code: 0,
        stdout_bytes: this.#stdout.total,
        stderr_bytes: this.#stderr.total,
      };
      return { ok: true, text, data };
    }
    const how = code === null ? `was ended by ${signal}` : `exited with code ${code}`;
    const errorType = code === null ? 'killed_by_signal' : 'nonzero_exit';
    return failed(errorType, `The command ${how}`, { effect: 'uncertain', text });
  }

  #text(isGone: boolean): string {
    const { code } = this.#exit ?? { code: null };
    const parts = [`exit code: ${code ?? 'none'}`];
    for (const [name, output] of [
      ['stdout', this.#stdout],
      ['stderr', this.#stderr],
    ] as const) {
      if (output.total > 0) parts.push(`${name}:\n${output.text()}`);
    }
    if (parts.length === 1) parts.push('(no output)');
    if (!isGone) parts.push('[some of its processes could not be ended]');
    return parts.join('\n');
  }
}
