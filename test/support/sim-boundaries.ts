import { seededRandom } from './seeded-random.ts';
import type { SimLog } from './sim-log.ts';
import { Play, type Setting } from './sim-play.ts';
import type { Told } from './sim-story.ts';

/** What there was when a host could have died. */
interface Mark {
  readonly committed: number;
  readonly acts: number;
  readonly nowMs: number;
}

/** A longer journal is sampled. */
const MARKS_MAX = 40;

/**
 * Plays a world to its end, and then again from each of its commits: once as if the host had died right after it, and
 * once as if it had died right before the next, with all that it did in between forgotten. In some of them the host that
 * takes it up dies too, as soon as it has committed something.
 */
export async function* playBoundaries(setting: Setting, seed: number): AsyncGenerator<Told> {
  const play = new Play(setting);
  const marks: Mark[] = [];
  const { engine } = play.world;
  const { log } = engine;
  const mark = (committed: number) =>
    marks.push({ committed, acts: log.acts.length, nowMs: engine.world.now() });
  let committed = 0;
  engine.journal.subscribe((events) => {
    if (committed > 0) mark(committed);
    committed += events.length;
    mark(committed);
  });
  play.startRoots(1);
  play.expectBlows();
  await play.world.runDry();
  const whole = play.told(false);
  yield whole;
  const every = Math.ceil(marks.length / MARKS_MAX);
  for (const [at, place] of marks.entries()) {
    if (at % every === 0) yield await playFrom(setting, seed * 1000 + at, whole, place, log);
  }
}

async function playFrom(
  setting: Setting,
  seed: number,
  whole: Told,
  { committed, acts, nowMs }: Mark,
  log: SimLog,
): Promise<Told> {
  const random = seededRandom(seed);
  const play = new Play(
    { ...setting, random },
    { log: log.until(acts, committed), events: whole.events.slice(0, committed), nowMs },
  );
  play.world.recover();
  if (random.chance(0.3)) {
    const { journal } = play.world.engine;
    let again = false;
    journal.subscribe(() => {
      if (!again) journal.freeze();
      again = true;
    });
    await play.world.runFor(random.int(4));
    play.crash(0);
  }
  play.expectBlows();
  await play.world.runDry();
  return play.told(true);
}
