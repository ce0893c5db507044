export type Severity = 'error' | 'warning' | 'info';

const KEEP =
  'keep a copy of the state directory; if nobody changed the file this is a defect of troupe';
const RESTORE = 'something of the journal is gone: restore a copy of the state directory';
const NOTHING = 'nothing to do';

/** What each finding means for whoever has the journal: how grave it is, and what to do. */
const RULES = {
  // The order of the whole (SPEC J1).
  'seq-gap': ['error', RESTORE],
  'seq-order': ['error', RESTORE],
  'event-id': ['error', KEEP],
  'event-id-gap': ['error', RESTORE],
  'event-id-repeated': ['error', KEEP],
  'run-id': ['error', KEEP],
  'parent-differs': ['error', KEEP],
  'cause-missing': ['error', RESTORE],
  'cause-later': ['error', KEEP],
  'cause-kind': ['error', KEEP],
  frame: ['error', KEEP],
  shape: ['error', KEEP],
  'clock-backwards': [
    'warning',
    'the clock of the host was set back; the order is that of seq, so nothing is lost',
  ],
  'unknown-type': ['warning', 'update troupe to audit what a newer one wrote'],
  'newer-version': ['warning', 'update troupe to audit what a newer one wrote'],
  // The life of a run (SPEC R1, R3, R13, N1, N4).
  'run-unstarted': ['error', RESTORE],
  'run-restarted': ['error', KEEP],
  'after-end': ['error', KEEP],
  'ended-twice': ['error', KEEP],
  'end-differs': ['error', KEEP],
  'answer-differs': ['error', KEEP],
  orphan: [
    'error',
    '`troupe resume` takes its root up again, if that has not ended; else nothing carries it on',
  ],
  'stop-repeated': ['error', KEEP],
  'start-after-stop': ['error', KEEP],
  'turn-order': ['error', KEEP],
  'turn-limit': ['error', KEEP],
  'answer-unasked': ['error', KEEP],
  'note-receipt': ['error', KEEP],
  'note-lost': ['error', 'say it again with `troupe note`, if the run still goes on'],
  // Calls and their results (SPEC R12, G6, X3).
  'call-id-repeated': ['error', KEEP],
  'call-open': ['error', RESTORE],
  'call-differs': ['error', KEEP],
  'call-start': ['error', KEEP],
  'call-unapproved': ['error', 'a call was carried out that nobody approved: look at what it did'],
  'approval-unasked': ['error', KEEP],
  'result-unasked': ['error', KEEP],
  'result-repeated': ['error', KEEP],
  'result-early': ['error', KEEP],
  'result-differs': ['error', KEEP],
  'refusal-effect': ['error', KEEP],
  'rights-exceeded': [
    'error',
    'a call was carried out that the run had no right to: look at what it did',
  ],
  // Children (SPEC D3, G3, G7, R9, R11).
  ordinal: ['error', KEEP],
  'child-id': ['error', KEEP],
  'child-cause': ['error', KEEP],
  'child-differs': ['error', KEEP],
  'child-end-unmatched': ['error', KEEP],
  'child-end-differs': ['error', KEEP],
  'child-not-ended': ['error', KEEP],
  'width-exceeded': ['error', KEEP],
  'depth-exceeded': ['error', KEEP],
  'fifo-order': ['error', KEEP],
  'depth-raised': ['error', KEEP],
  'rights-widened': ['error', KEEP],
  'security-differs': ['error', KEEP],
  // Budgets (SPEC X2, S5).
  'budget-exceeded': ['error', 'look at what it did beyond its limit; this is a defect of troupe'],
  // Plans (SPEC P1 to P11).
  'plan-differs': ['error', KEEP],
  'plan-unasked': ['error', KEEP],
  'plan-after-end': ['error', KEEP],
  'plan-task': ['error', KEEP],
  'plan-dependency': ['error', KEEP],
  'plan-launches': ['error', KEEP],
  'plan-closed': ['error', KEEP],
  'plan-review': ['error', KEEP],
  'plan-rework': ['error', KEEP],
  'plan-statuses': ['error', KEEP],
  // Sums (SPEC M4).
  'usage-differs': ['error', KEEP],
  'cost-differs': ['error', KEEP],
  'turns-differs': ['error', KEEP],
  'effect-differs': ['error', KEEP],
  // What is as it should be, and worth knowing.
  unfinished: ['info', '`troupe resume` carries it on, unless its host still does'],
  'interrupted-call': [
    'info',
    'it may or may not have taken effect and is not repeated: look at what it did',
  ],
  // The state directory around the journal.
  'journal-damaged': ['error', 'restore a copy, or move the file away to begin a new journal'],
  'lock-held': ['info', NOTHING],
  'host-record-missing': ['warning', 'stop that host if it does not answer `troupe ps`'],
  'host-record-stale': ['info', 'the next host clears it away'],
  'result-orphaned': ['warning', 'no event names this file: it may be deleted'],
  'result-missing': [
    'warning',
    'the whole text is gone, the journal holds what was kept of it: restore a copy',
  ],
} as const satisfies Record<string, readonly [Severity, string]>;

export type FindingCode = keyof typeof RULES;

/** One thing that an audit found, where, and what to do about it. Plain JSON; quotes nothing that an event says (SPEC C6). */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** `null` = it concerns the journal or its directory as a whole. */
  readonly run_id: string | null;
  readonly event_id: string | null;
  readonly seq: number | null;
  readonly words: string;
  readonly advice: string;
}

/** Where in the journal a finding is. */
export interface FindingPlace {
  readonly run_id: string;
  readonly event_id: string | null;
  readonly seq: number | null;
}

export function finding(code: FindingCode, place: FindingPlace | null, words: string): Finding {
  const [severity, advice] = RULES[code];
  return {
    code,
    severity,
    run_id: place?.run_id ?? null,
    event_id: place?.event_id ?? null,
    seq: place?.seq ?? null,
    words,
    advice,
  };
}
