import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { Fault, messageOf } from '../base/fault.ts';
import { agentsCommand } from './agents.ts';
import { approvalsCommand } from './approvals.ts';
import { answerCommand } from './approve.ts';
import { cancelCommand } from './cancel.ts';
import { checkCommand } from './check.ts';
import { type Context, type GlobalOptions, LOG_LEVELS } from './context.ts';
import { EXIT, exitOfFault } from './core/exit-code.ts';
import { safeBlock } from './core/plain-text.ts';
import { cronListCommand, cronNextCommand } from './cron.ts';
import { cronRunCommand } from './cron-run.ts';
import { cronStartCommand } from './cron-start.ts';
import { doctorCommand } from './doctor.ts';
import { initCommand } from './init.ts';
import { logCommand } from './log.ts';
import { memoryForgetCommand, memoryListCommand } from './memory.ts';
import { noteCommand } from './note.ts';
import { psCommand } from './ps.ts';
import { resumeCommand } from './resume.ts';
import { runCommand } from './run.ts';
import { Terminal } from './terminal.ts';
import { treeCommand } from './tree.ts';

/** Commands of SPEC section 14 that this version does not have; none of them is offered by the help. */
const LATER = ['serve'];

/** Runs one command line. @returns the exit code (SPEC K1). */
export async function runCli(argv: readonly string[]): Promise<number> {
  const terminal = new Terminal(process.stdout, process.stderr, process.env);
  let code: number = EXIT.completed;
  const program = programOf(terminal, (exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    const lost = await terminal.flushed();
    if (lost === null) return code;
    terminal.say(`${terminal.paintErr('red', 'error')}: stdout: ${safeBlock(lost.message)}`);
    return EXIT.failed;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT.usage;
    report(terminal, thrown, program.opts<GlobalOptions>().logLevel === 'debug');
    return thrown instanceof Fault ? exitOfFault(thrown.code) : EXIT.failed;
  }
}

function report(terminal: Terminal, thrown: unknown, withStack: boolean): void {
  const label = terminal.paintErr('red', 'error');
  terminal.say(`${label}: ${safeBlock(messageOf(thrown))}`);
  if (thrown instanceof Fault && !withStack) return;
  if (withStack && thrown instanceof Error) terminal.say(safeBlock(thrown.stack ?? ''));
  else terminal.say('this is a defect of troupe; --log-level debug shows where it comes from');
}

function programOf(terminal: Terminal, ended: (code: number) => void): Command {
  const program = new Command('troupe');
  const run = (command: (context: Context) => Promise<number>): Promise<void> =>
    command({ terminal, options: program.opts<GlobalOptions>() }).then(ended);
  program
    .description('Runs LLM agents that delegate work to each other, and journals every step.')
    .version(version())
    .option('--config <file>', 'the configuration', 'troupe.toml')
    .option('--state <folder>', 'where the journal is kept', '.troupe')
    .option('--json', 'print JSON on stdout', false)
    .option('--quiet', 'nothing on stderr but errors', false)
    .addOption(
      new Option('--log-level <level>', 'least severe diagnostics that reach stderr')
        .choices(LOG_LEVELS)
        .default('warn'),
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => terminal.say(safeBlock(text.trimEnd())),
    })
    .showHelpAfterError('`troupe --help` shows what there is')
    .helpCommand(false)
    .exitOverride();
  addRuns(program, run);
  addViews(program, run);
  addSteering(program, run);
  addApprovals(program, run);
  addCron(program, run);
  addMemory(program, run);
  addConfiguration(program, run);
  addLater(program, terminal, ended);
  return program;
}

type Runner = (command: (context: Context) => Promise<number>) => Promise<void>;

function addRuns(program: Command, run: Runner): void {
  program
    .command('run')
    .description('start an agent and wait for its answer')
    .argument('<agent>', 'id or name of a configured agent')
    .argument('[prompt]', 'what to do; - or nothing reads it from stdin')
    .option('--project <id>', 'the project whose agents it may see')
    .option('--workspace <folder>', "where its tools work; default the configuration's folder")
    .option('--max-turns <count>', 'turns at most', positive)
    .action((agent: string, prompt: string | undefined, options: object) =>
      run((context) => runCommand(context, { ...options, agent, prompt })),
    );
  program
    .command('resume')
    .description('go on with every run that a lost host left unfinished')
    .action(() => run(resumeCommand));
}

function addViews(program: Command, run: Runner): void {
  program
    .command('ps')
    .description('list the runs, the newest last')
    .action(() => run(psCommand));
  program
    .command('tree')
    .description('show a run and everything below it')
    .argument('<run>', 'its id, or the beginning of it')
    .action((asked: string) => run((context) => treeCommand(context, asked)));
  program
    .command('log')
    .description('print what is journaled of a run')
    .argument('<run>', 'its id, or the beginning of it')
    .option('--follow', 'go on until the run ends', false)
    .option('--subtree', 'also of everything below it', false)
    .action((asked: string, options: { follow: boolean; subtree: boolean }) =>
      run((context) => logCommand(context, { ...options, run: asked })),
    );
  program
    .command('doctor')
    .description('audit the journal and its folder, and say what to do')
    .action(() => run(doctorCommand));
}

function addSteering(program: Command, run: Runner): void {
  program
    .command('note')
    .description('tell a live run something; it reads it at its next turn')
    .argument('<run>', 'its id, or the beginning of it')
    .argument('<text...>', 'what it should know')
    .option('--no-wait', 'do not wait until it has been read')
    .action((asked: string, words: readonly string[], options: { wait: boolean }) =>
      run((context) => noteCommand(context, { ...options, run: asked, text: words.join(' ') })),
    );
  program
    .command('cancel')
    .description('stop a live run, or one child of it')
    .argument('<run>', 'its id, or the beginning of it')
    .argument('[reason...]', 'why; the journal keeps it')
    .action((asked: string, words: readonly string[]) => {
      const reason = words.length === 0 ? undefined : words.join(' ');
      return run((context) => cancelCommand(context, { run: asked, reason }));
    });
}

function addApprovals(program: Command, run: Runner): void {
  program
    .command('approvals')
    .description('list the calls that wait for your approval')
    .action(() => run(approvalsCommand));
  program
    .command('approve')
    .description('let a call happen that waits for your approval')
    .argument('<id>', 'its id, whole')
    .action((id: string) =>
      run((context) => answerCommand(context, { id, granted: true, reason: undefined })),
    );
  program
    .command('deny')
    .description('refuse a call that waits for your approval')
    .argument('<id>', 'its id, whole')
    .argument('[reason...]', 'why; the model reads it')
    .action((id: string, words: readonly string[]) => {
      const reason = words.length === 0 ? undefined : words.join(' ');
      return run((context) => answerCommand(context, { id, granted: false, reason }));
    });
}

function addCron(program: Command, run: Runner): void {
  const cron = program
    .command('cron')
    .description('list the jobs of [[cron]], or run them')
    .action(() => run(cronListCommand));
  cron
    .command('start')
    .description('stay, and start each job when it is due')
    .action(() => run(cronStartCommand));
  cron
    .command('run-now')
    .description('run a job now, whatever its schedule says, and wait for its answer')
    .argument('<job>', 'its id')
    .action((job: string) => run((context) => cronRunCommand(context, job)));
  cron
    .command('next')
    .description('print when a job is due next')
    .argument('<job>', 'its id')
    .option('--count <times>', 'how many times', positive, 5)
    .action((job: string, options: { count: number }) =>
      run((context) => cronNextCommand(context, { ...options, job })),
    );
}

function addMemory(program: Command, run: Runner): void {
  const memory = program
    .command('memory')
    .description('list what the agents remember, or take something away')
    .option('--agent <id>', 'only of this agent')
    .action((options: { agent?: string }) => run((context) => memoryListCommand(context, options)));
  memory
    .command('forget')
    .description('take one memory away')
    .argument('<agent>', 'whose it is')
    .argument('<key>', 'its key')
    .action((agent: string, key: string) =>
      run((context) => memoryForgetCommand(context, { agent, key })),
    );
}

function addConfiguration(program: Command, run: Runner): void {
  program
    .command('agents')
    .description('list the agents, or whom one of them may delegate to')
    .option('--from <agent>', 'id or name of the one that delegates')
    .action((options: { from?: string }) => run((context) => agentsCommand(context, options.from)));
  program
    .command('check')
    .description('validate the configuration')
    .action(() => run(checkCommand));
  program
    .command('init')
    .description('write a small commented configuration')
    .action(() => run(initCommand));
}

function addLater(program: Command, terminal: Terminal, ended: (code: number) => void): void {
  for (const name of LATER) {
    program
      .command(name, { hidden: true })
      .argument('[rest...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(() => {
        const words = 'the library starts and follows runs from a program';
        terminal.say(`error: \`troupe ${name}\` comes with a later version; ${words}`);
        ended(EXIT.usage);
      });
  }
}

function positive(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  const { version: of } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return of;
}
