import { isTerminal, type JournalEvent, TERMINAL_TYPES } from './event.ts';

/** A request that has no answer in the journal. */
export interface OpenApproval {
  readonly approval_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly tool: string;
  /** As the model wrote them. */
  readonly args_text: string;
  /** RFC 3339. */
  readonly requested_at: string;
}

/** What became of a request; `over`: the call it was about ended without an answer. */
export type ApprovalFate =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open' }
  | { readonly kind: 'granted'; readonly by: string }
  | { readonly kind: 'denied'; readonly by: string; readonly why: string }
  | { readonly kind: 'over'; readonly why: string };

/** The events that an `ApprovalBook` needs. */
export const APPROVAL_BOOK_TYPES: readonly string[] = [
  'run.started',
  'approval.requested',
  'approval.granted',
  'approval.denied',
  'tool.failed',
  'run.stopping',
  ...TERMINAL_TYPES,
];

/** Every request for an approval and what became of it, as the journal has it. Feed it events in `seq` order. */
export class ApprovalBook {
  readonly #agents = new Map<string, string>();
  readonly #open = new Map<string, OpenApproval>();
  readonly #fates = new Map<string, ApprovalFate>();

  see(event: JournalEvent): void {
    const { type, run_id: runId, data } = event;
    if (type === 'run.started') this.#agents.set(runId, String(data['agent_id']));
    else if (type === 'approval.requested') this.#requested(event);
    else if (type === 'run.stopping') this.#runOver(runId, 'its run was being stopped');
    else if (isTerminal(type)) {
      this.#runOver(runId, `its run ended: ${type.slice('run.'.length)}`);
      this.#agents.delete(runId);
    } else this.#answered(event);
  }

  /** In the order in which they were asked for. */
  open(): readonly OpenApproval[] {
    return [...this.#open.values()];
  }

  fateOf(approvalId: string): ApprovalFate {
    return this.#fates.get(approvalId) ?? { kind: 'unknown' };
  }

  #requested({ event_id: id, run_id, ts, data }: JournalEvent): void {
    this.#fates.set(id, { kind: 'open' });
    this.#open.set(id, {
      approval_id: id,
      run_id,
      agent_id: this.#agents.get(run_id) ?? '',
      tool: String(data['name']),
      args_text: String(data['args_text']),
      requested_at: ts,
    });
  }

  /** An answer follows from its request, and so does the end of a call that was never answered (SPEC J1). */
  #answered({ type, parent_event_id: id, data }: JournalEvent): void {
    if (id === null || !this.#open.has(id)) return;
    const by = String(data['by']);
    if (type === 'approval.granted') this.#close(id, { kind: 'granted', by });
    else if (type === 'approval.denied') {
      this.#close(id, { kind: 'denied', by, why: String(data['why']) });
    } else if (type === 'tool.failed') {
      this.#close(id, { kind: 'over', why: String(data['error']) });
    }
  }

  #runOver(runId: string, why: string): void {
    if (this.#open.size === 0) return;
    for (const { approval_id: id, run_id } of this.#open.values()) {
      if (run_id === runId) this.#close(id, { kind: 'over', why });
    }
  }

  #close(id: string, fate: ApprovalFate): void {
    this.#open.delete(id);
    this.#fates.set(id, fate);
  }
}
