import { lostRuns } from '../../src/lost-runs.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { RunState } from '../../src/runtime/core/run-state.ts';
import { plainScope } from '../../src/runtime/core/tool.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { freezeSecurity } from '../../src/runtime/resolve-run.ts';
import type { RunSupervisor } from '../../src/runtime/run-supervisor.ts';
import { RunTree } from '../../src/runtime/run-tree.ts';

import { violationsOf } from './invariants.ts';
import { SimEngine, type SimOptions } from './sim-engine.ts';
import { pump } from './virtual-clock.ts';

export interface WorldOptions extends SimOptions {
  readonly config: object;
}

/** A note that a run took. */
export interface TakenNote {
  readonly runId: string;
  readonly noteId: string;
}

/** Instants in which a world comes to rest, or never will. */
const STEPS_MAX = 20_000;

/** One life of a host in simulation: trees of runs on one engine. */
export class SimWorld {
  readonly engine: SimEngine;
  readonly tree: RunTree;
  /** Each run as its supervisor had it when it was forgotten. */
  readonly forgotten = new Map<string, RunState>();
  readonly taken: TakenNote[] = [];
  /** Its journal can no longer be written. */
  hasFailed = false;
  #recovering = false;

  constructor(options: WorldOptions) {
    this.engine = new SimEngine(options);
    this.tree = new RunTree({
      engine: this.engine,
      config: loadConfig(options.config, { baseDir: '/' }),
      protectedPaths: [],
      onDelta: () => undefined,
    });
    this.engine.journal.onFailure((fault) => {
      this.hasFailed = true;
      this.tree.perish(fault);
    });
    const forget = this.tree.forget.bind(this.tree);
    this.tree.forget = (runId) => {
      const state = this.tree.find(runId)?.state;
      if (state !== undefined && state.ended !== null) this.forgotten.set(runId, state);
      forget(runId);
    };
  }

  start(agentId: string, prompt = 'go', calledOff: string | null = null): RunSupervisor {
    const agent = this.tree.config.agents.get(agentId);
    if (agent === undefined) throw new Error(`no agent ${agentId}`);
    const files = plainScope('/', false);
    return this.tree.startRoot({
      agent,
      raw: false,
      prompt,
      origin: 'user',
      cron: null,
      project: agent.project,
      security: freezeSecurity('tester', null, files),
      workspaceDir: '/',
      maxTurns: null,
      calledOff,
    });
  }

  note(run: RunSupervisor, noteId: string): void {
    if (run.note({ note_id: noteId, text: `psst ${noteId}` })) {
      this.taken.push({ runId: run.runId, noteId });
    }
  }

  /**
   * Begins to take up what the host before this one left unfinished; the disk may make it wait. With `afterMs` another root
   * has begun by then.
   */
  recover(afterMs: number | null = null): void {
    this.#recovering = true;
    const all = async () => {
      const { journal, world } = this.engine;
      await this.tree.recallBudgets();
      if (afterMs !== null) {
        this.start('lead');
        await new Promise<void>((resolve) => world.after(afterMs, resolve));
      }
      this.tree.recover(await lostRuns(this.tree, journal, null));
    };
    all().then(
      () => {
        this.#recovering = false;
      },
      (thrown: unknown) => this.engine.log.strays.push(`recovery failed: ${thrown}`),
    );
  }

  /** Turns time for so many instants, or until nothing is left to happen. */
  runFor(steps: number): Promise<void> {
    let left = steps;
    return pump(() => {
      left -= 1;
      this.#lookForStrays();
      return left >= 0 && this.engine.world.step();
    });
  }

  /** Turns time until nothing is left to happen. */
  async runDry(): Promise<void> {
    let left = STEPS_MAX;
    await pump(() => {
      left -= 1;
      this.#lookForStrays();
      return left >= 0 && this.engine.world.step();
    });
    const { strays } = this.engine.log;
    if (left < 0) strays.push(`still not at rest after ${STEPS_MAX} instants`);
    if (this.#recovering) strays.push('recovery never ended');
    for (const { runId } of this.tree.live()) strays.push(`${runId} is never forgotten`);
    const { promised } = this.tree.budgets;
    if (promised > 0) strays.push(`${promised} actions are promised to no run`);
  }

  /** Where no run is left, nothing of one may be: no actor, no timer, no call that nobody called off. */
  #lookForStrays(): void {
    if (this.tree.live().length > 0 || this.#recovering) return;
    const { engine } = this;
    const { strays } = engine.log;
    if (strays.length > 0) return;
    if (engine.live.size > 0) strays.push(`${engine.live.size} actors of no run`);
    if (engine.clock.pending > 0) strays.push(`${engine.clock.pending} timers of no run`);
    if (engine.unanswered.size > 0) strays.push(`${engine.unanswered.size} calls of no run`);
  }

  get events(): readonly JournalEvent[] {
    return this.engine.journal.committed;
  }

  eventsOf(runId: string): readonly JournalEvent[] {
    return this.events.filter((event) => event.run_id === runId);
  }
}

/** A provider that is never asked: the simulation answers in its place. */
export const PROVIDERS = {
  models: { 'openai-compatible': { sim: { base_url: 'http://127.0.0.1:9/v1', model: 'm' } } },
};

/** What must hold of a journal of which nothing else is known. @throws Error naming what it breaks, and where. */
export function audit(events: readonly JournalEvent[]): void {
  const broken = violationsOf({ events });
  if (broken.length === 0) return;
  throw new Error(broken.map(({ invariant, words }) => `${invariant}: ${words}`).join('\n'));
}
