import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import type { PlanEvent } from '../../src/runtime/core/plan-event.ts';
import type { PlanSpec } from '../../src/runtime/core/plan-spec.ts';
import type { CallVerdict } from '../../src/runtime/core/run-event.ts';
import { machineEvent } from '../../src/runtime/run-views.ts';
import { PlanOracle } from './plan-oracle.ts';
import { must, type Story } from './sim-story.ts';
import { isBackground, isChildEnd, isLaunch, numberIn, textIn } from './sim-story-events.ts';

const BEGINS: ReadonlySet<string> = new Set([
  'run.started',
  'turn.started',
  'model.started',
  'tool.started',
  'approval.requested',
  'delegation.started',
  'plan.started',
  'plan.task.started',
]);

/** Where each run was called off: by itself, or as a task that its plan wants no more. */
function stopsOf({ events, byRun }: Story): ReadonlyMap<string, number> {
  const stops = new Map<string, number>();
  const stop = (runId: string, seq: number) => {
    if (!stops.has(runId)) stops.set(runId, seq);
  };
  for (const event of events) {
    if (event.type === 'run.stopping') stop(event.run_id, event.seq);
    if (event.type === 'plan.task.invalidated' && event.data['child_run_id'] !== null) {
      stop(textIn(event, 'child_run_id'), event.seq);
    }
    if (event.type !== 'plan.aborted') continue;
    const own = byRun.get(event.run_id) ?? [];
    const before = own.filter(
      ({ seq, frame_id }) => seq < event.seq && frame_id === event.frame_id,
    );
    const ended = new Set(before.filter(isChildEnd).map((end) => textIn(end, 'child_run_id')));
    for (const launch of before.filter(isLaunch)) {
      const child = textIn(launch, 'child_run_id');
      if (!ended.has(child)) stop(child, event.seq);
    }
  }
  return stops;
}

/** SPEC N2, N4: from the cancel on nothing begins, in the run or anywhere below it. */
export function nothingStartsAfterCancel(story: Story): void {
  const stops = stopsOf(story);
  const stopOf = (runId: string) =>
    Math.min(...[...story.lineage(runId)].map((id) => stops.get(id) ?? Number.POSITIVE_INFINITY));
  for (const event of story.events) {
    if (!BEGINS.has(event.type)) continue;
    const isLate = event.seq > stopOf(event.run_id);
    must(!isLate, `${event.event_id} (${event.type}) begins after the run was called off`);
  }
  for (const act of story.log.acts) {
    if (act.kind === 'effect' || act.kind === 'said') continue;
    const isLate = story.known(act) > stopOf(act.runId);
    must(!isLate, `${act.kind} ${act.name} of ${act.runId} begins after it was called off`);
  }
}

/**
 * SPEC D3: with `fifo` launches and ends follow from the calls alone: as many start as there is room for, then the oldest
 * ends. Approvals and plans take their own time, so turns with them are left out; so is what comes after a stop.
 */
export function fifoFollowsCalls({ byRun }: Story): void {
  for (const [runId, own] of byRun) {
    if (own[0]?.data['order'] !== 'fifo') continue;
    const width = numberIn(own[0], 'width_max');
    for (const [frame, turn] of turnsOf(own)) {
      const said = turn.find(({ type }) => type === 'model.completed');
      const calls = (said?.data['calls'] ?? []) as unknown as { verdict: CallVerdict }[];
      const launching = calls.filter(({ verdict }) => isDelegating(verdict));
      if (launching.some(({ verdict }) => isItsOwn(verdict))) continue;
      const launches = launching.reduce((sum, { verdict }) => sum + launchesOf(verdict), 0);
      mustFollow(`${runId} ${frame}`, turn, launches, width);
    }
  }
}

function launchesOf(verdict: CallVerdict): number {
  if ('task_id' in verdict) return 0;
  return verdict.kind === 'parallel' ? verdict.entries.length : 1;
}

function isDelegating({ kind }: CallVerdict): boolean {
  return kind === 'delegate' || kind === 'parallel' || kind === 'subagent' || kind === 'plan';
}

function isItsOwn(verdict: CallVerdict): boolean {
  return verdict.kind === 'plan' || ('approval' in verdict && verdict.approval);
}

/** The events of each turn, up to the stop of the run. */
function turnsOf(own: readonly JournalEvent[]): ReadonlyMap<string, readonly JournalEvent[]> {
  const turns = new Map<string, JournalEvent[]>();
  for (const event of own) {
    if (event.type === 'run.stopping') break;
    const frame = event.frame_id?.split('/')[0];
    if (frame === undefined) continue;
    turns.set(frame, [...(turns.get(frame) ?? []), event]);
  }
  return turns;
}

function mustFollow(
  place: string,
  turn: readonly JournalEvent[],
  calls: number,
  width: number,
): void {
  const running: number[] = [];
  const detached = new Set<number>();
  let launched = 0;
  for (const event of turn) {
    const ordinal = numberIn(event, 'ordinal');
    if (isBackground(event)) detached.add(ordinal);
    if (detached.has(ordinal)) continue;
    if (isLaunch(event)) {
      launched += 1;
      running.push(ordinal);
    } else if (isChildEnd(event)) {
      const hasRoom = running.length < width && launched < calls;
      must(!hasRoom, `${place}: ${ordinal} ends before all that have room have started`);
      const oldest = running.shift();
      must(oldest === ordinal, `${place}: ${ordinal} ends before ${oldest}, which is older`);
    }
  }
}

/** SPEC N1: every run that a note went to has one receipt, and every child that was running got it. */
export function notesAreReceived(story: Story): void {
  const taken = new Map<string, number>();
  for (const event of story.events) {
    const place = `${event.run_id} ${event.data['note_id']}`;
    if (event.type === 'run.user_note') {
      must(!taken.has(place), `${event.event_id} is the second of its note`);
      taken.set(place, 0);
    }
    if (event.type.startsWith('note.')) taken.set(place, (taken.get(place) ?? 0) + 1);
  }
  for (const [place, receipts] of taken) must(receipts === 1, `${place}: ${receipts} receipts`);
  for (const { runId, noteId } of story.told.notes ?? []) {
    must(taken.has(`${runId} ${noteId}`), `${runId} took ${noteId} and does not know of it`);
  }
  for (const event of story.events) {
    if (event.type !== 'run.user_note') continue;
    for (const runId of event.data['forwarded_to'] as string[]) {
      must(taken.has(`${runId} ${event.data['note_id']}`), `${runId} never got ${event.event_id}`);
    }
    mustReachChildren(story, event);
  }
}

function mustReachChildren(story: Story, note: JournalEvent): void {
  const live = new Map<number, string>();
  for (const event of story.eventsOf(note.run_id)) {
    if (event.seq >= note.seq) break;
    if (isLaunch(event)) live.set(numberIn(event, 'ordinal'), textIn(event, 'child_run_id'));
    if (isChildEnd(event) || isDropped(event)) live.delete(numberIn(event, 'ordinal'));
    if (event.type === 'plan.aborted') dropTasks(story, live, event);
  }
  const to = note.data['forwarded_to'] as string[];
  const failed = note.data['forward_failed'] as string[];
  const named = [...to, ...failed].sort();
  const expected = [...live.values()].sort();
  must(named.join() === expected.join(), `${note.event_id} names ${named}, not ${expected}`);
  for (const child of live.values()) {
    const own = story.eventsOf(child);
    const isThere = (own[0]?.seq ?? note.seq) < note.seq;
    const hasEnded = own.some(({ type, seq }) => isTerminal(type) && seq < note.seq);
    const missed = isThere && !hasEnded && !to.includes(child);
    must(!missed, `${note.event_id} is not passed on to ${child}, which is running`);
  }
}

/** A task that its plan wants no more is not told anything either. */
function isDropped({ type, data }: JournalEvent): boolean {
  return type === 'plan.task.invalidated' && data['ordinal'] !== null;
}

function dropTasks(story: Story, live: Map<number, string>, { run_id, frame_id }: JournalEvent) {
  const launches = story.eventsOf(run_id).filter((event) => event.frame_id === frame_id);
  for (const event of launches.filter(isLaunch)) live.delete(numberIn(event, 'ordinal'));
}

/** SPEC P2 to P10, by a second account of each plan. */
export function plansKeepTheirRules({ byRun }: Story): void {
  for (const own of byRun.values()) {
    const width = numberIn(own[0] as JournalEvent, 'width_max');
    const oracles = new Map<string, PlanOracle>();
    for (const event of own) {
      if (!event.type.startsWith('plan.') || event.frame_id === null) continue;
      if (event.type === 'plan.started') {
        oracles.set(event.frame_id, new PlanOracle(event.data as unknown as PlanSpec, width));
      }
      try {
        oracles.get(event.frame_id)?.watch(machineEvent(event) as PlanEvent);
      } catch (thrown) {
        throw new Error(`${event.event_id} (${event.type}): ${thrown}`);
      }
    }
    mustBeOver(own, oracles);
  }
}

/** A plan ends with its call, unless the run was stopped before. */
function mustBeOver(own: readonly JournalEvent[], oracles: ReadonlyMap<string, PlanOracle>): void {
  if (own.some(({ type }) => type === 'run.stopping')) return;
  for (const [frame, oracle] of oracles) {
    must(oracle.isOver, `the plan of ${own[0]?.run_id} ${frame} never ends`);
  }
}
