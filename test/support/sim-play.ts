import type { RunState } from '../../src/runtime/core/run-state.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { type Seeded, seededRandom } from './seeded-random.ts';
import type { SimModel } from './sim-engine.ts';
import { drawFaults, type Faults } from './sim-faults.ts';
import { SimLog } from './sim-log.ts';
import type { Told } from './sim-story.ts';
import { SimWorld, type WorldOptions } from './sim-world.ts';
import { withIndependence } from './wild-rights.ts';
import { SMALL, WIDE, wildConfig, wildModel } from './wild-world.ts';

const HOUR_MS = 3_600_000;

/** How the host fares: it lives to the end, dies now and then, or dies once after each of its commits in turn. */
export type Plot = 'calm' | 'crashes' | 'boundaries';

/** Everything about a world that its seed decides. */
export interface Setting {
  readonly random: Seeded;
  readonly faults: Faults;
  readonly configOf: (disabled: string | null) => object;
  readonly modelOf: (random: Seeded) => SimModel;
  readonly plot: Plot;
}

export function settingOf(seed: number): Setting {
  const random = seededRandom(seed);
  const plot = random.pick<Plot>(['calm', 'calm', 'crashes', 'crashes', 'crashes', 'boundaries']);
  const faults = drawFaults(random);
  const configOf = withIndependence(random, wildConfig(random));
  const size = plot === 'boundaries' ? SMALL : WIDE;
  return { random, faults, configOf, modelOf: (own) => wildModel(own, faults, size), plot };
}

/** One life of a host after another, until one of them comes to rest. */
export class Play {
  readonly #setting: Setting;
  readonly #log: SimLog;
  readonly #states = new Map<string, RunState>();
  world: SimWorld;

  constructor(setting: Setting, from: Partial<WorldOptions> = {}) {
    this.#setting = setting;
    this.#log = from.log ?? new SimLog();
    this.world = this.#host(from);
  }

  #host(from: Partial<WorldOptions>): SimWorld {
    const { random, faults, configOf, modelOf } = this.#setting;
    const model = modelOf(random);
    return new SimWorld({ random, faults, model, config: configOf(null), ...from, log: this.#log });
  }

  /** Whatever may come from outside, at instants of the next while. */
  expectBlows(): void {
    const { world } = this;
    const { random, faults, configOf } = this.#setting;
    const later = (happen: () => void) => world.engine.world.after(random.int(250), happen);
    const anyRun = () => {
      const live = world.tree.live();
      return live[random.int(live.length)];
    };
    for (let at = 0; at < faults.cancels; at += 1) {
      later(() => anyRun()?.cancel('by chance', 'user'));
    }
    for (let at = 0; at < faults.notes; at += 1) {
      later(() => {
        const run = anyRun();
        if (run !== undefined) world.note(run, random.id());
      });
    }
    for (let at = 0; at < faults.threadLosses; at += 1) {
      later(() => world.engine.threads[random.int(world.engine.threads.length)]?.die('it exited'));
    }
    for (let at = 0; at < faults.reconfigurations; at += 1) {
      later(() => {
        const disabled = random.pick(['b', 'c', null]);
        world.tree.reconfigure(loadConfig(configOf(disabled), { baseDir: '/' }));
      });
    }
  }

  startRoots(count: number): void {
    const { random } = this.#setting;
    const { world } = this;
    world.start('lead', 'go', random.chance(0.03) ? 'called off' : null);
    for (let at = 1; at < count; at += 1) {
      world.engine.world.after(random.int(100), () => {
        if (!world.hasFailed) world.start('lead');
      });
    }
  }

  /** The host is gone, with all that it had not committed; another one takes up the rest after `downMs`. */
  crash(downMs: number): void {
    const { events, engine } = this.world;
    this.#keepStates(events.length);
    this.#log.hostEnds.push(events.length);
    this.world = this.#host({ events, nowMs: engine.world.now() + downMs });
    const { random } = this.#setting;
    this.world.recover(random.chance(0.25) ? random.int(400) : null);
  }

  told(wasCrashed: boolean): Told {
    const { world } = this;
    this.#keepStates(Number.POSITIVE_INFINITY);
    const { maxRunsPerRoot, stopGraceMs } = world.tree.config.runtime;
    return {
      events: world.events,
      log: this.#log,
      states: this.#states,
      notes: world.taken,
      runsMax: maxRunsPerRoot,
      ...(!wasCrashed && { stopMs: stopGraceMs }),
    };
  }

  /** Of a host that died only those whose end was committed. */
  #keepStates(committed: number): void {
    const isWhole = committed >= this.world.engine.journal.lastGiven;
    for (const [runId, state] of this.world.forgotten) {
      if (isWhole) this.#states.set(runId, state);
    }
  }
}

/** A host that dies at random instants, what it had not yet committed with it, and is taken up again each time. */
async function playCrashes(play: Play, { random }: Setting): Promise<void> {
  // One that gets nowhere, time after time, or one that dies now and then.
  const isStuck = random.chance(0.15);
  const crashes = isStuck ? 6 : 1 + random.int(5);
  for (let crash = 0; crash < crashes; crash += 1) {
    // Nothing at all: it dies while it takes up what the one before it left.
    const isSoon = crash > 0 && (isStuck || random.chance(0.2));
    await play.world.runFor(isSoon ? random.int(3) : random.int(30));
    const how = random.unit();
    if (how < 0.4) {
      play.world.engine.journal.freeze();
      await play.world.runFor(random.int(8));
    } else if (how < 0.5) {
      play.world.engine.journal.fail('the disk is full');
      await play.world.runFor(random.int(8));
    }
    const downMs = random.chance(0.25) ? 1.5 * HOUR_MS : 2000;
    play.crash(random.chance(0.25) ? random.int(downMs) : 0);
    play.expectBlows();
  }
}

/** A life without the death of a host, or with as many as its plot has. */
export async function playSetting(setting: Setting): Promise<Told> {
  const { random, plot } = setting;
  const play = new Play(setting);
  play.startRoots(1 + random.int(plot === 'calm' ? 3 : 2));
  play.expectBlows();
  if (plot === 'crashes') await playCrashes(play, setting);
  await play.world.runDry();
  return play.told(plot === 'crashes');
}
