/** Changes to a journal, each as small as the fault that it stands for. */
import { eventId, type JournalEvent } from '../../src/runtime/core/event.ts';

export type Events = readonly JournalEvent[];
export type Fits = (event: JournalEvent) => boolean;
type Data = Record<string, unknown>;

export function ofType(type: string, more: Fits = () => true): Fits {
  return (event) => event.type === type && more(event);
}

export function root(event: JournalEvent): boolean {
  return event.parent_run_id === null;
}

export function child(event: JournalEvent): boolean {
  return event.parent_run_id !== null;
}

export function says(key: string, value: unknown): Fits {
  return (event) => event.data[key] === value;
}

export function both(...all: readonly Fits[]): Fits {
  return (event) => all.every((fits) => fits(event));
}

/** Where the first event that fits stands. */
export function placeOf(events: Events, fits: Fits): number {
  const at = events.findIndex(fits);
  if (at === -1) throw new Error('the journal has no event of the kind that is to be changed');
  return at;
}

export function find(events: Events, fits: Fits): JournalEvent {
  return events[placeOf(events, fits)] as JournalEvent;
}

/** The first event that fits, with other fields. */
export function edit(fits: Fits, change: (event: JournalEvent) => object) {
  return (events: Events): Events => {
    const target = find(events, fits);
    return events.map((event) =>
      event === target ? ({ ...event, ...change(event) } as JournalEvent) : event,
    );
  };
}

/** The first event that fits, with other data. */
export function editData(fits: Fits, change: (data: Data, event: JournalEvent) => object) {
  return edit(fits, (event) => ({
    data: { ...event.data, ...change(structuredClone(event.data) as Data, event) },
  }));
}

/** The first event that fits is gone, and every other keeps its number. */
export function tear(fits: Fits) {
  return (events: Events): Events => {
    const target = find(events, fits);
    return events.filter((event) => event !== target);
  };
}

/** All events that fit are gone, as if they had never been written. */
export function omit(fits: Fits) {
  return (events: Events): Events => {
    placeOf(events, fits);
    return renumbered(
      events.filter((event) => !fits(event)),
      events,
    );
  };
}

/** The first event that fits is gone likewise. */
export function omitFirst(fits: Fits) {
  return (events: Events): Events => {
    const target = find(events, fits);
    return omit((event) => event === target)(events);
  };
}

/** One more event after the first that fits, made of it. */
export function insertAfter(fits: Fits, make: (event: JournalEvent, events: Events) => object) {
  return (events: Events): Events => {
    const at = placeOf(events, fits);
    const before = events[at] as JournalEvent;
    const added = { ...before, parent_event_id: before.event_id, ...make(before, events) };
    const all = [...events.slice(0, at + 1), added as JournalEvent, ...events.slice(at + 1)];
    return renumbered(all, events);
  };
}

/** The first event that fits `what` stands right before the first that fits `where`. */
export function moveBefore(what: Fits, where: Fits) {
  return (events: Events): Events => {
    const moved = find(events, what);
    const rest = events.filter((event) => event !== moved);
    const at = placeOf(rest, where);
    return renumbered([...rest.slice(0, at), moved, ...rest.slice(at)], events);
  };
}

export function cutAfter(fits: Fits) {
  return (events: Events): Events => events.slice(0, placeOf(events, fits) + 1);
}

export function inTurn(...changes: readonly ((events: Events) => Events)[]) {
  return (events: Events): Events => changes.reduce((now, change) => change(now), events);
}

/** New numbers without a gap; what named an event still names it, and what named a lost one names that one's cause. */
export function renumbered(events: Events, before: Events): Events {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  const added: string[] = [];
  for (const event of events) {
    const n = (counts.get(event.run_id) ?? 0) + 1;
    counts.set(event.run_id, n);
    const id = eventId(event.run_id, n);
    if (!names.has(event.event_id)) names.set(event.event_id, id);
    added.push(id);
  }
  const causes = new Map(before.map((event) => [event.event_id, event.parent_event_id]));
  const nameOf = (id: string | null): string | null => {
    for (let now = id; now !== null; now = causes.get(now) ?? null) {
      const name = names.get(now);
      if (name !== undefined) return name;
    }
    return id;
  };
  return events.map((event, at) => ({
    ...event,
    seq: at + 1,
    event_id: added[at] ?? event.event_id,
    parent_event_id: nameOf(event.parent_event_id),
  }));
}
