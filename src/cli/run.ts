import { Troupe } from '../host.ts';
import type { Run, RunOutcome } from '../run.ts';
import type { JournalEvent } from '../runtime/core/event.ts';
import { unfinishedIn } from '../viewer.ts';
import { ownPrompt } from './approval-prompt.ts';
import { backgroundEnds } from './background-ends.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { exitOfStatus } from './core/exit-code.ts';
import { unfinishedWords } from './core/unfinished-words.ts';
import { diagnostics } from './diagnostics.ts';
import { openProgress } from './progress.ts';
import { readPrompt } from './read-prompt.ts';
import { showOutcome } from './show-outcome.ts';
import { onStopSignals } from './stop-signals.ts';
import { wallClock } from './wall-clock.ts';

export interface RunArguments {
  readonly agent: string;
  readonly prompt: string | undefined;
  readonly project?: string;
  readonly workspace?: string;
  readonly maxTurns?: number;
}

/** `troupe run`: starts a root run here, shows it, and ends with it. */
export async function runCommand(context: Context, args: RunArguments): Promise<number> {
  checkedConfig(context);
  const prompt = await readPrompt(args.prompt);
  const { agent, project, workspace, maxTurns } = args;
  return carryRun(context, (troupe, signal) =>
    troupe.start({
      agent,
      prompt,
      signal,
      ...(project === undefined ? {} : { project }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
    }),
  );
}

type Start = (troupe: Troupe, signal: AbortSignal) => Promise<Run>;

/** Starts a root run in a host of its own, shows it, and ends with it. @returns the exit code. */
export async function carryRun(context: Context, start: Start): Promise<number> {
  const { terminal, options } = context;
  const stop = new AbortController();
  const signals = onStopSignals((signal) => {
    if (!options.quiet) terminal.say(`${signal}: cancelling; once more kills`);
    stop.abort(`stopped by the user (${signal})`);
  });
  try {
    const outcome = await runIn(context, start, stop.signal);
    showOutcome(context, outcome);
    return exitOfStatus(outcome.status);
  } finally {
    signals.release();
  }
}

async function runIn(context: Context, start: Start, signal: AbortSignal): Promise<RunOutcome> {
  const { terminal, options } = context;
  const log = diagnostics(context);
  const troupe = await Troupe.open({
    config: options.config,
    stateDir: options.state,
    onApproval: ownPrompt(context, wallClock).ask,
    onLog: (level, text) => log[level](text),
  });
  const early: JournalEvent[] = [];
  let see = (event: JournalEvent): void => {
    early.push(event);
  };
  troupe.on('event', (event) => see(event));
  try {
    const unfinished = options.quiet ? 0 : unfinishedIn(options.state).value.length;
    if (unfinished > 0) terminal.say(unfinishedWords(unfinished));
    const run = await start(troupe, signal);
    if (!options.quiet) terminal.say(`run ${run.id}`);
    const progress = openProgress(context, [run.id], wallClock);
    for (const event of early.splice(0)) progress.see(event);
    see = (event) => progress.see(event);
    try {
      const outcome = await run.result();
      await backgroundEnds(context, troupe, run.id, signal);
      return outcome;
    } finally {
      progress.end();
    }
  } finally {
    await troupe.close({ cancel: 'the command that carried it ended' });
  }
}
