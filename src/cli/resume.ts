import { Troupe } from '../host.ts';
import type { Run, RunOutcome } from '../run.ts';
import type { JournalEvent } from '../runtime/core/event.ts';
import { rootOf } from '../runtime/core/run-id.ts';
import { damageIn, unfinishedIn } from '../viewer.ts';
import { ownPrompt } from './approval-prompt.ts';
import { backgroundEnds } from './background-ends.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { worstExit } from './core/exit-code.ts';
import { outcomeJson } from './core/outcome-json.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { diagnostics } from './diagnostics.ts';
import { openProgress } from './progress.ts';
import { showAnswer, showEnd } from './show-outcome.ts';
import { onStopSignals } from './stop-signals.ts';
import { wallClock } from './wall-clock.ts';

/** `troupe resume`: goes on with every run that an earlier host left unfinished, and ends with them (SPEC J5). */
export async function resumeCommand(context: Context): Promise<number> {
  const { terminal, options } = context;
  checkedConfig(context);
  // Asked without a host, so that a folder in which nothing ever ran stays as it is.
  const unfinished = unfinishedIn(options.state);
  if (unfinished.damage !== null) throw unfinished.damage;
  if (unfinished.value.length === 0) {
    const damage = damageIn(options.state);
    if (damage !== null) throw damage;
    return nothing(context);
  }
  const stop = new AbortController();
  const signals = onStopSignals((signal) => {
    if (!options.quiet) terminal.say(`${signal}: cancelling; once more kills`);
    stop.abort(`stopped by the user (${signal})`);
  });
  try {
    const outcomes = await resumeIn(context, stop.signal);
    if (outcomes.length === 0) return nothing(context);
    show(context, outcomes);
    return worstExit(outcomes.map(({ status }) => status));
  } finally {
    signals.release();
  }
}

async function resumeIn(context: Context, signal: AbortSignal): Promise<readonly RunOutcome[]> {
  const { options } = context;
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
    const before = troupe.journal.lastSeq;
    const runs = await troupe.resume();
    const cancel = () => void cancelAll(runs, String(signal.reason));
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    if (!options.quiet) for (const run of runs) context.terminal.say(`run ${run.id}`);
    const roots = [...new Set(runs.map((run) => rootOf(run.id)))];
    const progress = openProgress(context, roots, wallClock);
    try {
      for (const root of roots) {
        for await (const event of troupe.journal.read({ subtreeOf: root })) {
          if (event.seq <= before) progress.recall(event);
        }
      }
      for (const event of early.splice(0)) progress.see(event);
      see = (event) => progress.see(event);
      const outcomes = await Promise.all(runs.map((run) => run.result()));
      for (const root of roots) await backgroundEnds(context, troupe, root, signal);
      return outcomes;
    } finally {
      progress.end();
    }
  } finally {
    await troupe.close({ cancel: 'the command that carried it ended' });
  }
}

async function cancelAll(runs: readonly Run[], reason: string): Promise<void> {
  await Promise.allSettled(runs.map((run) => run.cancel(reason)));
}

function nothing({ terminal, options }: Context): number {
  if (options.json) terminal.print(jsonLine([]));
  if (!options.quiet) terminal.say(`nothing to resume in ${safeLine(options.state)}`);
  return worstExit([]);
}

/** Several answers are told apart by a line above each; one stands alone, as `troupe run` prints it. */
function show(context: Context, outcomes: readonly RunOutcome[]): void {
  const { terminal, options } = context;
  if (options.json) terminal.print(jsonLine(outcomes.map(outcomeJson)));
  for (const outcome of outcomes) {
    if (!options.json) {
      if (outcomes.length > 1) terminal.print(`${outcome.runId} ${outcome.status}`);
      showAnswer(context, outcome);
    }
    if (outcomes.length > 1 && outcome.status !== 'completed') terminal.say(outcome.runId);
    showEnd(context, outcome);
  }
}
