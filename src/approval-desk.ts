// The calls of this host that wait for a person's approval. Owns the list of them and the calls of `onApproval`.
// A1  A request is answered once: the first answer wins, whoever gave it, and takes the question back everywhere else.
// A2  Only what is in the list can be answered. What was answered, has timed out or was withdrawn is not in it, so that a
//     late answer starts nothing.
// A3  An answer comes from `onApproval` or through `answer`, which no run can reach: no text of a model is ever one.
import { type ApprovalAsker, answerOf } from './approval-asker.ts';
import { messageOf } from './base/fault.ts';
import type { ApprovalAnswer, ApprovalRequest } from './runtime/engine.ts';

interface Pending {
  readonly request: ApprovalRequest;
  readonly told: (answer: ApprovalAnswer) => void;
  readonly abort: AbortController;
}

/** Who hears of new requests, beside `onApproval`. */
interface Audience {
  listenerCount(event: 'approval'): number;
  emit(event: 'approval', request: ApprovalRequest): boolean;
}

export class ApprovalDesk {
  readonly #asker: ApprovalAsker | null;
  readonly #waits: boolean;
  readonly #pending = new Map<string, Pending>();
  #audience: Audience | null = null;

  /** `waits`: somebody will answer, though nobody is told. */
  constructor(asker: ApprovalAsker | null, waits: boolean) {
    this.#asker = asker;
    this.#waits = waits;
  }

  tell(audience: Audience): void {
    this.#audience = audience;
  }

  /** As `EnginePort.approve`. */
  ask(
    request: ApprovalRequest,
    told: (answer: ApprovalAnswer) => void,
  ): ((reason: Error) => void) | null {
    const audience = this.#audience;
    const isHeard = audience !== null && audience.listenerCount('approval') > 0;
    if (this.#asker === null && !this.#waits && !isHeard) return null;
    const pending = { request, told, abort: new AbortController() };
    this.#pending.set(request.id, pending);
    if (this.#asker !== null) void this.#put(this.#asker, pending);
    // Later, so that what a listener throws is not taken for the run's failure.
    queueMicrotask(() => {
      if (this.#isOpen(pending)) audience?.emit('approval', request);
    });
    return (reason) => this.#withdraw(pending, reason);
  }

  /** In the order in which they were asked for. */
  pending(): readonly ApprovalRequest[] {
    return [...this.#pending.values()].map(({ request }) => request);
  }

  /** @returns false, and nothing happens, if no such request waits (A2). */
  answer(id: string, answer: ApprovalAnswer): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    this.#withdraw(pending, new Error('the approval was answered elsewhere'));
    pending.told(answer);
    return true;
  }

  async #put(asker: ApprovalAsker, pending: Pending): Promise<void> {
    let answer: ApprovalAnswer;
    try {
      answer = answerOf(await asker(pending.request, pending.abort.signal));
    } catch (thrown) {
      answer = { granted: false, by: 'runtime', why: `asking failed: ${messageOf(thrown)}` };
    }
    if (!this.#isOpen(pending)) return; // A1, A2
    this.#pending.delete(pending.request.id);
    pending.told(answer);
  }

  #isOpen(pending: Pending): boolean {
    return this.#pending.get(pending.request.id) === pending;
  }

  #withdraw(pending: Pending, reason: Error): void {
    if (!this.#isOpen(pending)) return;
    this.#pending.delete(pending.request.id);
    pending.abort.abort(reason);
  }
}
