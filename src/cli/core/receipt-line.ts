/** What became of a note in one run (SPEC N1). */
export interface Receipt {
  readonly run_id: string;
  readonly outcome: 'read' | 'too_late' | 'dead_letter' | 'forward_failed';
  readonly turn: number | null;
}

export function receiptLine({ run_id: runId, outcome, turn }: Receipt): string {
  switch (outcome) {
    case 'read':
      return `${runId}: read in turn ${turn ?? '?'}`;
    case 'too_late':
      return `${runId}: too late, it ended without another turn`;
    case 'dead_letter':
      return `${runId}: dead letter, it was stopped before it could read it`;
    case 'forward_failed':
      return `${runId}: forward failed, it had ended when the note came`;
  }
}
