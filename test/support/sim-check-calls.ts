import { isDeepStrictEqual } from 'node:util';
import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import { callFrame } from '../../src/runtime/core/run-event.ts';
import type { Act } from './sim-log.ts';
import { must, type Story } from './sim-story.ts';
import { isBackground, isChildEnd, isResult, textIn } from './sim-story-events.ts';
import { SIM_TOOLS } from './sim-tools.ts';

function placeOf({ runId, turn, call }: Act): string {
  return `${runId}/${callFrame(turn, call)}`;
}

function actsOf({ log }: Story, ...kinds: readonly Act['kind'][]): readonly Act[] {
  return log.acts.filter(({ kind }) => kinds.includes(kind));
}

/** Of each call its events, by `<run>/<frame>`. */
function byFrame({ events }: Story): ReadonlyMap<string, readonly JournalEvent[]> {
  const frames = new Map<string, JournalEvent[]>();
  for (const event of events) {
    if (event.frame_id === null) continue;
    const place = `${event.run_id}/${event.frame_id}`;
    const own = frames.get(place);
    if (own === undefined) frames.set(place, [event]);
    else own.push(event);
  }
  return frames;
}

/** SPEC J5: twice is twice. */
export function effectsHappenOnce(story: Story): void {
  const begun = new Set<string>();
  for (const act of actsOf(story, 'call')) {
    if (act.effect !== 'effectful') continue;
    must(!begun.has(placeOf(act)), `${act.name} at ${placeOf(act)} is carried out again`);
    begun.add(placeOf(act));
  }
}

/** SPEC R12, J5: what changed something is told, as done or as uncertain, by its call and by every run above it. */
export function effectsAreTold(story: Story): void {
  const frames = byFrame(story);
  for (const act of actsOf(story, 'effect')) {
    const result = frames.get(placeOf(act))?.find(isResult);
    must(result !== undefined, `nobody tells that ${act.name} at ${placeOf(act)} took effect`);
    const isHidden = result.type === 'tool.failed' && result.data['effect'] === 'none';
    must(!isHidden, `${result.event_id} says that ${act.name} had no effect`);
    for (const runId of story.lineage(act.runId)) {
      if (hasLeft(story, runId, act.runId)) break;
      const end = story.eventsOf(runId).at(-1);
      must(end?.data['effect'] !== 'none', `${runId} ends as if ${placeOf(act)} had no effect`);
    }
  }
}

/** SPEC D9: did this run end before a background run of it, in which or below which the other is? */
function hasLeft(story: Story, runId: string, below: string): boolean {
  const own = story.eventsOf(runId);
  const isOf = ({ data }: JournalEvent) => below.startsWith(String(data['child_run_id']));
  const launch = own.find((event) => isBackground(event) && isOf(event));
  if (launch === undefined) return false;
  const isItsEnd = (event: JournalEvent) =>
    isChildEnd(event) && event.data['ordinal'] === launch.data['ordinal'];
  return !own.some(isItsEnd);
}

/** SPEC J4, and X3: on the disk, and allowed, before it begins. */
export function actsFollowRecords(story: Story): void {
  const frames = byFrame(story);
  for (const act of actsOf(story, 'call')) {
    const own = frames.get(placeOf(act)) ?? [];
    const began = own.find(({ type }) => type === 'tool.started');
    must(began !== undefined, `${placeOf(act)} was carried out and is not recorded`);
    must(began.seq <= act.committed, `${placeOf(act)} was carried out before its record`);
    const asked = own.some(({ type }) => type === 'approval.requested');
    const granted = own.find(({ type }) => type === 'approval.granted');
    must(!asked || granted !== undefined, `${placeOf(act)} was carried out unapproved`);
  }
  for (const event of story.events) {
    if (event.type !== 'tool.started') continue;
    const spec = story.eventsOf(event.run_id)[0]?.data;
    if (spec?.['require_tool_approval'] !== true) continue;
    const own = frames.get(`${event.run_id}/${event.frame_id}`) ?? [];
    const isGranted = own.some(({ type, seq }) => type === 'approval.granted' && seq < event.seq);
    must(isGranted, `${event.event_id} starts what nobody approved`);
  }
}

/** SPEC J5: what has an answer or a result is not asked or run again. */
export function finishedIsNotRepeated(story: Story): void {
  const ends = new Map<string, number>();
  for (const event of story.events) {
    const place = `${event.run_id}/${event.frame_id}`;
    if (event.type === 'model.completed' || isResult(event)) ends.set(place, event.seq);
  }
  for (const act of actsOf(story, 'ask', 'call')) {
    const isAsk = act.kind === 'ask';
    const place = isAsk ? `${act.runId}/turn-${act.turn}` : placeOf(act);
    const end = ends.get(place);
    must(end === undefined || end > story.known(act), `${place} was finished and is begun again`);
  }
}

/** SPEC R13: a tool's result is what the tool said, a child's is its own end. */
export function resultsAreTrue(story: Story): void {
  const said = new Map<string, string[]>();
  for (const act of actsOf(story, 'said')) {
    if (act.text === undefined) continue;
    said.set(placeOf(act), [...(said.get(placeOf(act)) ?? []), act.text]);
  }
  for (const event of story.events) {
    const child = childOf(event);
    if (child !== null) mustTellChild(story, event, child);
    mustTellParts(story, event);
    const isOwn = event.type === 'tool.completed' && SIM_TOOLS.has(textIn(event, 'name'));
    if (!isOwn || event.data['shared_with'] !== undefined || story.log.acts.length === 0) continue;
    const words = said.get(`${event.run_id}/${event.frame_id}`) ?? [];
    const text = textIn(event, 'text');
    const isWhole = words.includes(text);
    const chars = Number(event.data['chars']);
    const isCut = isMarked(text) && words.some((each) => each.length === chars);
    must(isWhole || isCut, `${event.event_id} tells what ${event.data['name']} never said`);
  }
}

/** The mark of SPEC R12 in a text that was cut. */
function isMarked(text: string): boolean {
  return text.includes(' characters left out here; ');
}

function childOf(event: JournalEvent): string | null {
  const structured = event.data['structured'] as
    | { child_run_id?: string; task_id?: string }
    | undefined;
  if (structured?.task_id !== undefined) return null;
  return isResult(event) ? (structured?.child_run_id ?? null) : null;
}

interface Part {
  readonly agent_id: string;
  readonly status: string;
  readonly child_run_id?: string;
}

/** SPEC D8: a block a child, in their order, each with what the child itself ended with. */
function mustTellParts(story: Story, event: JournalEvent): void {
  const structured = event.data['structured'] as { children?: readonly Part[] } | undefined;
  if (structured?.children === undefined || !isResult(event)) return;
  const text = textIn(event, 'text');
  let from = 0;
  for (const part of structured.children) {
    const isDone = part.status === 'completed';
    from = text.indexOf(`--- ${part.agent_id} (success=${isDone}) ---\n`, from);
    must(isMarked(text) || from >= 0, `${event.event_id} has no block of ${part.agent_id}`);
    const end = story.eventsOf(part.child_run_id ?? '').at(-1);
    must((end?.type === 'run.completed') === isDone, `${event.event_id} differs: ${end?.type}`);
    const answer = end === undefined ? '' : textIn(end, 'answer');
    const isTold = isMarked(text) || !isDone || text.includes(answer, from);
    must(isTold, `${event.event_id} tells another answer of ${part.child_run_id}`);
  }
  const failed = structured.children.some(({ status }) => status !== 'completed');
  must(failed === (event.type === 'tool.failed'), `${event.event_id} hides what failed`);
}

function mustTellChild(story: Story, event: JournalEvent, child: string): void {
  const end = story.eventsOf(child).at(-1);
  const isDone = end?.type === 'run.completed';
  const told = event.type === 'tool.completed';
  must(isDone === told, `${event.event_id} (${event.type}) tells of ${child}: ${end?.type}`);
  const answer = textIn(end ?? event, 'answer');
  const isCut = isMarked(textIn(event, 'text'));
  if (!isDone || isCut || answer.trim() === '') return;
  must(
    textIn(event, 'text').endsWith(answer),
    `${event.event_id} tells another answer of ${child}`,
  );
}

/** SPEC R12: the whole of what a history may not hold is in the file that it names. */
export function cutIsKept(story: Story): void {
  if (story.log.acts.length === 0) return;
  for (const event of story.events) {
    const path = event.data['full_path'];
    if (typeof path !== 'string' || !isResult(event)) continue;
    if (event.data['shared_with'] !== undefined) continue;
    const kept = story.log.kept.get(path);
    must(kept !== undefined, `${event.event_id} names ${path}, which was never kept`);
    const whole = kept.length >= Number(event.data['chars']) || childOf(event) !== null;
    must(whole || event.type === 'tool.failed', `${path} does not hold all of ${event.event_id}`);
  }
}

/** SPEC R7, R12: a model reads the run as it was so far, and every call of it with its one result. */
export function historiesOnlyGrow(story: Story): void {
  for (const act of actsOf(story, 'ask')) {
    const { history } = act;
    const state = story.states.get(act.runId);
    const wasLost = act.given > story.known(act);
    if (history === undefined || state === undefined || wasLost) continue;
    const place = `${act.runId}/turn-${act.turn}`;
    const now = state.history.slice(0, history.length);
    must(isDeepStrictEqual(history, now), `${place} reads a history that is not the run's`);
    const asked = history.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
    const given = history.flatMap((each) => (each.role === 'tool' ? each.results : []));
    const isWhole = asked.length === given.length;
    must(isWhole, `${place} reads ${given.length} results of ${asked.length} calls`);
  }
}

/** SPEC N2: a stop takes no longer than it may. */
export function stopsAreBounded({ byRun, told }: Story): void {
  const { stopMs } = told;
  if (stopMs === undefined) return;
  for (const [runId, own] of byRun) {
    const stopping = own.find(({ type }) => type === 'run.stopping');
    const end = own.find(({ type }) => isTerminal(type));
    if (stopping === undefined || end === undefined) continue;
    const took = Date.parse(end.ts) - Date.parse(stopping.ts);
    must(took <= stopMs + SLACK_MS, `${runId} takes ${took} ms to stop, at most ${stopMs}`);
  }
}

/** Answers of children are kept in files on the way up. */
const SLACK_MS = 200;
