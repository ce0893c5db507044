import { type AuditDesk, type AuditedEvent, type AuditedRun, expectThat } from './audit-run.ts';
import { auditTotals } from './audit-totals.ts';
import type { JournalEvent } from './event.ts';
import {
  type AnsweredCall,
  callFrame,
  type RunStatusEnded,
  type TerminalData,
  turnFrame,
} from './run-event.ts';
import { addKnown, addUsage } from './usage.ts';

/** SPEC R3, R13, N1, N4: turns, notes, the stop and the one end of a run. */
export function auditLife(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
  const { at } = event;
  switch (event.type) {
    case 'turn.started':
      auditTurn(desk, run, event.data.turn, at);
      return;
    case 'model.started':
      expectThat(
        run.phase === 'begun' && event.data.turn === run.turn,
        desk,
        'turn-order',
        at,
        'a model is asked only once a turn, right after the turn has begun',
      );
      run.phase = 'asking';
      return;
    case 'model.completed':
      auditAnswer(desk, run, event.data, at);
      return;
    case 'model.failed':
      auditAsked(desk, run, event.data.turn, at);
      run.mayBeUnknown = true;
      run.phase = 'turning';
      return;
    case 'turn.completed':
      auditTurnEnd(desk, run, event.data.turn, at);
      return;
    case 'run.stopping':
      expectThat(
        run.stopping === null,
        desk,
        'stop-repeated',
        at,
        'the run was being stopped already; the first cause wins',
      );
      run.stopping ??= event.data;
      return;
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'run.incomplete':
      auditEnd(desk, run, event.data, event.type.slice('run.'.length) as RunStatusEnded, at);
      return;
    default:
      auditNotes(desk, run, event);
  }
}

/** SPEC N1: each note has one receipt, and a note that was forwarded arrives. */
function auditNotes(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
  const { at } = event;
  switch (event.type) {
    case 'run.user_note': {
      const { note_id: noteId, forwarded_to: to } = event.data;
      const isNew = !run.notes.has(noteId);
      expectThat(isNew, desk, 'note-receipt', at, 'the run already has this note');
      run.notes.set(noteId, 'unread');
      run.owedNotes.delete(noteId);
      for (const runId of to) desk.runs.get(runId)?.owedNotes.add(noteId);
      return;
    }
    case 'note.read': {
      const isNow = event.data.turn === run.turn;
      expectThat(isNow, desk, 'note-receipt', at, 'it was not read in this turn');
      auditReceipt(desk, run, event.data.note_id, at);
      return;
    }
    case 'note.too_late':
    case 'note.dead_letter':
      auditReceipt(desk, run, event.data.note_id, at);
      return;
    default:
  }
}

function auditTurn(desk: AuditDesk, run: AuditedRun, turn: number, at: JournalEvent): void {
  expectThat(
    turn === run.turn + 1 && run.phase === 'turning',
    desk,
    'turn-order',
    at,
    `turn ${turn} begins, but turn ${run.turn} is the last one and ${run.phase === 'turning' ? 'over' : 'not over'}`,
  );
  const most = run.spec?.max_turns ?? turn;
  expectThat(turn <= most, desk, 'turn-limit', at, `turn ${turn} of at most ${most}`);
  auditStart(desk, run, at);
  run.turn = turn;
  run.phase = 'begun';
  run.calls = [];
}

/** SPEC N2: once a run is being stopped, nothing of it begins. */
export function auditStart(desk: AuditDesk, run: AuditedRun, at: JournalEvent): void {
  expectThat(
    run.stopping === null,
    desk,
    'start-after-stop',
    at,
    'it begins after its run began to stop',
  );
}

function auditAsked(desk: AuditDesk, run: AuditedRun, turn: number, at: JournalEvent): void {
  expectThat(
    run.phase === 'asking' && turn === run.turn && run.stopping === null,
    desk,
    'answer-unasked',
    at,
    'no model was being asked for this turn',
  );
}

function auditAnswer(
  desk: AuditDesk,
  run: AuditedRun,
  data: Extract<AuditedEvent, { type: 'model.completed' }>['data'],
  at: JournalEvent,
): void {
  auditAsked(desk, run, data.turn, at);
  const ids = new Set(data.calls.map(({ id }) => id));
  expectThat(
    ids.size === data.calls.length,
    desk,
    'call-id-repeated',
    at,
    'two calls of the answer have one id',
  );
  data.calls.forEach((call, place) => {
    auditRights(desk, run, call, place + 1, at);
  });
  run.calls = data.calls.map((call, place) => ({
    ...call,
    index: place + 1,
    status: 'waiting',
    launched: [],
  }));
  run.phase = 'calling';
  run.lastText = data.text;
  run.usage = addUsage(run.usage, data.usage);
  run.cost = addKnown(run.cost, data.cost_cents);
}

/** SPEC G2, X3: only what is in the run's registry is ever carried out. */
function auditRights(
  desk: AuditDesk,
  { spec }: AuditedRun,
  { name, verdict }: AnsweredCall,
  index: number,
  at: JournalEvent,
): void {
  if (spec === null || verdict.kind === 'refused' || verdict.kind === 'shared') return;
  const isOffered = spec.tools.includes(name);
  expectThat(
    isOffered,
    desk,
    'rights-exceeded',
    at,
    `call ${index} is of a tool that the run does not have`,
  );
  if (verdict.kind !== 'tool' || spec.autonomy !== 'read_only') return;
  expectThat(
    verdict.effect === 'read',
    desk,
    'rights-exceeded',
    at,
    `call ${index} changes something, but the run is read_only`,
  );
}

function auditTurnEnd(desk: AuditDesk, run: AuditedRun, turn: number, at: JournalEvent): void {
  const isOver = run.phase === 'calling' && turn === run.turn;
  expectThat(isOver, desk, 'turn-order', at, 'no such turn was going on');
  auditOpenCalls(desk, run, at);
  run.phase = 'turning';
}

/** SPEC R12: exactly one result a call; none of them is left open when its turn or its run ends. */
function auditOpenCalls(desk: AuditDesk, run: AuditedRun, at: JournalEvent): void {
  for (const call of run.calls) {
    if (call.status === 'done') continue;
    const frame = callFrame(run.turn, call.index);
    desk.report('call-open', at, `${frame} has no result, neither tool.completed nor tool.failed`);
  }
}

function auditReceipt(desk: AuditDesk, run: AuditedRun, noteId: string, at: JournalEvent): void {
  const isUnread = run.notes.get(noteId) === 'unread';
  expectThat(isUnread, desk, 'note-receipt', at, 'the run has no such note unread');
  run.notes.set(noteId, 'settled');
}

function auditEnd(
  desk: AuditDesk,
  run: AuditedRun,
  data: TerminalData,
  status: RunStatusEnded,
  at: JournalEvent,
): void {
  auditOpenCalls(desk, run, at);
  // SPEC N4: a run that is completed leaves its background children behind, any other stops them first.
  const left = status === 'completed' ? run.live : [...run.live, ...run.detached];
  for (const ordinal of left) {
    const child = run.children.get(ordinal)?.runId;
    desk.report('orphan', at, `the run ends before its child ${child} has`);
  }
  for (const standing of run.notes.values()) {
    if (standing === 'unread')
      desk.report('note-receipt', at, 'the run ends with a note that has no receipt');
  }
  for (const noteId of run.owedNotes) {
    desk.report('note-lost', at, `note ${noteId} was forwarded to the run, which never had it`);
  }
  auditWhyEnded(desk, run, data, status, at);
  auditTotals(desk, run, data, at);
  run.ended = { ...data, status };
}

/** SPEC R13: a run ends by itself, or as the first cause of its stop says. */
function auditWhyEnded(
  desk: AuditDesk,
  run: AuditedRun,
  data: TerminalData,
  status: RunStatusEnded,
  at: JournalEvent,
): void {
  const fits = run.stopping === null ? status !== 'cancelled' : status === run.stopping.status;
  expectThat(fits, desk, 'end-differs', at, `it ends ${status}, which is not what its stop says`);
  if (run.stopping === null && run.plans.some((plan) => !plan.ended)) {
    desk.report('plan-statuses', at, 'the run ends by itself while a plan of it has no end');
  }
  if (status !== 'completed') return;
  expectThat(run.phase === 'turning', desk, 'end-differs', at, 'it is completed within a turn');
  const isOwn =
    data.answer === run.lastText || data.answer === '' || (data.review ?? null) !== null;
  expectThat(isOwn, desk, 'answer-differs', at, 'its answer is not what its model said last');
}

/** Where an event of the run belongs; `undefined` = its type says nothing about that. */
export function frameOf(run: AuditedRun, event: AuditedEvent): string | null | undefined {
  switch (event.type) {
    case 'turn.started':
    case 'turn.completed':
    case 'model.started':
    case 'model.completed':
    case 'model.failed':
    case 'note.read':
      return turnFrame(event.data.turn);
    case 'tool.started':
    case 'tool.completed':
    case 'tool.failed':
    case 'approval.requested':
    case 'approval.granted':
    case 'approval.denied': {
      const { call_id: id } = event.data;
      const call = run.calls.find((each) => each.id === id);
      return call === undefined ? undefined : callFrame(run.turn, call.index);
    }
    case 'delegation.started':
      return callFrame(run.turn, event.data.call);
    case 'delegation.completed':
    case 'delegation.failed':
      return undefined;
    default:
      return event.type.startsWith('plan.') ? undefined : null;
  }
}
