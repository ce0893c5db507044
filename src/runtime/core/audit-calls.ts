import { auditStart } from './audit-life.ts';
import {
  type AuditDesk,
  type AuditedCall,
  type AuditedEvent,
  type AuditedRun,
  callById,
  expectThat,
  worseEffect,
} from './audit-run.ts';
import type { JournalEvent } from './event.ts';
import { callFrame } from './run-event.ts';

type ResultData = Extract<AuditedEvent, { type: 'tool.completed' | 'tool.failed' }>['data'];

/** SPEC R12, X3, G6: what was asked for, approved, begun and answered, each call once. */
export function auditCalls(desk: AuditDesk, run: AuditedRun, event: AuditedEvent): void {
  const { at } = event;
  switch (event.type) {
    case 'approval.requested':
      auditRequest(desk, run, event.data.call_id, at);
      return;
    case 'approval.granted':
      auditDecision(desk, run, event.data.call_id, 'approved', at);
      return;
    case 'approval.denied':
      auditDecision(desk, run, event.data.call_id, 'denied', at);
      return;
    case 'tool.started':
      auditBegin(desk, run, event.data, at);
      return;
    case 'tool.completed': {
      const call = auditResult(desk, run, event.data, at);
      if (call === null) return;
      auditSuccess(desk, run, call, at);
      const acted = call.verdict.kind === 'tool' && call.verdict.effect !== 'read';
      if (acted) run.effect = worseEffect(run.effect, 'applied');
      call.status = 'done';
      return;
    }
    case 'tool.failed': {
      const call = auditResult(desk, run, event.data, at);
      if (call === null) return;
      const couldAct = call.status === 'running' || event.data.effect === 'none';
      expectThat(
        couldAct,
        desk,
        'refusal-effect',
        at,
        'the call never began, so it can have had no effect',
      );
      if (event.data.shared_with === undefined) {
        run.effect = worseEffect(run.effect, event.data.effect);
      }
      call.status = 'done';
      return;
    }
    default:
  }
}

function auditRequest(desk: AuditDesk, run: AuditedRun, id: string, at: JournalEvent): void {
  const call = callById(run, id);
  const isWanted = call?.status === 'waiting' && needsApproval(call);
  expectThat(
    isWanted,
    desk,
    'approval-unasked',
    at,
    'no call of the answer waits to be asked about',
  );
  auditStart(desk, run, at);
  if (call?.status === 'waiting') call.status = 'asking';
}

function auditDecision(
  desk: AuditDesk,
  run: AuditedRun,
  id: string,
  decided: 'approved' | 'denied',
  at: JournalEvent,
): void {
  const call = callById(run, id);
  const isAsked = call?.status === 'asking' && run.stopping === null;
  expectThat(
    isAsked,
    desk,
    'approval-unasked',
    at,
    'no approval of this call was being waited for',
  );
  if (call?.status === 'asking') call.status = decided;
}

function needsApproval({ verdict }: AuditedCall): boolean {
  return 'approval' in verdict && verdict.approval;
}

function auditBegin(
  desk: AuditDesk,
  run: AuditedRun,
  data: Extract<AuditedEvent, { type: 'tool.started' }>['data'],
  at: JournalEvent,
): void {
  auditStart(desk, run, at);
  const call = callById(run, data.call_id);
  if (call === undefined) {
    desk.report('call-start', at, 'the last answer has no such call');
    return;
  }
  const { kind } = call.verdict;
  const isFor = kind !== 'refused' && kind !== 'shared' && kind !== 'review';
  const isFirst = call.status !== 'running' && call.status !== 'done';
  expectThat(isFor, desk, 'call-start', at, `a call that was ${kind} is not carried out`);
  expectThat(isFirst, desk, 'call-start', at, 'the call had begun before');
  const mayBegin = call.status === 'approved' || !needsApproval(call);
  expectThat(
    mayBegin || !isFirst,
    desk,
    'call-unapproved',
    at,
    'the call needs an approval that it did not get',
  );
  const effect = call.verdict.kind === 'tool' ? call.verdict.effect : 'effectful';
  const isSame = data.name === call.name && data.effect_class === effect;
  expectThat(isSame, desk, 'call-differs', at, 'its name or effect class is not that of the call');
  if (isFirst) call.status = 'running';
}

/** @returns the call whose one result this is; `null` = there is none to be had. */
function auditResult(
  desk: AuditDesk,
  run: AuditedRun,
  data: ResultData,
  at: JournalEvent,
): AuditedCall | null {
  const call = callById(run, data.call_id);
  if (call === undefined || run.phase !== 'calling') {
    desk.report('result-unasked', at, 'no answer of the current turn asked for this call');
    return null;
  }
  if (call.status === 'done') {
    desk.report('result-repeated', at, `${callFrame(run.turn, call.index)} already has its result`);
    return null;
  }
  expectThat(data.name === call.name, desk, 'call-differs', at, 'its name is not that of the call');
  auditChildResult(desk, run, call, data, at);
  const { verdict } = call;
  if (verdict.kind !== 'shared' || run.stopping !== null) return call;
  const isOwed =
    run.calls[verdict.with - 1]?.status === 'done' && data.shared_with === verdict.with;
  expectThat(isOwed, desk, 'result-early', at, 'the call whose result it shares has none yet');
  return call;
}

function auditSuccess(desk: AuditDesk, run: AuditedRun, call: AuditedCall, at: JournalEvent): void {
  const { kind } = call.verdict;
  expectThat(
    kind !== 'refused',
    desk,
    'refusal-effect',
    at,
    'the call was refused, it cannot succeed',
  );
  if (kind === 'refused' || kind === 'review' || kind === 'shared') return;
  const began = call.status === 'running';
  expectThat(began, desk, 'result-early', at, 'the call has a result without having begun');
  if (kind !== 'plan') return;
  const frame = callFrame(run.turn, call.index);
  const plan = run.plans.find((each) => each.frame === frame);
  expectThat(plan?.ended === true, desk, 'result-early', at, 'its plan has not ended');
}

/** SPEC R13: a delegation's result comes after the ends of its children, and says the same of them. */
function auditChildResult(
  desk: AuditDesk,
  run: AuditedRun,
  { launched, verdict }: AuditedCall,
  { structured }: ResultData,
  at: JournalEvent,
): void {
  const parts = structured?.['children'] as readonly { readonly status?: unknown }[] | undefined;
  launched.forEach((ordinal, place) => {
    const child = run.children.get(ordinal);
    if (child === undefined) return;
    if (child.taskId !== null && structured?.['status'] === 'running') {
      const isIt = structured['task_id'] === child.taskId;
      expectThat(isIt, desk, 'result-differs', at, 'it names another background task');
      return;
    }
    expectThat(child.ended, desk, 'result-early', at, `its child ${child.runId} has not ended`);
    const said = verdict.kind === 'parallel' ? parts?.[place]?.status : structured?.['status'];
    const ended = desk.runs.get(child.runId)?.ended?.status;
    const isSame = said === undefined || ended === undefined || said === ended;
    const words = `its child ended ${ended}, the result says otherwise`;
    expectThat(isSame, desk, 'result-differs', at, words);
  });
}
