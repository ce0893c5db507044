import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import { type BuiltPackage, buildPackage } from '../support/built-package.ts';
import { openSite, type Script, type Site } from '../support/crash-host.ts';
import type { SeenRequest } from '../support/model-server.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { audit } from '../support/sim-world.ts';
import { calls, delegation, type Moment, ofType } from '../support/troupe-fixture.ts';

/** `CRASH_MATRIX=all` dies after every event in turn; else a seeded sample of this many. */
const SAMPLE = 10;
const SEED = Number(process.env['CRASH_SEED'] ?? 1);

let built: BuiltPackage;

beforeAll(async () => {
  built = await buildPackage();
}, 120_000);

afterAll(() => built.remove());

const PLAN = {
  goal: 'a reviewed text',
  tasks: [
    { id: 'text', agent_id: 'writer', prompt: 'Write it.' },
    { id: 'check', agent_id: 'reviewer', prompt: 'Check it.', review_of: ['text'] },
  ],
};

/**
 * Two levels of delegates, an effect on each, a computation, a note, a background run that is waited for beside a plan
 * whose text is sent back once.
 */
const START: Script = {
  start: [{ agent: 'lead', prompt: 'go' }],
  when: [{ type: 'tool.started', has: '"slow"', do: 'note', words: 'be brief' }],
};

/** Depends on what it is asked and on nothing else, least of all on how calls ended that a crash may cut off. */
function model(log: () => string) {
  return ({ agent, turn, prompt, results }: Moment) => {
    const acts = { name: 'act', args: { log: log() } };
    if (agent === 'lead') {
      if (turn === 1) {
        const computes = { name: 'slow', args: { rounds: 3_000_000 } };
        const aside = delegation('aside', 'meanwhile', { background: true });
        return calls(delegation('middle', 'dig'), acts, computes, aside);
      }
      if (turn === 2) {
        const task_ids = [/task_id: (\S+)/.exec(results[3] ?? '')?.[1]];
        const waits = { name: 'delegate', args: { action: 'await_sessions', task_ids } };
        const text = `dug: ${lastLine(results[0])}`;
        return { text, ...calls({ name: 'plan', args: PLAN }, waits) };
      }
      const { status, results: tasks } = JSON.parse(results[1] ?? '{}');
      const aside = lastLine(tasks?.[0]?.output);
      return `the end: ${/version \d/.exec(results[0] ?? '')?.[0]}, ${status}: ${aside}`;
    }
    if (agent === 'middle') {
      return turn === 1
        ? calls(delegation('leaf', 'deeper'), acts)
        : `middle of ${lastLine(results[0])}`;
    }
    if (agent === 'aside') return turn === 1 ? calls(acts) : 'done aside';
    if (agent === 'leaf') return turn === 1 ? calls(acts) : 'the ground';
    if (agent === 'writer') {
      if (turn === 1) return calls(acts);
      return prompt.includes('Reviewer feedback') ? 'version 2' : 'version 1';
    }
    const verdict = prompt.includes('version 2')
      ? { verdict: 'accept', summary: 'good' }
      : { verdict: 'rework', feedback: { text: 'once more' } };
    return calls({ name: 'submit_review', args: verdict });
  };
}

function lastLine(text: string | undefined): string {
  return text?.split('\n').at(-1) ?? '';
}

async function openMatrixSite(): Promise<Site> {
  const agents = { lead: {}, middle: {}, leaf: {}, writer: {}, reviewer: {}, aside: {} };
  const site: Site = await openSite(
    built,
    { agents },
    model(() => site.file('effects')),
  );
  return site;
}

/** What a run comes to, without the one name that is different each time. */
interface Story {
  readonly end: object;
  readonly runs: readonly string[];
  readonly keys: readonly string[];
  readonly interrupted: readonly string[];
}

function storyOf(site: Site): Story {
  const events = site.events();
  audit(events);
  const [first] = events;
  if (first === undefined) throw new Error('nothing is journaled');
  const root = first.run_id;
  const plain = (text: string) => text.replace(root, 'root');
  const ends = events.filter(({ type, run_id }) => run_id === root && isTerminal(type));
  expect(ends).toHaveLength(1);
  const cut = ofType(events, 'tool.failed').filter(
    ({ data }) => data['error_type'] === 'interrupted',
  );
  return {
    end: { type: ends[0]?.type, answer: ends[0]?.data['answer'], turns: ends[0]?.data['turns'] },
    runs: ofType(events, 'run.started')
      .map(({ run_id }) => plain(run_id))
      .sort(),
    keys: effectsIn(site).map(plain),
    interrupted: cut.map(({ run_id, frame_id }) => plain(`${run_id}/${frame_id}`)),
  };
}

function effectsIn(site: Site): string[] {
  const log = site.file('effects');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}

/** What a model was asked, whoever asks: its agent, its prompt, its turn. */
function askedOf({ system, prompt, messages }: SeenRequest): string {
  const turn = 1 + messages.filter(({ role }) => role === 'assistant').length;
  return JSON.stringify([system.replace('agent:', ''), prompt, turn]);
}

function answeredIn(events: readonly JournalEvent[]): Set<string> {
  const specs = new Map(
    ofType(events, 'run.started').map(({ run_id, data }) => [
      run_id,
      [data['agent_id'], data['prompt']],
    ]),
  );
  const answers = ofType(events, 'model.completed');
  return new Set(
    answers.map(({ run_id, data }) => JSON.stringify([...(specs.get(run_id) ?? []), data['turn']])),
  );
}

/** Every note ends, for each run it went to, with the word of what became of it (SPEC N1). */
function expectReceipts(events: readonly JournalEvent[]): void {
  const receipts = ofType(events, 'note.read', 'note.too_late', 'note.dead_letter');
  for (const { run_id, data } of ofType(events, 'run.user_note')) {
    const own = receipts.filter(
      (receipt) => receipt.run_id === run_id && receipt.data['note_id'] === data['note_id'],
    );
    expect(own, `receipts of ${String(data['note_id'])} in ${run_id}`).toHaveLength(1);
  }
}

/** Crashes after so many events of each host in turn, then runs to the end, and compares with the uncrashed story. */
async function crashAt(points: readonly number[], whole: Story): Promise<void> {
  const site = await openMatrixSite();
  let script: Script = START;
  for (const dieAfter of points) {
    if ((await site.play({ ...script, dieAfter })) === 'ended') break;
    const answered = answeredIn(site.events());
    const asked = site.server.requests.length;
    script = {};
    const again = () => site.server.requests.slice(asked).map(askedOf);
    if (dieAfter === points.at(-1)) await site.play(script);
    expect(
      again().filter((turn) => answered.has(turn)),
      'answered turns asked again',
    ).toEqual([]);
  }
  const story = storyOf(site);
  expect(story.end).toEqual(whole.end);
  expect(story.runs).toEqual(whole.runs);
  expect(new Set(story.keys).size, 'no effect twice').toBe(story.keys.length);
  const accounted = [...new Set([...story.keys, ...story.interrupted])].sort();
  expect(accounted, 'no effect lost in silence').toEqual([...whole.keys].sort());
  expectReceipts(site.events());
  expectTaskFile(site);
}

/** SPEC D9: the background run's file is there, once, and says how it ended. */
function expectTaskFile(site: Site): void {
  const folder = site.file('delegate_results');
  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  const record = JSON.parse(readFileSync(join(folder, name ?? ''), 'utf8'));
  expect(record).toMatchObject({ agent: 'aside', status: 'completed', error: null });
  expect(record.output).toMatch(/done aside$/);
}

const THE_END = 'the end: version 2, complete: done aside';

async function wholeStory(): Promise<{ readonly story: Story; readonly events: number }> {
  const site = await openMatrixSite();
  expect(await site.play(START)).toBe('ended');
  const story = storyOf(site);
  expect(story.end).toEqual({ type: 'run.completed', answer: THE_END, turns: 3 });
  expect(story.runs).toHaveLength(8);
  expect(story.keys).toHaveLength(6);
  expect(ofType(site.events(), 'run.user_note').length).toBeGreaterThan(0);
  return { story, events: site.events().length };
}

/** As many at a time as there are processors. */
async function eachAtOnce<Item>(items: readonly Item[], play: (item: Item) => Promise<void>) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await play(item);
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
}

describe('a host that is killed', () => {
  const isWhole = process.env['CRASH_MATRIX'] === 'all';

  it(`J5: ends in the same story as one that is not, killed after ${isWhole ? 'each event in turn' : `${SAMPLE} events of a seeded sample`}`, async () => {
    const { story, events } = await wholeStory();
    const random = seededRandom(SEED);
    const all = Array.from({ length: events }, (_, at) => at + 1);
    const points = isWhole ? all : sample(all, SAMPLE, random);
    await eachAtOnce(points, async (point) => {
      // Half of them are killed once more on their way, some as the recovery writes its first word.
      const more = random.unit() < 0.5 ? [] : [1 + (random.unit() < 0.4 ? 0 : random.int(20))];
      try {
        await crashAt([point, ...more], story);
      } catch (thrown) {
        throw new Error(`killed after ${[point, ...more].join(', then ')} events`, {
          cause: thrown,
        });
      }
    });
  }, 1_800_000);
});

function sample(
  all: readonly number[],
  count: number,
  random: { int(limit: number): number },
): number[] {
  const left = [...all];
  return Array.from(
    { length: Math.min(count, all.length) },
    () => left.splice(random.int(left.length), 1)[0] ?? 1,
  );
}
