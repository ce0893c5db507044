/**
 * Owns every child process that a tool call starts, keyed by run. The only file that starts one.
 *
 * 1. Each call's shell leads a process group of its own, so that one signal reaches everything it started.
 * 2. A call resolves only when its group is gone, however it ended: by itself, by its time limit, by its signal, by
 *    `endRun` or `endAll`. What it left in the background ends with it.
 * 3. While a call runs, the end of this process ends its group too (SPEC N2: no orphan survives), short of SIGKILL.
 * 4. No listener, timer or entry outlives its call.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { messageOf } from '../base/fault.ts';
import type { ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { type Failure, failed } from './core/failure.ts';
import type { AnyTool } from './invoke-tool.ts';
import { killGroup } from './process-group.ts';
import { workspaceOf } from './resolve-path.ts';
import { SHELL_STOP_MS, ShellCall, type StopCause } from './shell-call.ts';
import { SHELL_DEFINITION } from './shell-definition.ts';
import { shellEnvironment } from './shell-environment.ts';
import { shellLineFault } from './shell-gate.ts';

interface ShellArgs {
  readonly command: string;
  readonly timeout_secs?: number;
}

interface LiveCall {
  readonly runId: string;
  readonly pgid: number;
  readonly stop: (why: StopCause) => void;
  readonly gone: Promise<ToolOutcome>;
}

/** The shells of one host. */
export class Shells {
  /** The tool `shell`; its calls belong to this owner. */
  readonly tool: AnyTool;
  readonly #owner: string;
  readonly #live = new Set<LiveCall>();
  #isClosed = false;

  /** `owner` tells the processes of this host's state directory from those of others. */
  constructor(owner: string) {
    this.#owner = owner;
    const run = (args: ShellArgs, context: ToolContext<AbortSignal>) => this.#run(args, context);
    this.tool = { ...SHELL_DEFINITION, stopGraceMs: SHELL_STOP_MS, run };
  }

  /** Calls whose processes are not all gone yet. */
  get running(): number {
    return this.#live.size;
  }

  /** Ends what the calls of one run started; resolves when it is gone. A run without calls: at once. */
  async endRun(runId: string): Promise<void> {
    await this.#end((call) => call.runId === runId, 'its run has ended');
  }

  /** Ends every call and starts no other: for the close of the host. The second time it is harmless. */
  async endAll(): Promise<void> {
    this.#isClosed = true;
    await this.#end(() => true, 'the host is closing');
  }

  async #end(which: (call: LiveCall) => boolean, words: string): Promise<void> {
    const calls = [...this.#live].filter(which);
    for (const call of calls) call.stop({ errorType: 'cancelled', words });
    await Promise.all(calls.map((call) => call.gone));
  }

  async #run(args: ShellArgs, context: ToolContext<AbortSignal>): Promise<ToolOutcome> {
    const mark = `${this.#owner}-${randomUUID()}`;
    const environment = shellEnvironment(context.scope, process.env, mark);
    const refused = await shellLineFault(context.scope, args.command, environment);
    if (refused !== null) return refused;
    if (this.#isClosed) return failed('host_closed', 'the host is closing; nothing was started');
    if (context.signal.aborted) return failed('cancelled', 'cancelled before the command started');
    const call = start(args.command, workspaceOf(context.scope), environment, mark);
    if (!(call instanceof ShellCall)) return call;
    if (call.pgid === undefined) return call.notStarted();
    const askedMs = (args.timeout_secs ?? Number.POSITIVE_INFINITY) * 1000;
    const gone = call.outcome(Math.min(askedMs, context.scope.commands.timeoutMs), context.signal);
    const live: LiveCall = { runId: context.runId, pgid: call.pgid, stop: call.stop, gone };
    this.#add(live);
    try {
      return await gone; // 2
    } finally {
      this.#remove(live); // 4
    }
  }

  #add(call: LiveCall): void {
    if (this.#live.size === 0) process.on('exit', this.#killNow); // 3
    this.#live.add(call);
  }

  #remove(call: LiveCall): void {
    this.#live.delete(call);
    if (this.#live.size === 0) process.off('exit', this.#killNow);
  }

  readonly #killNow = (): void => {
    for (const call of this.#live) killGroup(call.pgid);
  };
}

function start(
  command: string,
  cwd: string,
  env: Record<string, string>,
  mark: string,
): ShellCall | Failure {
  try {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      env,
      detached: true, // 1
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ShellCall(child, mark);
  } catch (thrown) {
    return failed('not_started', `/bin/sh could not be started: ${messageOf(thrown)}`);
  }
}
