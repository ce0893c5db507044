/**
 * A host in a process of its own that is killed and taken up again, with a model server of the test.
 *
 *   const site = await openSite(built, { agents: { lead: {} } }, (moment) => 'answer');
 *   await site.play({ start: [{ agent: 'lead', prompt: 'go' }], dieAfter: 7 });
 *   await site.play({});                                // resumes
 *   site.events();
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Troupe, type TroupeOptions } from '../../src/host.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { type BuiltPackage, type Program, startProgram } from './built-package.ts';
import { type ModelServer, type Reply, startModelServer } from './model-server.ts';
import { configOf, eventsIn, type Moment, type StageOptions } from './troupe-fixture.ts';

const threadFile = (name: string) =>
  new URL(`../../build/test-threads/${name}.js`, import.meta.url);

export const CRASH_TOOLS = threadFile('crash-tools');
export const MORTAL_TOOLS = threadFile('mortal-tools');
export const STAGE_TOOLS = threadFile('stage-tools');

export interface Script {
  /** Left out: takes up what is unfinished. */
  readonly start?: readonly { readonly agent: string; readonly prompt: string }[];
  readonly dieAfter?: number;
  readonly when?: readonly {
    readonly type: string;
    /** What the event's JSON must hold; default anything. */
    readonly has?: string;
    readonly do: 'die' | 'note' | 'cancel' | 'approve';
    readonly words?: string;
  }[];
}

export type End = 'killed' | 'ended';

export class Site {
  readonly dir: string;
  readonly stateDir: string;
  readonly server: ModelServer;
  /** For the model: the first host has been killed. */
  isDead = false;
  readonly #config: object;
  readonly #built: BuiltPackage;
  readonly #tools: readonly URL[];
  readonly #programs: Program[] = [];

  constructor(
    built: BuiltPackage,
    server: ModelServer,
    options: StageOptions,
    tools: readonly URL[],
  ) {
    this.#built = built;
    this.server = server;
    this.#tools = tools;
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-crash-')));
    this.stateDir = join(this.dir, 'state');
    this.#config = configOf(options, server.url);
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** Runs a host to its end. @throws if it ended otherwise than by its script. */
  async play(script: Script): Promise<End> {
    const { code, signal, out, err } = await this.#host(script).ended;
    if (signal === 'SIGKILL') return 'killed';
    if (code === 0 && out.endsWith('ended\n')) return 'ended';
    throw new Error(`the host ended with ${code ?? signal}:\n${err}\n${out}`);
  }

  #host(script: Script): Program {
    const { start = null, dieAfter = null, when = [] } = script;
    const whole = {
      url: this.#built.url,
      config: this.#config,
      stateDir: this.stateDir,
      tools: this.#tools.map(String),
      workspace: this.dir,
      start,
      dieAfter,
      when: when.map((each) => ({ has: '', words: '', ...each })),
    };
    const program = startProgram('crash-host', [JSON.stringify(whole)], this.dir);
    this.#programs.push(program);
    return program;
  }

  /** A host in this process. */
  open(options: Omit<TroupeOptions, 'config' | 'stateDir'> = {}): Promise<Troupe> {
    const { stateDir } = this;
    return Troupe.open({ tools: this.#tools, ...options, config: this.#config, stateDir });
  }

  events(): JournalEvent[] {
    return eventsIn(this.stateDir);
  }

  async close(): Promise<void> {
    for (const { child } of this.#programs) child.kill('SIGKILL');
    await Promise.all(this.#programs.map(({ ended }) => ended));
    await this.server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export type Model = (moment: Moment) => Reply | Promise<Reply>;

export async function openSite(
  built: BuiltPackage,
  options: StageOptions,
  model: Model,
  tools: readonly URL[] = [CRASH_TOOLS],
): Promise<Site> {
  const server = await startModelServer();
  server.on((request) => {
    const agent = request.system.replace('agent:', '');
    const turn = 1 + request.messages.filter((message) => message.role === 'assistant').length;
    const { prompt, results } = request;
    return model({ agent, turn, prompt, results, request });
  });
  const site = new Site(built, server, options, tools);
  onTestFinished(() => site.close());
  return site;
}
