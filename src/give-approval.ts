import type { ApprovalDesk } from './approval-desk.ts';
import { Fault } from './base/fault.ts';
import {
  APPROVAL_BOOK_TYPES,
  ApprovalBook,
  type ApprovalFate,
} from './runtime/core/approval-book.ts';
import type { Journal } from './runtime/journal.ts';

/** A person's answer to a request. */
export interface ApprovalDecision {
  readonly granted: boolean;
  /** Who said so, for the journal and the model; default `user`. */
  readonly by?: string;
  /** Of a denial: why; the model reads it. At most 4,000 characters. */
  readonly why?: string;
}

/** Characters of `by` and of `why`: they go into the journal and to a model. */
const WORDS_MAX = 4000;

/**
 * Answers a request of this host; resolves once the answer is on the disk.
 * @throws Fault `argument.invalid`; `approval.not-found`; `approval.settled` if it has an answer, or its call is over;
 * `run.ended` if no host goes on with its run; `journal.unwritable`.
 */
export async function giveApproval(
  desk: ApprovalDesk,
  journal: Journal,
  id: string,
  decision: ApprovalDecision,
): Promise<void> {
  const answer = checked(decision);
  if (!desk.answer(id, answer)) {
    await journal.flush();
    const fate = await fateIn(journal, id);
    // Its record may have been heard of before it was put to this desk.
    if (fate.kind !== 'open' || !desk.answer(id, answer)) throw unanswerable(id, fate);
  }
  await journal.flush();
}

function checked({ granted, by = 'user', why = '' }: ApprovalDecision) {
  if (typeof granted !== 'boolean') {
    throw new Fault('argument.invalid', `approve: "granted" must be true or false`);
  }
  for (const [key, text] of Object.entries({ by, why })) {
    if (typeof text === 'string' && text.length <= WORDS_MAX) continue;
    const words = `approve: "${key}" must be a text of at most ${WORDS_MAX} characters`;
    throw new Fault('argument.invalid', words);
  }
  return { granted, by, why: why === '' && !granted ? 'no reason given' : why };
}

async function fateIn(journal: Journal, id: string): Promise<ApprovalFate> {
  const book = new ApprovalBook();
  const filter = { runId: id.slice(0, Math.max(0, id.lastIndexOf('#'))) };
  for await (const event of journal.read({ ...filter, types: APPROVAL_BOOK_TYPES })) {
    book.see(event);
  }
  return book.fateOf(id);
}

/** Why a request cannot be answered, and what to do. */
export function unanswerable(id: string, fate: ApprovalFate): Fault {
  switch (fate.kind) {
    case 'unknown':
      return new Fault(
        'approval.not-found',
        `no approval '${id}' in this journal; \`troupe approvals\` lists those that wait`,
      );
    case 'open':
      return new Fault(
        'run.ended',
        `approval ${id} is not being waited for: no host goes on with its run; \`troupe resume\` does, and asks again under the same id`,
      );
    case 'granted':
      return settled(id, `was already granted by ${fate.by}`);
    case 'denied':
      return settled(id, `was already denied by ${fate.by}: ${fate.why}`);
    default:
      return settled(id, `is over, nothing was started: ${fate.why}`);
  }
}

function settled(id: string, words: string): Fault {
  return new Fault('approval.settled', `approval ${id} ${words}`);
}
