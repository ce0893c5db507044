import { Fault } from './base/fault.ts';
import type { Random } from './base/random.ts';
import { type CancelAnswer, endsRun, type Run, runOutcome, type SentNote } from './run.ts';
import { followEvents } from './runtime/follow-events.ts';
import type { Journal } from './runtime/journal.ts';
import type { NoteReceipts } from './runtime/note-receipts.ts';
import type { RunSupervisor } from './runtime/run-supervisor.ts';

export interface HandleMeans {
  readonly journal: Journal;
  readonly random: Random;
  readonly receipts: NoteReceipts;
}

/** Characters of a note: as much as the results of a whole turn, by default. */
export const NOTE_CHARS_MAX = 64_000;
/** Characters of a reason to cancel: it goes into the journal and to the models above. */
const REASON_CHARS_MAX = 4000;

/** What a caller holds of a run: its supervisor's public side. */
export function runHandle(supervisor: RunSupervisor, means: HandleMeans): Run {
  const { runId: id } = supervisor;
  return {
    id,
    events: (options = {}) => {
      const filter = options.subtree === true ? { subtreeOf: id } : { runId: id };
      return followEvents(means.journal, filter, endsRun(id));
    },
    note: async (text) => sendNote(supervisor, means, text),
    cancel: async (reason = 'cancelled by the user') => cancel(supervisor, reason),
    result: async () => {
      await supervisor.durableEnd();
      return runOutcome(supervisor.outcome());
    },
  };
}

async function cancel(supervisor: RunSupervisor, reason: string): Promise<CancelAnswer> {
  if (typeof reason !== 'string' || reason.length > REASON_CHARS_MAX) {
    const found = typeof reason === 'string' ? `${reason.length}` : `a ${typeof reason}`;
    const words = `cancel: the reason must be a text of at most ${REASON_CHARS_MAX} characters, found ${found}`;
    throw new Fault('argument.invalid', words);
  }
  const was = supervisor.cancel(reason, 'user');
  await supervisor.durableEnd();
  if (was === 'running') return 'cancelled';
  return was === 'stopping' ? 'already stopping' : 'already ended';
}

function sendNote(supervisor: RunSupervisor, means: HandleMeans, text: string): SentNote {
  if (typeof text !== 'string' || text.trim() === '') {
    throw new Fault('argument.invalid', 'the note is empty; say what the run should know');
  }
  if (text.length > NOTE_CHARS_MAX) {
    const words = `the note has ${text.length} characters, at most ${NOTE_CHARS_MAX}; put it into a file and name that`;
    throw new Fault('argument.invalid', words);
  }
  const { runId } = supervisor;
  if (supervisor.hasEnded) throw ended(runId);
  const noteId = `note_${means.random.id()}`;
  const receipts = means.receipts.track(noteId, runId);
  // Whoever does not ask for them must not hear of a host that closes before they are all there.
  receipts.catch(() => undefined);
  let taken = false;
  try {
    taken = supervisor.note({ note_id: noteId, text });
  } finally {
    if (!taken) means.receipts.untrack(noteId);
  }
  if (!taken) throw ended(runId);
  return { noteId, receipts };
}

function ended(runId: string): Fault {
  return new Fault('run.ended', `run ${runId} has ended; the note was not delivered`);
}
