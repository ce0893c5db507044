import { isDeepStrictEqual } from 'node:util';
import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import { must, type Story } from './sim-story.ts';
import {
  isBackground,
  isChildEnd,
  isLaunch,
  isResult,
  numberIn,
  textIn,
} from './sim-story-events.ts';

export function comesToRest({ log }: Story): void {
  must(log.strays.length === 0, log.strays.join('; '));
}

/** SPEC R13, and J5 for the one beginning. */
export function endsOnce({ byRun }: Story): void {
  for (const [runId, own] of byRun) {
    const count = (fits: (type: string) => boolean) => own.filter(({ type }) => fits(type)).length;
    const begun = count((type) => type === 'run.started');
    must(own[0]?.type === 'run.started' && begun === 1, `${runId} begins ${begun} times`);
    const ends = count(isTerminal);
    must(ends === 1, `${runId} ends ${ends} times`);
    must(isTerminal(own.at(-1)?.type ?? ''), `${runId} goes on after its end`);
  }
}

/** SPEC J1. */
export function idsAreUnbroken({ byRun }: Story): void {
  for (const [runId, own] of byRun) {
    own.forEach(({ event_id }, at) => {
      must(event_id === `${runId}#${at + 1}`, `${event_id} stands at place ${at + 1} of ${runId}`);
    });
  }
}

/** SPEC J1: no event without its cause, which is the right one and came before it. */
export function causesAreUnbroken({ events, byId }: Story): void {
  for (const event of events) {
    if (event.type === 'run.started' && event.parent_run_id === null) {
      must(event.parent_event_id === null, `${event.event_id} has a cause`);
      continue;
    }
    const cause = byId.get(event.parent_event_id ?? '');
    must(cause !== undefined, `${event.event_id} (${event.type}) has no cause`);
    must(cause.seq < event.seq, `${event.event_id} comes before its cause`);
    const from = `${event.event_id} (${event.type}) follows from ${cause.event_id} (${cause.type})`;
    must(isCause(cause, event), from);
  }
}

function isCause(cause: JournalEvent, event: JournalEvent): boolean {
  const { type } = event;
  const isSame = (key: string) => cause.data[key] === event.data[key];
  const isFramed = cause.frame_id === event.frame_id;
  if (type === 'run.started')
    return isLaunch(cause) && textIn(cause, 'child_run_id') === event.run_id;
  if (type === 'run.user_note' && cause.run_id !== event.run_id) {
    return cause.type === type && cause.run_id === event.parent_run_id && isSame('note_id');
  }
  if (cause.run_id !== event.run_id) return false;
  if (type.startsWith('note.')) return cause.type === 'run.user_note' && isSame('note_id');
  if (type === 'model.completed' || type === 'model.failed') {
    return cause.type === 'model.started' && isFramed;
  }
  if (type === 'delegation.started') return cause.type === 'tool.started' && isFramed;
  if (type === 'delegation.completed' || type === 'delegation.failed') {
    return cause.type === 'delegation.started' && isSame('ordinal');
  }
  if (type.startsWith('plan.')) return isFramed;
  if (type.startsWith('tool.') || type.startsWith('approval.')) {
    const turn = event.frame_id?.split('/')[0];
    return isFramed || (cause.type === 'model.completed' && cause.frame_id === turn);
  }
  return true;
}

/** SPEC N4: who is admitted ends once, after its own run has, and before its parent. */
export function childrenEndFirst(story: Story): void {
  for (const [runId, own] of story.byRun) {
    const live = new Map<number, string>();
    const detached = new Set<string>();
    for (const event of own) {
      if (isLaunch(event)) live.set(numberIn(event, 'ordinal'), textIn(event, 'child_run_id'));
      if (isBackground(event)) detached.add(textIn(event, 'child_run_id'));
      if (isTerminal(event.type)) {
        const isLeft = (child: string) => event.type === 'run.completed' && detached.has(child);
        const left = [...live.values()].filter((child) => !isLeft(child));
        must(left.length === 0, `${runId} ends before ${left}`);
      }
      if (!isChildEnd(event)) continue;
      const child = live.get(numberIn(event, 'ordinal')) ?? '';
      must(child === textIn(event, 'child_run_id'), `${event.event_id} ends ${child} again`);
      live.delete(numberIn(event, 'ordinal'));
      const last = story.eventsOf(child).at(-1);
      must(
        last === undefined || last.seq < event.seq,
        `${event.event_id} is before ${child}'s end`,
      );
    }
  }
}

/** SPEC D3, G3. */
export function widthAndDepthHold(story: Story): void {
  for (const [runId, own] of story.byRun) {
    const [first] = own;
    if (first === undefined) continue;
    const [width, depth, depthMax] = ['width_max', 'depth', 'depth_max'].map((key) =>
      numberIn(first, key),
    ) as [number, number, number];
    const [above] = story.eventsOf(first.parent_run_id ?? '');
    const expected = above === undefined ? 0 : numberIn(above, 'depth') + 1;
    must(first.parent_run_id === null || depth === expected, `${runId} is at depth ${depth}`);
    const live = new Set<number>();
    for (const event of own) {
      if (isLaunch(event)) {
        if (!isBackground(event)) live.add(numberIn(event, 'ordinal'));
        const isDeep = event.data['kind'] !== 'subagent' && depth >= depthMax;
        must(!isDeep, `${runId} launches at depth ${depth} of ${depthMax}`);
      }
      if (isChildEnd(event)) live.delete(numberIn(event, 'ordinal'));
      must(live.size <= width, `${runId} has ${live.size} children, at most ${width} are allowed`);
    }
  }
}

/** SPEC R11. */
export function launchesAreBounded({ byRun, told }: Story): void {
  const { runsMax } = told;
  if (runsMax === undefined) return;
  const launched = new Map<string, number>();
  for (const runId of byRun.keys()) {
    const [root = ''] = runId.split('/');
    if (root === runId) continue;
    const count = (launched.get(root) ?? 0) + 1;
    launched.set(root, count);
    must(count <= runsMax, `${root} launches ${count} runs, at most ${runsMax} are allowed`);
  }
}

/** SPEC M4: what a run says it used is what its answers and its children used. */
export function usageIsConserved(story: Story): void {
  const keys = ['inputTokens', 'outputTokens', 'cachedInputTokens'];
  const usedBy = (event: JournalEvent) => {
    const usage = (event.data['usage'] ?? {}) as Record<string, number | null>;
    return [...keys.map((key) => usage[key] ?? null), event.data['cost_cents'] as number | null];
  };
  for (const [runId, own] of story.byRun) {
    let sum: (number | null)[] = [0, 0, 0, 0];
    for (const event of own) {
      const isEnd = isChildEnd(event);
      const used = usedBy(event);
      if (isEnd) {
        const child = story.eventsOf(textIn(event, 'child_run_id')).at(-1);
        const own = child === undefined ? [0, 0, 0, 0] : usedBy(child);
        must(isDeepStrictEqual(used, own), `${event.event_id} tells another usage than its child`);
      }
      if (isEnd || event.type === 'model.completed') {
        sum = sum.map((part, at) => added(part, used[at] ?? null));
      }
      if (wasPaidFor(event)) sum = [null, null, null, null];
      if (isTerminal(event.type)) {
        must(isDeepStrictEqual(used, sum), `${runId} tells ${used} of ${sum} that were used`);
      }
    }
  }
}

/** A request that reached a model before it failed: nobody says what it cost, so nobody says what the run cost. */
function wasPaidFor({ type, data }: JournalEvent): boolean {
  const reached = ['model.aborted', 'model.malformed', 'model.server-error', 'model.timeout'];
  return type === 'model.failed' && reached.includes(String(data['error_type']));
}

function added(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

/** SPEC P14 for whole runs: the fold of the journal is what the supervisor had. */
export function replayIsLive({ states, told }: Story): void {
  for (const [runId, live] of told.states ?? []) {
    const folded = states.get(runId);
    if (isDeepStrictEqual(folded, live)) continue;
    const differing = Object.keys(live).filter(
      (key) => !isDeepStrictEqual(Reflect.get(live, key), Reflect.get(folded ?? {}, key)),
    );
    must(false, `${runId} folds to another state than it had: ${differing.join(', ')}`);
  }
}

/** SPEC R12: exactly one result a call, before the next request. */
export function resultsAreSingle({ byRun }: Story): void {
  for (const [runId, own] of byRun) {
    const open = new Set<string>();
    for (const event of own) {
      if (event.type === 'model.started' || isTerminal(event.type)) {
        must(open.size === 0, `${event.event_id}: no result of ${[...open].join(', ')}`);
      }
      if (event.type === 'model.completed') {
        for (const { id } of event.data['calls'] as unknown as { id: string }[]) open.add(id);
      }
      if (!isResult(event)) continue;
      const call = textIn(event, 'call_id');
      must(open.delete(call), `${event.event_id} is another result of ${call} in ${runId}`);
    }
  }
}
