import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import type { TaskRecord } from '../../src/runtime/core/task-record.ts';
import { must, type Story } from './sim-story.ts';
import { isResult, textIn } from './sim-story-events.ts';

/** SPEC D9: what a background task came to is what its run's last event says, told once, to its file and to whoever asks. */
export function tasksEndAsTheirRuns(story: Story): void {
  const runs = new Map<string, string>();
  for (const [runId, [first]] of story.byRun) {
    const background = first?.data['background'] as { task_id: string } | undefined;
    if (background === undefined) continue;
    must(!runs.has(background.task_id), `two runs are task ${background.task_id}`);
    runs.set(background.task_id, runId);
  }
  for (const { states } of story.log.files.values()) {
    const record = states.at(-1)?.record;
    if (record === undefined) continue;
    const ends = states.filter((state) => state.record.status !== 'running').length;
    const runId = runs.get(record.task_id);
    must(runId !== undefined, `a file tells of ${record.task_id}, which no run is`);
    must(ends === 1, `the file of ${runId} is given ${ends} last states`);
    mustAgree(`the file of ${runId}`, record, story.eventsOf(runId).at(-1));
  }
  for (const event of story.events) if (isResult(event)) mustBeKnown(story, event, runs);
}

function statusOf({ type, data }: JournalEvent): string {
  if (!isTerminal(type)) return 'running';
  if (type === 'run.completed') return 'completed';
  return type === 'run.cancelled' && data['by'] !== 'deadline' ? 'cancelled' : 'failed';
}

function mustAgree(place: string, record: TaskRecord, end: JournalEvent | undefined): void {
  const status = end === undefined ? 'running' : statusOf(end);
  must(record.status === status, `${place} says ${record.status}, its run ${status}`);
  const answer = end?.type === 'run.completed' ? textIn(end, 'answer') : '';
  must((record.output ?? '').endsWith(answer), `${place} tells another answer`);
}

/** What a run reads of a task is as true as the moment in which it reads it, and it reads of no strangers. */
function mustBeKnown(story: Story, event: JournalEvent, runs: ReadonlyMap<string, string>): void {
  const structured = event.data['structured'] as { task_id?: string } | undefined;
  if (structured?.task_id !== undefined) {
    const isThere = story.log.files.size === 0 || runs.has(structured.task_id);
    must(isThere, `${event.event_id} tells of a task that no run is`);
  }
  for (const record of recordsIn(textIn(event, 'text'))) {
    const runId = runs.get(record.task_id) ?? '';
    must(runId.startsWith(`${event.run_id}/`), `${event.event_id} tells of a stranger, ${runId}`);
    const before = story.eventsOf(runId).filter(({ seq }) => seq < event.seq);
    const last = before.at(-1);
    must(last !== undefined, `${event.event_id} tells of ${runId}, which has not begun`);
    if (record.status === 'running') continue;
    must(record.status === statusOf(last), `${event.event_id} says ${record.status} of ${runId}`);
  }
}

function recordsIn(text: string): readonly TaskRecord[] {
  if (!text.startsWith('{') && !text.startsWith('[')) return [];
  try {
    const value = JSON.parse(text) as TaskRecord | TaskRecord[] | { results?: TaskRecord[] };
    if (Array.isArray(value)) return value.filter((each) => each?.task_id !== undefined);
    if ('results' in value) return value.results ?? [];
    return 'task_id' in value ? [value] : [];
  } catch {
    return [];
  }
}
