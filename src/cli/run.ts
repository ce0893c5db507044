import { pino } from 'pino';
import { Troupe } from '../host.ts';
import type { RunOutcome } from '../run.ts';
import type { JournalEvent } from '../runtime/core/event.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { exitOfStatus } from './core/exit-code.ts';
import { outcomeJson } from './core/outcome-json.ts';
import { jsonLine, safeBlock, safeJson } from './core/plain-text.ts';
import { openProgress } from './progress.ts';
import { readPrompt } from './read-prompt.ts';
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
  const { terminal, options } = context;
  checkedConfig(context);
  const prompt = await readPrompt(args.prompt);
  const stop = new AbortController();
  const signals = onStopSignals((signal) => {
    if (!options.quiet) terminal.say(`${signal}: cancelling; once more kills`);
    stop.abort(`stopped by the user (${signal})`);
  });
  try {
    const outcome = await runIn(context, { ...args, prompt }, stop.signal);
    show(context, outcome);
    return exitOfStatus(outcome.status);
  } finally {
    signals.release();
  }
}

async function runIn(
  context: Context,
  { agent, prompt, project, workspace, maxTurns }: RunArguments & { readonly prompt: string },
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { terminal, options } = context;
  const log = diagnostics(context);
  const troupe = await Troupe.open({
    config: options.config,
    stateDir: options.state,
    onLog: (level, text) => log[level](text),
  });
  const early: JournalEvent[] = [];
  let see = (event: JournalEvent): void => {
    early.push(event);
  };
  troupe.on('event', (event) => see(event));
  try {
    const run = await troupe.start({
      agent,
      prompt,
      signal,
      ...(project === undefined ? {} : { project }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
    });
    if (!options.quiet) terminal.say(`run ${run.id}`);
    const progress = openProgress(context, run.id, wallClock);
    for (const event of early.splice(0)) progress.see(event);
    see = (event) => progress.see(event);
    try {
      return await run.result();
    } finally {
      progress.end();
    }
  } finally {
    await troupe.close({ cancel: 'the command that carried it ended' });
  }
}

/** Records for operators, one JSON object a line on stderr. */
function diagnostics({ terminal, options }: Context) {
  const write = (line: string) => terminal.say(safeJson(line.trimEnd()));
  return pino({ level: options.logLevel, base: null }, { write });
}

/** SPEC K1: the final answer alone on stdout, or one JSON object; all else on stderr. */
function show({ terminal, options }: Context, outcome: RunOutcome): void {
  if (options.json) terminal.print(jsonLine(outcomeJson(outcome)));
  else if (outcome.status === 'completed') {
    terminal.print(terminal.outIsTerminal ? safeBlock(outcome.answer) : outcome.answer);
  }
  if (outcome.status === 'completed') return;
  const why = outcome.error?.message ?? outcome.reason ?? 'no reason was given';
  const colour = outcome.status === 'failed' ? 'red' : 'yellow';
  terminal.say(`${terminal.paintErr(colour, outcome.status)}: ${safeBlock(why)}`);
  if (options.quiet) return;
  if (outcome.status === 'incomplete' && outcome.answer !== '' && !options.json) {
    terminal.say(`its last words, which are no final answer:\n${safeBlock(outcome.answer)}`);
  }
  if (outcome.status !== 'cancelled') terminal.say(nextStep(outcome));
}

function nextStep({ runId, reason, status }: RunOutcome): string {
  const log = `\`troupe log ${runId} --subtree\` shows how it came to that`;
  if (status !== 'incomplete') return log;
  if (reason === 'turn_limit') return `${log}; --max-turns gives it more turns`;
  if (reason === 'run_time_limit')
    return `${log}; max_run_secs of its runtime profile gives it more time`;
  return log;
}
