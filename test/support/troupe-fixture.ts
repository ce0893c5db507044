/**
 * A whole troupe for tests: real threads, a real journal, and a model server on loopback whose words the test writes.
 *
 *   const stage = await openStage({ agents: { lead: {}, worker: {} } });
 *   stage.play({ lead: [delegate('worker', 'part'), 'all done'], worker: 'my part' });
 *   const { outcome, events } = await stage.run('lead', 'go');
 *   await stage.close();              // audits everything that was journaled
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { Troupe, type TroupeOptions } from '../../src/host.ts';
import type { Run, RunOutcome } from '../../src/run.ts';
import { auditJournal } from '../../src/runtime/core/audit.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { openJournalReader } from '../../src/runtime/journal-reader.ts';
import type { StartRequest } from '../../src/start-request.ts';
import {
  type ModelReply,
  type ModelServer,
  type Reply,
  type ReplyCall,
  type SeenRequest,
  startModelServer,
} from './model-server.ts';
import { audit } from './sim-world.ts';

/** One request of one agent, as the test answers it. */
export interface Moment {
  readonly agent: string;
  /** 1 for a run's first request. */
  readonly turn: number;
  readonly prompt: string;
  /** What the calls of the last answer came to, in order. */
  readonly results: readonly string[];
  readonly request: SeenRequest;
}

/** What an agent says: always the same, one thing a turn (the last again and again), or what a function makes of it. */
export type Part = Reply | readonly Reply[] | ((moment: Moment) => Reply | Promise<Reply>);

export interface StageOptions {
  /** By id; each gets a provider, the profiles `p` and `r` and a system prompt that names it. */
  readonly agents: Readonly<Record<string, object>>;
  /** Fields of runtime profile `r`. */
  readonly runtime?: object;
  /** Fields of risk profile `p`. */
  readonly risk?: object;
  /** Fields of the provider entry. */
  readonly provider?: object;
  /** More provider entries of type `openai-compatible`, by alias. */
  readonly moreProviders?: object;
  /** More tables of the configuration. */
  readonly blocks?: {
    readonly risk_profiles?: object;
    readonly runtime_profiles?: object;
    readonly [name: string]: object | undefined;
  };
  readonly troupe?: Omit<TroupeOptions, 'config' | 'stateDir'>;
}

export interface Told {
  readonly run: Run;
  readonly outcome: RunOutcome;
  /** Of the run and everything below it. */
  readonly events: readonly JournalEvent[];
}

export const PROVIDER = 'openai-compatible.local';
export const MODEL_LABEL = 'openai-compatible/m';

/** The tools of `test/support/threads/stage-tools.ts`, for option `tools`. */
export const STAGE_TOOLS = new URL('../../build/test-threads/stage-tools.js', import.meta.url);

export async function openStage(options: StageOptions): Promise<Stage> {
  const server = await startModelServer();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-stage-')));
  try {
    const troupe = await Troupe.open({
      ...options.troupe,
      config: configOf(options, server.url),
      stateDir: join(dir, 'state'),
    });
    return new Stage(troupe, server, dir);
  } catch (thrown) {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
    throw thrown;
  }
}

export function configOf(options: StageOptions, url: string): object {
  const { agents, runtime = {}, risk = {}, provider = {}, moreProviders, blocks = {} } = options;
  return {
    ...blocks,
    providers: {
      models: {
        'openai-compatible': {
          local: { base_url: url, model: 'm', ...provider },
          ...moreProviders,
        },
      },
    },
    risk_profiles: {
      p: { autonomy: 'full', delegation_policy: { mode: 'allow' }, ...risk },
      ...blocks.risk_profiles,
    },
    runtime_profiles: { r: runtime, ...blocks.runtime_profiles },
    agents: Object.fromEntries(
      Object.entries(agents).map(([id, fields]) => [id, { ...agentOf(id), ...fields }]),
    ),
  };
}

function agentOf(id: string): object {
  return {
    model_provider: PROVIDER,
    risk_profile: 'p',
    runtime_profile: 'r',
    system_prompt: `agent:${id}`,
  };
}

export class Stage {
  readonly troupe: Troupe;
  readonly server: ModelServer;
  /** A folder of the test, which is also where runs work by default here. */
  readonly dir: string;

  constructor(troupe: Troupe, server: ModelServer, dir: string) {
    this.troupe = troupe;
    this.server = server;
    this.dir = dir;
  }

  /** What every agent says from now on. */
  play(parts: Readonly<Record<string, Part>>): void {
    this.server.on((request) => {
      const agent = request.system.replace('agent:', '');
      const part = parts[agent];
      if (part === undefined) throw new Error(`agent ${agent} has no part`);
      const turn = 1 + request.messages.filter((message) => message.role === 'assistant').length;
      if (isPerTurn(part)) return part[Math.min(turn, part.length) - 1] ?? 'ok';
      if (typeof part !== 'function') return part;
      const { prompt, results } = request;
      return part({ agent, turn, prompt, results, request });
    });
  }

  start(agent: string, prompt = 'go', more: Partial<StartRequest> = {}): Promise<Run> {
    return this.troupe.start({ agent, prompt, workspace: this.dir, ...more });
  }

  async run(agent: string, prompt = 'go', more: Partial<StartRequest> = {}): Promise<Told> {
    return this.end(await this.start(agent, prompt, more));
  }

  async end(run: Run): Promise<Told> {
    const outcome = await run.result();
    return { run, outcome, events: await this.events(run.id) };
  }

  /** Of a run and everything below it, or of all. */
  async events(subtreeOf?: string): Promise<JournalEvent[]> {
    const events: JournalEvent[] = [];
    for await (const event of this.troupe.journal.read({ subtreeOf })) events.push(event);
    return events;
  }

  /** Requests of one agent so far. */
  requestsOf(agent: string): SeenRequest[] {
    return this.server.requests.filter((request) => request.system === `agent:${agent}`);
  }

  /** Resolves with the first event that fits, also one that is there already. */
  async sees(
    fits: (event: JournalEvent) => boolean,
    subtreeOf: string | undefined = undefined,
  ): Promise<JournalEvent> {
    let unsubscribe = (): void => undefined;
    const coming = new Promise<JournalEvent>((resolve) => {
      unsubscribe = this.troupe.journal.subscribe((events) => {
        const found = events.find(fits);
        if (found !== undefined) resolve(found);
      });
    });
    try {
      return (await this.events(subtreeOf)).find(fits) ?? (await coming);
    } finally {
      unsubscribe();
    }
  }

  /** Waits until nothing of any run is left in memory or on a thread. */
  async quiet(): Promise<void> {
    await eventually(() =>
      expect(this.troupe.stats()).toMatchObject({ runs: 0, actors: 0, computing: 0 }),
    );
  }

  /** Closes everything, after checking what must hold of every journal. */
  async close(): Promise<void> {
    try {
      await this.quiet();
      const events = await this.events();
      audit(events);
      expect(auditJournal(events).filter(({ severity }) => severity !== 'info')).toEqual([]);
    } finally {
      await this.drop();
    }
  }

  /** Closes everything as it is. */
  async drop(): Promise<void> {
    await this.troupe.close({ cancel: 'the test is over' });
    await this.server.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Polls for what the operating system or another thread does in its own time. */
export function eventually<Value>(check: () => Value): Promise<Value> {
  return vi.waitFor(check, { timeout: 15_000, interval: 10 });
}

function isPerTurn(part: Part): part is readonly Reply[] {
  return Array.isArray(part);
}

/** Everything in a journal's file, for when its host is gone. */
export function eventsIn(stateDir: string): JournalEvent[] {
  const reader = openJournalReader(join(stateDir, 'journal.db'));
  try {
    return [...reader.read()];
  } finally {
    reader.close();
  }
}

/** An answer that makes these calls. */
export function calls(...made: readonly ReplyCall[]): ModelReply {
  return { calls: made };
}

export function delegation(agent_id: string, prompt: string, more: object = {}): ReplyCall {
  return { name: 'delegate', args: { agent_id, prompt, ...more } };
}

export function delegate(agent_id: string, prompt: string, more: object = {}): ModelReply {
  return calls(delegation(agent_id, prompt, more));
}

export function ofType(events: readonly JournalEvent[], ...types: string[]): JournalEvent[] {
  return events.filter((event) => types.includes(event.type));
}

export function ofRun(events: readonly JournalEvent[], runId: string): JournalEvent[] {
  return events.filter((event) => event.run_id === runId);
}

/** The types of a run's own events, in order. */
export function typesOf(events: readonly JournalEvent[], runId: string): string[] {
  return ofRun(events, runId).map((event) => event.type);
}
