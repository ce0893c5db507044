import { BudgetAudit } from './audit-budget.ts';
import { auditCalls } from './audit-calls.ts';
import { auditChildren } from './audit-children.ts';
import { type Finding, type FindingCode, type FindingPlace, finding } from './audit-finding.ts';
import { auditLife, frameOf } from './audit-life.ts';
import { auditCause, auditPlace, auditRunId, placeInRun } from './audit-order.ts';
import { auditPlans } from './audit-plan.ts';
import { auditChildStart, auditRecord, auditRoot } from './audit-rights.ts';
import { type AuditDesk, type AuditedEvent, type AuditedRun, newRun } from './audit-run.ts';
import {
  EVENT_TYPES,
  EVENT_VERSION,
  type EventType,
  isTerminal,
  type JournalEvent,
} from './event.ts';
import { faultOfData } from './event-shapes.ts';
import { callFrame } from './run-event.ts';
import { rootOf } from './run-id.ts';

/** What an audit finds in a journal, in the order of the journal; what it finds at its end comes last. */
export function auditJournal(events: Iterable<JournalEvent>): readonly Finding[] {
  const audit = new JournalAudit();
  for (const event of events) audit.see(event);
  return audit.finish();
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Audits a journal from its events alone, one at a time, in the order in which they stand. Every prefix of a sound journal
 * is sound: that is what a crash leaves.
 */
export class JournalAudit {
  readonly #findings: Finding[] = [];
  readonly #runs = new Map<string, AuditedRun>();
  readonly #desk: AuditDesk = {
    runs: this.#runs,
    report: (code, at, words) => this.#report(code, at, words),
  };
  readonly #strays: JournalEvent[] = [];
  readonly #budgets = new BudgetAudit();
  #lastSeq = 0;
  #lastTs = '';

  /** Runs so far. */
  get runs(): number {
    return this.#runs.size;
  }

  /** Has a run with this id begun, and not ended? */
  isOpen(runId: string): boolean {
    return this.#runs.get(runId)?.ended === null;
  }

  see(event: JournalEvent): void {
    this.#auditSeq(event);
    const known = this.#runs.get(event.run_id);
    const run = known ?? newRun(event);
    if (known === undefined) {
      this.#runs.set(event.run_id, run);
      auditRunId(this.#desk, event);
      if (event.type !== 'run.started') {
        this.#report('run-unstarted', event, 'its run has no run.started before it');
        run.torn = true;
      }
    }
    auditPlace(this.#desk, run, event);
    auditCause(this.#desk, run, event, (stray) => this.#strays.push(stray));
    const isAfterEnd = run.ended !== null;
    if (isAfterEnd) this.#auditAfterEnd(event);
    const n = placeInRun(event.event_id)?.n ?? run.count + 1;
    run.count = Math.max(run.count, n);
    run.types[n - 1] ??= event.type;
    run.frames[n - 1] ??= event.frame_id;
    run.last = event;
    const audited = isAfterEnd ? null : this.#readable(run, event);
    if (audited !== null) this.#auditData(run, audited);
  }

  /** What only the end of the journal can tell. */
  finish(): readonly Finding[] {
    for (const event of this.#strays) {
      const cause = placeInRun(event.parent_event_id ?? '');
      const later = cause !== null && this.#runs.get(cause.runId)?.types[cause.n - 1] !== undefined;
      if (later) this.#report('cause-later', event, 'its cause stands after it');
      else this.#report('cause-missing', event, 'no event has the id that it names as its cause');
    }
    for (const run of this.#runs.values()) if (run.ended === null) this.#auditUnfinished(run);
    return this.#findings;
  }

  #report(code: FindingCode, at: FindingPlace, words: string): void {
    this.#findings.push(finding(code, at, words));
  }

  #auditSeq(event: JournalEvent): void {
    if (event.seq > this.#lastSeq + 1) {
      this.#report(
        'seq-gap',
        event,
        `it follows seq ${this.#lastSeq}: what stood between is missing`,
      );
    } else if (event.seq <= this.#lastSeq) {
      this.#report('seq-order', event, `it follows seq ${this.#lastSeq}`);
    }
    this.#lastSeq = Math.max(this.#lastSeq, event.seq);
    if (!TIME.test(event.ts)) {
      this.#report('shape', event, 'ts is not a time in UTC with milliseconds');
      return;
    }
    if (event.ts < this.#lastTs) {
      this.#report(
        'clock-backwards',
        event,
        `it says ${event.ts}, the event before it ${this.#lastTs}`,
      );
    }
    this.#lastTs = event.ts;
  }

  #auditAfterEnd(event: JournalEvent): void {
    if (isTerminal(event.type)) this.#report('ended-twice', event, 'its run had ended before');
    else this.#report('after-end', event, 'its run had ended before');
  }

  /** The event with data that can be judged; `null` where it cannot. A run with such an event is torn. */
  #readable(run: AuditedRun, event: JournalEvent): AuditedEvent | null {
    const { type, v, frame_id: frame, data } = event;
    const isKnown = (EVENT_TYPES as readonly string[]).includes(type);
    if (!isKnown || v > EVENT_VERSION) {
      run.torn = true;
      if (v > EVENT_VERSION) this.#report('newer-version', event, `its shape is version ${v}`);
      else this.#report('unknown-type', event, 'this troupe knows no such type of event');
      return null;
    }
    const fault = faultOfData(type as EventType, v, data);
    if (fault !== null) {
      run.torn = true;
      this.#report('shape', event, fault);
      return null;
    }
    return { type, frame, data, at: event } as unknown as AuditedEvent;
  }

  #auditData(run: AuditedRun, event: AuditedEvent): void {
    if (event.type === 'run.started') this.#auditBegin(run, event);
    if (run.torn) {
      if (isTerminal(event.type)) {
        const status = event.type.slice('run.'.length);
        run.ended = { ...(event.data as object), status } as AuditedRun['ended'];
      }
      return;
    }
    const frame = frameOf(run, event);
    if (frame !== undefined && frame !== event.at.frame_id) {
      this.#report('frame', event.at, `its frame is not ${frame ?? 'empty'}`);
    }
    this.#budgets.see(this.#desk, run, event);
    auditCalls(this.#desk, run, event);
    auditChildren(this.#desk, run, event);
    auditPlans(this.#desk, run, event);
    auditLife(this.#desk, run, event);
  }

  #auditBegin(run: AuditedRun, { data, at }: Extract<AuditedEvent, { type: 'run.started' }>): void {
    if (run.spec !== null) {
      this.#report('run-restarted', at, 'its run had begun before');
      return;
    }
    run.spec = data;
    auditRecord(this.#desk, data, at);
    if (run.parentRunId === null) auditRoot(this.#desk, data, at);
    else auditChildStart(this.#desk, this.#runs.get(run.parentRunId), data, at);
  }

  /** SPEC D9: does a background run above it go on? */
  #isCarried({ parentRunId }: AuditedRun): boolean {
    const parent = this.#runs.get(parentRunId ?? '');
    if (parent === undefined || parent.ended !== null) return false;
    return parent.spec?.background !== undefined || this.#isCarried(parent);
  }

  #auditUnfinished(run: AuditedRun): void {
    const root = this.#runs.get(rootOf(run.runId));
    if (run.parentRunId === null) {
      const below = [...this.#runs.values()].filter(
        (each) => each !== run && each.ended === null && rootOf(each.runId) === run.runId,
      );
      const more = below.length === 0 ? '' : `, nor have ${below.length} of the runs below it`;
      this.#report('unfinished', run.last, `the run has not ended${more}`);
    } else if (run.spec?.background !== undefined) {
      this.#report('unfinished', run.last, 'the background run has not ended');
    } else if ((root === undefined || root.ended !== null) && !this.#isCarried(run)) {
      this.#report('orphan', run.last, 'the run has not ended, and no root of it goes on');
    }
    for (const call of run.calls) {
      const { verdict, status, index } = call;
      if (status !== 'running' || verdict.kind !== 'tool' || verdict.effect !== 'effectful')
        continue;
      const frame = callFrame(run.turn, index);
      this.#report('interrupted-call', run.last, `${frame}, ${call.name}, was under way`);
    }
  }
}
