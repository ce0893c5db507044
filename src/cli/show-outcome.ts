import type { RunOutcome } from '../run.ts';
import type { Context } from './context.ts';
import { outcomeJson } from './core/outcome-json.ts';
import { jsonLine, safeBlock } from './core/plain-text.ts';

/** SPEC K1: the final answer alone on stdout, or one JSON object; all else on stderr. */
export function showOutcome(context: Context, outcome: RunOutcome): void {
  const { terminal, options } = context;
  if (options.json) terminal.print(jsonLine(outcomeJson(outcome)));
  else showAnswer(context, outcome);
  showEnd(context, outcome);
}

/** The answer of a completed run, on stdout. */
export function showAnswer({ terminal }: Context, outcome: RunOutcome): void {
  if (outcome.status !== 'completed') return;
  terminal.print(terminal.outIsTerminal ? safeBlock(outcome.answer) : outcome.answer);
}

/** Why a run ended without one, and what to do, on stderr. */
export function showEnd({ terminal, options }: Context, outcome: RunOutcome): void {
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
  if (reason === 'cost_budget')
    return `${log}; max_cost_per_day_cents of the risk profile that is named allows more`;
  if (reason === 'run_time_limit')
    return `${log}; max_run_secs of its runtime profile gives it more time`;
  return log;
}
