/**
 * The real command in processes of its own, in a folder of the test, with a model server whose words the test writes.
 *
 *   const stage = await openCli();
 *   stage.play({ lead: [delegate('worker', 'part'), 'all done'], worker: 'my part' });
 *   const run = stage.start(['run', 'lead', 'go']);
 *   const [, runId] = await run.says(/^run (\S+)/m);
 *   expect(await run.code).toBe(0);
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type ModelServer, type Reply, startModelServer } from './model-server.ts';

const CLI = fileURLToPath(new URL('../../build/cli.js', import.meta.url));

/** What an agent says in each of its turns (the last again and again); a function may wait for the test. */
export type Part = readonly (Reply | (() => Reply | Promise<Reply>))[];

export interface CliOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A file in place of the pipe that the test reads. */
  readonly stdout?: string;
}

export class CliProcess {
  readonly code: Promise<number | string>;
  out = '';
  err = '';
  readonly #child: ChildProcess;
  #heard: () => void = () => undefined;
  #ended = false;

  constructor(cwd: string, args: readonly string[], { stdin, env = {}, stdout: file }: CliOptions) {
    const { FORCE_COLOR: _colour, ...inherited } = process.env;
    const target = file === undefined ? 'pipe' : openSync(file, 'w');
    this.#child = spawn(process.execPath, [CLI, ...args], {
      cwd,
      env: { ...inherited, ...env },
      stdio: ['pipe', target, 'pipe'],
    });
    if (typeof target === 'number') closeSync(target);
    const { stdout, stderr, stdin: input } = this.#child;
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#heard();
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
      this.#heard();
    });
    input?.on('error', () => undefined);
    input?.end(stdin ?? '');
    this.code = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        this.#ended = true;
        this.#heard();
        resolve(code ?? signal ?? 'lost');
      });
    });
  }

  /** The first match in what it has said on stderr or stdout, as soon as it is there. */
  async says(pattern: RegExp, where: 'err' | 'out' = 'err'): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this[where]);
      if (found !== null) return found;
      if (this.#ended) throw new Error(`it ended without ${pattern}:\n${this.err}\n${this.out}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** Stops reading its stdout, as `| head` does. */
  hangUp(): void {
    this.#child.stdout?.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

export interface Finished {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

export class CliStage {
  readonly dir: string;
  readonly server: ModelServer;
  readonly #processes: CliProcess[] = [];

  constructor(dir: string, server: ModelServer) {
    this.dir = dir;
    this.server = server;
  }

  play(parts: Readonly<Record<string, Part>>): void {
    this.server.on((request) => {
      const part = parts[request.system.replace('agent:', '')] ?? [];
      const turn = request.messages.filter((message) => message.role === 'assistant').length;
      const said = part[Math.min(turn, part.length - 1)] ?? 'ok';
      return typeof said === 'function' ? said() : said;
    });
  }

  start(args: readonly string[], options: CliOptions = {}): CliProcess {
    const started = new CliProcess(this.dir, args, options);
    this.#processes.push(started);
    return started;
  }

  async cli(...args: readonly string[]): Promise<Finished> {
    const started = this.start(args);
    return { code: await started.code, out: started.out, err: started.err };
  }

  write(name: string, text: string, mode = 0o644): void {
    writeFileSync(join(this.dir, name), text, { mode });
  }

  async close(): Promise<void> {
    for (const each of this.#processes) each.kill('SIGKILL');
    await Promise.all(this.#processes.map((each) => each.code));
    await this.server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Agents `lead`, `worker` and `quick` ask the model server, `puppet` plays `scenario.yaml`. Closed with the test. */
export async function openCli(): Promise<CliStage> {
  const server = await startModelServer();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-cli-')));
  const stage = new CliStage(dir, server);
  onTestFinished(() => stage.close());
  stage.write('troupe.toml', configFor(server.url));
  stage.write(
    'scenario.yaml',
    'agents:\n  puppet:\n    turns: [{ text: "I only play: {{ prompt }}" }]\n',
  );
  return stage;
}

function configFor(url: string): string {
  const agent = (id: string, provider: string) =>
    `[agents.${id}]\nmodel_provider = "${provider}"\nrisk_profile = "p"\nruntime_profile = "r"\nsystem_prompt = "agent:${id}"\n`;
  return `
[providers.models.openai-compatible.local]
base_url = "${url}"
model = "m"
max_retries = 0

[providers.models.scripted.words]
file = "scenario.yaml"

[risk_profiles.p]
autonomy = "full"
delegation_policy = { mode = "allow" }
allowed_commands = ["./stubborn"]
block_high_risk_commands = false

[runtime_profiles.r]
max_delegation_width = 2

${agent('lead', 'openai-compatible.local')}
${agent('worker', 'openai-compatible.local')}
${agent('quick', 'openai-compatible.local')}
${agent('puppet', 'scripted.words')}`;
}
