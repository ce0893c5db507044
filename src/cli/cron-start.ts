import { Fault } from '../base/fault.ts';
import { nextTimes } from '../cron-look.ts';
import { Troupe } from '../host.ts';
import type { CronJob } from '../runtime/core/cron.ts';
import { isTerminal, type JournalEvent } from '../runtime/core/event.ts';
import { ownPrompt } from './approval-prompt.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { dayAndTime } from './core/figures.ts';
import { safeLine } from './core/plain-text.ts';
import { diagnostics } from './diagnostics.ts';
import { onStopSignals } from './stop-signals.ts';
import { wallClock } from './wall-clock.ts';

/**
 * `troupe cron start`: stays, starts every job when it is due, and goes on with what an earlier host left unfinished. The
 * first signal lets the running ones end and starts nothing more; the second one kills.
 */
export async function cronStartCommand(context: Context): Promise<number> {
  const { options } = context;
  const { cron } = checkedConfig(context);
  const enabled = cron.filter((job) => job.enabled);
  const say = (words: string) => {
    if (!options.quiet) context.terminal.say(safeLine(words));
  };
  if (enabled.length === 0) {
    const words = `no enabled [[cron]] job in ${options.config}; add one, \`troupe cron\` lists them`;
    throw new Fault('argument.invalid', words);
  }
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const signals = onStopSignals((signal) => {
    say(`${signal}: nothing more is started; waiting for what still runs, once more kills`);
    stop();
  });
  const log = diagnostics(context);
  try {
    const troupe = await Troupe.open({
      config: options.config,
      stateDir: options.state,
      onApproval: ownPrompt(context, wallClock).ask,
      resume: true,
      cron: true,
      onLog: (level, text, fields) => {
        // What a job does is said in words, unless records were asked for.
        if (fields?.['category'] === 'cron' && !log.isLevelEnabled(level)) say(text);
        log[level](fields ?? {}, text);
      },
    });
    troupe.on('event', (event) => showEnd(say, event));
    for (const job of enabled) say(nextWords(job));
    await stopped;
    await troupe.close();
    return EXIT.completed;
  } finally {
    signals.release();
  }
}

/** Only roots: their children's ends are theirs to tell. */
function showEnd(say: (words: string) => void, event: JournalEvent): void {
  if (event.parent_run_id !== null || !isTerminal(event.type)) return;
  say(`${event.run_id} ${event.type.slice('run.'.length)}`);
}

function nextWords(job: CronJob): string {
  const [next] = nextTimes(job, wallClock.now(), 1);
  const when = next === undefined ? 'never' : dayAndTime(new Date(next).toISOString());
  return `${job.id}: ${job.agentId}, next at ${when}`;
}
