/** Every way to damage a sound journal that the audit must name, with the finding that names it. */
import type { FindingCode } from '../../src/runtime/core/audit-finding.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { SecurityContext } from '../../src/runtime/core/run-spec.ts';
import type { GoodJournals } from './good-journals.ts';
import {
  both,
  child,
  cutAfter,
  type Events,
  edit,
  editData,
  find,
  insertAfter,
  inTurn,
  moveBefore,
  ofType,
  omit,
  omitFirst,
  root,
  says,
  tear,
} from './mutate.ts';

export interface Mutation {
  readonly what: string;
  readonly of: keyof GoodJournals;
  readonly change: (events: Events) => Events;
  readonly code: FindingCode;
}

interface Call {
  id: string;
  name: string;
  verdict: Record<string, unknown> & { kind: string };
}

const firstAnswer = ofType('model.completed', (event) => callsOf(event).length > 0);

function callsOf(event: JournalEvent): Call[] {
  return (event.data as unknown as { calls: Call[] }).calls;
}

/** The calls of the first answer that has any, changed in place. */
function editCalls(fits: (event: JournalEvent) => boolean, change: (calls: Call[]) => void) {
  return editData(fits, (data) => {
    change(data['calls'] as Call[]);
    return { calls: data['calls'] };
  });
}

function spec(fits: (event: JournalEvent) => boolean, change: object) {
  return editData(both(ofType('run.started'), fits), () => change);
}

const subagent = (event: JournalEvent) => event.run_id.includes('/subagent/');
const COMMANDS = { allowed: [], envPassthrough: [], timeoutMs: 1000, blockHighRisk: true };
const tool = (name: string) => says('name', name);
const task = (id: string) => says('task_id', id);
const second = (type: string, more = (_: JournalEvent) => true) => {
  let seen = 0;
  return (event: JournalEvent) => {
    if (event.type !== type || !more(event)) return false;
    seen += 1;
    return seen === 2;
  };
};

const ORDER: readonly Mutation[] = [
  {
    what: 'an event is missing',
    of: 'desk',
    change: tear(ofType('tool.started')),
    code: 'seq-gap',
  },
  {
    what: 'the first event is missing',
    of: 'desk',
    change: (events) => events.slice(1),
    code: 'seq-gap',
  },
  { what: 'two events changed places', of: 'desk', change: swapped(9), code: 'seq-order' },
  {
    what: 'an event stands twice',
    of: 'desk',
    change: (events) => [...events.slice(0, 5), ...events.slice(4)],
    code: 'seq-order',
  },
  {
    what: 'an event_id has no place',
    of: 'desk',
    change: edit(ofType('turn.started'), ({ run_id }) => ({ event_id: run_id })),
    code: 'event-id',
  },
  {
    what: 'an event_id is that of another run',
    of: 'desk',
    change: edit(both(child, ofType('turn.started')), () => ({ event_id: 'run_x#2' })),
    code: 'event-id',
  },
  {
    what: 'a run lost one of its events',
    of: 'desk',
    change: reseated(tear(ofType('turn.completed'))),
    code: 'event-id-gap',
  },
  {
    what: 'a run has two events at one place',
    of: 'desk',
    change: reseated((events) => [...events.slice(0, 8), ...events.slice(7)]),
    code: 'event-id-repeated',
  },
  {
    what: 'a child has an id of its own making',
    of: 'desk',
    change: renamedRun('/delegate/02', '/errand/02'),
    code: 'run-id',
  },
  {
    what: 'a root has an id below another',
    of: 'audit',
    change: (events) => renamedRun(events[0]?.run_id ?? '', 'run_a/b')(events),
    code: 'run-id',
  },
  {
    what: 'an event names another parent run',
    of: 'desk',
    change: edit(both(child, ofType('turn.started')), () => ({ parent_run_id: 'run_x' })),
    code: 'parent-differs',
  },
  {
    what: 'an event has no cause',
    of: 'desk',
    change: edit(ofType('tool.started'), () => ({ parent_event_id: null })),
    code: 'cause-missing',
  },
  {
    what: 'a cause is of no event',
    of: 'desk',
    change: edit(ofType('tool.started'), ({ run_id }) => ({ parent_event_id: `${run_id}#999` })),
    code: 'cause-missing',
  },
  {
    what: 'a cause comes after its effect',
    of: 'desk',
    change: edit(ofType('model.started'), ({ run_id }) => ({ parent_event_id: `${run_id}#6` })),
    code: 'cause-later',
  },
  {
    what: 'an answer follows from no question',
    of: 'desk',
    change: edit(ofType('model.completed'), ({ run_id }) => ({ parent_event_id: `${run_id}#1` })),
    code: 'cause-kind',
  },
  {
    what: 'a result follows from another call',
    of: 'desk',
    change: edit(ofType('approval.denied'), (event) => ({
      parent_event_id: event.parent_event_id?.replace('#7', '#6'),
    })),
    code: 'cause-kind',
  },
  {
    what: "an event follows from another run's",
    of: 'desk',
    change: edit(both(child, ofType('turn.started')), ({ parent_run_id }) => ({
      parent_event_id: `${parent_run_id}#1`,
    })),
    code: 'cause-kind',
  },
  {
    what: 'a root follows from something',
    of: 'desk',
    change: edit(ofType('run.started'), ({ run_id }) => ({ parent_event_id: `${run_id}#1` })),
    code: 'cause-kind',
  },
  {
    what: 'a call is in the frame of another',
    of: 'desk',
    change: edit(ofType('approval.requested'), () => ({ frame_id: 'turn-1/call-1' })),
    code: 'frame',
  },
  {
    what: 'the end of a run is in a turn',
    of: 'desk',
    change: edit(ofType('run.completed'), () => ({ frame_id: 'turn-2' })),
    code: 'frame',
  },
  {
    what: 'a key of the data is missing',
    of: 'desk',
    change: edit(ofType('tool.started'), () => ({ data: { call_id: 'turn-1/call-1' } })),
    code: 'shape',
  },
  {
    what: 'a word is not of the vocabulary',
    of: 'desk',
    change: editData(ofType('run.completed'), () => ({ effect: 'perhaps' })),
    code: 'shape',
  },
  {
    what: 'a number became a text',
    of: 'audit',
    change: editData(ofType('turn.started'), () => ({ turn: '1' })),
    code: 'shape',
  },
  {
    what: 'a verdict has no kind',
    of: 'desk',
    change: editCalls(firstAnswer, (calls) => {
      for (const { verdict } of calls) verdict.kind = 'perhaps';
    }),
    code: 'shape',
  },
  {
    what: 'tokens are fewer than none',
    of: 'audit',
    change: editData(ofType('model.completed'), () => ({
      usage: { inputTokens: -1, outputTokens: 1, cachedInputTokens: 0 },
    })),
    code: 'shape',
  },
  {
    what: 'a time is no time',
    of: 'desk',
    change: edit(ofType('turn.started'), () => ({ ts: 'yesterday' })),
    code: 'shape',
  },
  {
    what: 'the clock went back',
    of: 'desk',
    change: edit(ofType('turn.completed'), () => ({ ts: '2001-01-01T00:00:00.000Z' })),
    code: 'clock-backwards',
  },
  {
    what: 'a type is not known',
    of: 'desk',
    change: edit(ofType('turn.started'), () => ({ type: 'turn.paused' })),
    code: 'unknown-type',
  },
  {
    what: 'a shape is of a later version',
    of: 'desk',
    change: edit(ofType('turn.started'), () => ({ v: 99 })),
    code: 'newer-version',
  },
];

const LIFE: readonly Mutation[] = [
  {
    what: 'a run never began',
    of: 'desk',
    change: omitFirst(both(child, ofType('run.started'))),
    code: 'run-unstarted',
  },
  {
    what: 'a run began twice',
    of: 'desk',
    change: insertAfter(ofType('turn.started'), (_, events) => ({
      ...startOf(events),
      frame_id: null,
    })),
    code: 'run-restarted',
  },
  {
    what: 'a run went on after its end',
    of: 'desk',
    change: insertAfter(both(root, ofType('run.completed')), () => ({
      type: 'turn.started',
      frame_id: 'turn-3',
      data: { turn: 3 },
    })),
    code: 'after-end',
  },
  {
    what: 'a run ended twice',
    of: 'desk',
    change: insertAfter(both(root, ofType('run.completed')), (event) => ({ data: event.data })),
    code: 'ended-twice',
  },
  {
    what: 'a completed run is told as cancelled',
    of: 'desk',
    change: edit(both(root, ofType('run.completed')), () => ({ type: 'run.cancelled' })),
    code: 'end-differs',
  },
  {
    what: 'a cancelled run is told as failed',
    of: 'stopped',
    change: edit(both(root, ofType('run.cancelled')), () => ({ type: 'run.failed' })),
    code: 'end-differs',
  },
  {
    what: 'a run ended within a turn',
    of: 'audit',
    change: moveBefore(both(root, ofType('run.completed')), both(root, second('turn.completed'))),
    code: 'end-differs',
  },
  {
    what: 'an answer was rewritten',
    of: 'desk',
    change: editData(both(root, ofType('run.completed')), () => ({ answer: 'something else' })),
    code: 'answer-differs',
  },
  {
    what: 'the end of a child is missing in its parent',
    of: 'desk',
    change: omit((event) => event.type === 'delegation.completed' && event.data['ordinal'] === 3),
    code: 'orphan',
  },
  {
    what: 'a run was stopped twice',
    of: 'stopped',
    change: insertAfter(ofType('run.stopping'), () => ({})),
    code: 'stop-repeated',
  },
  {
    what: 'a call began after the stop',
    of: 'desk',
    change: insertAfter(firstAnswer, () => ({
      type: 'run.stopping',
      frame_id: null,
      data: { status: 'cancelled', reason: 'x', by: 'user', error_type: null },
    })),
    code: 'start-after-stop',
  },
  {
    what: 'a child began after the stop',
    of: 'stopped',
    change: moveBefore(ofType('run.stopping'), ofType('delegation.started')),
    code: 'start-after-stop',
  },
  {
    what: 'a turn was passed over',
    of: 'desk',
    change: edit(second('turn.started', root), () => ({ frame_id: 'turn-3', data: { turn: 3 } })),
    code: 'turn-order',
  },
  {
    what: 'a turn began before the last one was over',
    of: 'desk',
    change: omitFirst(both(root, ofType('turn.completed'))),
    code: 'turn-order',
  },
  {
    what: 'a model was asked twice in a turn',
    of: 'desk',
    change: insertAfter(ofType('model.started'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'turn-order',
  },
  {
    what: 'a run took more turns than it may',
    of: 'desk',
    change: spec(root, { max_turns: 1 }),
    code: 'turn-limit',
  },
  {
    what: 'a model answered twice',
    of: 'audit',
    change: insertAfter(ofType('model.completed'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'answer-unasked',
  },
  {
    what: 'a note was never read',
    of: 'desk',
    change: omit(both(root, ofType('note.read'))),
    code: 'note-receipt',
  },
  {
    what: 'a note was read twice',
    of: 'desk',
    change: insertAfter(ofType('note.read'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'note-receipt',
  },
  {
    what: 'a note was read in another turn',
    of: 'desk',
    change: edit(ofType('note.read'), (event) => ({
      data: { ...event.data, turn: 1 },
      frame_id: 'turn-1',
    })),
    code: 'note-receipt',
  },
  {
    what: 'a dead letter is missing',
    of: 'stopped',
    change: omitFirst(ofType('note.dead_letter')),
    code: 'note-receipt',
  },
  {
    what: 'a forwarded note never arrived',
    of: 'desk',
    change: omit(
      (event) => child(event) && (event.type === 'run.user_note' || event.type === 'note.read'),
    ),
    code: 'note-lost',
  },
  {
    what: 'the journal ends in the middle',
    of: 'desk',
    change: cutAfter(ofType('delegation.started')),
    code: 'unfinished',
  },
  {
    what: 'it ends while an effectful call is under way',
    of: 'stopped',
    change: cutAfter(ofType('tool.started', tool('send'))),
    code: 'interrupted-call',
  },
  {
    what: 'a child is left when its root has ended',
    of: 'desk',
    change: omit(
      (event) =>
        event.run_id.endsWith('/02') &&
        (event.type === 'run.completed' || event.type === 'turn.completed'),
    ),
    code: 'orphan',
  },
];

const CALLS: readonly Mutation[] = [
  {
    what: 'two calls have one id',
    of: 'desk',
    change: editCalls(firstAnswer, (calls) => {
      (calls[1] as Call).id = (calls[0] as Call).id;
    }),
    code: 'call-id-repeated',
  },
  {
    what: 'a call has no result',
    of: 'desk',
    change: omitFirst(both(root, ofType('tool.completed'))),
    code: 'call-open',
  },
  {
    what: 'a refused call has no result',
    of: 'desk',
    change: omitFirst(both(root, ofType('tool.failed'))),
    code: 'call-open',
  },
  {
    what: 'another tool was started',
    of: 'desk',
    change: editData(ofType('tool.started', tool('send')), () => ({ name: 'pause' })),
    code: 'call-differs',
  },
  {
    what: 'an effectful call began as a harmless one',
    of: 'desk',
    change: editData(ofType('tool.started', tool('send')), () => ({ effect_class: 'read' })),
    code: 'call-differs',
  },
  {
    what: 'a result bears another name',
    of: 'desk',
    change: editData(ofType('tool.completed', tool('send')), () => ({ name: 'pause' })),
    code: 'call-differs',
  },
  {
    what: 'a call was carried out twice',
    of: 'desk',
    change: insertAfter(ofType('tool.started', tool('send')), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'call-start',
  },
  {
    what: 'a call that nobody made was carried out',
    of: 'audit',
    change: editData(ofType('tool.started'), () => ({ call_id: 'x' })),
    code: 'call-start',
  },
  {
    what: 'a refused call was carried out',
    of: 'desk',
    change: insertAfter(firstAnswer, (event) => ({
      type: 'tool.started',
      frame_id: 'turn-1/call-7',
      data: {
        call_id: callsOf(event)[6]?.id,
        name: 'nothing_of_that_name',
        effect_class: 'effectful',
      },
    })),
    code: 'call-start',
  },
  {
    what: 'a call was carried out unapproved',
    of: 'desk',
    change: omitFirst(ofType('approval.granted')),
    code: 'call-unapproved',
  },
  {
    what: 'a denied call was carried out',
    of: 'desk',
    change: insertAfter(ofType('approval.denied'), (event) => ({
      type: 'tool.started',
      parent_event_id: event.parent_event_id,
      data: { call_id: event.data['call_id'], name: 'send', effect_class: 'effectful' },
    })),
    code: 'call-unapproved',
  },
  {
    what: 'an approval was granted that nobody asked for',
    of: 'desk',
    change: omitFirst(ofType('approval.requested')),
    code: 'approval-unasked',
  },
  {
    what: 'an approval was asked for where none was needed',
    of: 'audit',
    change: insertAfter(firstAnswer, (event) => ({
      type: 'approval.requested',
      frame_id: 'turn-1/call-1',
      data: { call_id: callsOf(event)[0]?.id, name: 'agents', args_text: '{}' },
    })),
    code: 'approval-unasked',
  },
  {
    what: 'a result is of a call that nobody made',
    of: 'desk',
    change: editData(ofType('tool.completed', tool('send')), () => ({ call_id: 'x' })),
    code: 'result-unasked',
  },
  {
    what: 'a call has two results',
    of: 'desk',
    change: insertAfter(ofType('tool.completed', tool('send')), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'result-repeated',
  },
  {
    what: 'a refused call has a second result',
    of: 'desk',
    change: insertAfter(ofType('tool.failed'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'result-repeated',
  },
  {
    what: 'a call has a result without having begun',
    of: 'desk',
    change: omit(ofType('tool.started', tool('send'))),
    code: 'result-early',
  },
  {
    what: 'a delegation has its result before its child ended',
    of: 'desk',
    change: moveBefore(
      both(root, ofType('tool.completed', tool('delegate'))),
      ofType('delegation.completed'),
    ),
    code: 'result-early',
  },
  {
    what: 'a shared result came before its original',
    of: 'desk',
    change: moveBefore(
      ofType('tool.completed', (event) => event.data['shared_with'] === 1),
      both(root, ofType('tool.completed', tool('delegate'))),
    ),
    code: 'result-early',
  },
  {
    what: 'a plan has its result before its end',
    of: 'plan',
    change: moveBefore(ofType('tool.completed', tool('plan')), ofType('plan.completed')),
    code: 'result-early',
  },
  {
    what: 'a result tells another end of its child',
    of: 'desk',
    change: editData(
      ofType('tool.completed', (event) => event.data['structured'] !== undefined),
      (data) => ({ structured: { ...(data['structured'] as object), status: 'failed' } }),
    ),
    code: 'result-differs',
  },
  {
    what: 'a refused call had an effect',
    of: 'desk',
    change: editData(ofType('tool.failed'), () => ({ effect: 'applied' })),
    code: 'refusal-effect',
  },
  {
    what: 'a refused call succeeded',
    of: 'desk',
    change: edit(ofType('tool.failed'), () => ({ type: 'tool.completed' })),
    code: 'refusal-effect',
  },
  {
    what: 'a tool was used that the run does not have',
    of: 'desk',
    change: editData(ofType('run.started'), (data) => ({
      tools: (data['tools'] as string[]).filter((name) => name !== 'delegate'),
    })),
    code: 'rights-exceeded',
  },
  {
    what: 'a read-only run changed something',
    of: 'desk',
    change: spec(root, { autonomy: 'read_only' }),
    code: 'rights-exceeded',
  },
];

const CHILDREN: readonly Mutation[] = [
  {
    what: 'a launch ordinal was passed over',
    of: 'desk',
    change: editData(second('delegation.started'), () => ({ ordinal: 7 })),
    code: 'ordinal',
  },
  {
    what: 'a launch ordinal was used again',
    of: 'desk',
    change: editData(second('delegation.started'), () => ({ ordinal: 1 })),
    code: 'ordinal',
  },
  {
    what: 'a child was launched under another id',
    of: 'desk',
    change: editData(ofType('delegation.started'), ({ child_run_id: id }) => ({
      child_run_id: `${id}9`,
    })),
    code: 'child-id',
  },
  {
    what: "a child follows from its sibling's launch",
    of: 'desk',
    change: edit(both(child, second('run.started', child)), (event) => ({
      parent_event_id: event.parent_event_id?.replace(/#\d+$/, '#9'),
    })),
    code: 'child-cause',
  },
  {
    what: 'a child began that nobody launched',
    of: 'desk',
    change: omit((event) => event.type === 'delegation.started' && event.data['ordinal'] === 3),
    code: 'child-cause',
  },
  {
    what: 'a child began after its end was told',
    of: 'desk',
    change: moveBefore(
      both(root, ofType('delegation.completed')),
      both(child, ofType('run.started')),
    ),
    code: 'child-cause',
  },
  {
    what: 'another agent was launched than was asked for',
    of: 'desk',
    change: editData(ofType('delegation.started'), () => ({ agent_id: 'lead' })),
    code: 'child-differs',
  },
  {
    what: 'another agent began than was launched',
    of: 'desk',
    change: spec(child, { agent_id: 'lead' }),
    code: 'child-differs',
  },
  {
    what: 'a sub-agent says it is a delegate',
    of: 'desk',
    change: spec((event) => event.run_id.includes('subagent'), { origin: 'delegate' }),
    code: 'child-differs',
  },
  {
    what: 'a child counts itself to another root',
    of: 'desk',
    change: spec(child, { root_run_id: 'run_x' }),
    code: 'child-differs',
  },
  {
    what: 'a root stands deeper than 0',
    of: 'audit',
    change: spec(root, { depth: 1 }),
    code: 'child-differs',
  },
  {
    what: 'a child ended twice',
    of: 'desk',
    change: insertAfter(ofType('delegation.completed'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'child-end-unmatched',
  },
  {
    what: 'a child ended that was never launched',
    of: 'audit',
    change: editData(ofType('delegation.completed'), () => ({ ordinal: 9 })),
    code: 'child-end-unmatched',
  },
  {
    what: "a parent tells another end than its child's",
    of: 'desk',
    change: editData(ofType('delegation.completed'), () => ({ child_status: 'incomplete' })),
    code: 'child-end-differs',
  },
  {
    what: 'a parent counts other turns than its child',
    of: 'desk',
    change: editData(ofType('delegation.completed'), () => ({ turns: 9 })),
    code: 'child-end-differs',
  },
  {
    what: 'a parent hides the effect of its child',
    of: 'stopped',
    change: editData(ofType('run.cancelled'), () => ({ effect: 'uncertain' })),
    code: 'child-end-differs',
  },
  {
    what: 'a child has no end of its own',
    of: 'desk',
    change: omit((event) => event.run_id.endsWith('/02') && event.type === 'run.completed'),
    code: 'child-not-ended',
  },
  {
    what: 'a child is not in the journal at all',
    of: 'desk',
    change: omit((event) => event.run_id.endsWith('/02')),
    code: 'child-not-ended',
  },
  {
    what: 'a child ended after its parent said so',
    of: 'desk',
    change: moveBefore(
      both(root, ofType('delegation.completed')),
      both(
        child,
        ofType('run.completed', (event) => event.run_id.endsWith('/01')),
      ),
    ),
    code: 'child-not-ended',
  },
  {
    what: 'more children at a time than the width',
    of: 'desk',
    change: spec(root, { width_max: 1 }),
    code: 'width-exceeded',
  },
  {
    what: 'more tasks at a time than the width',
    of: 'plan',
    change: spec(root, { width_max: 1 }),
    code: 'width-exceeded',
  },
  {
    what: 'a child skips a level',
    of: 'desk',
    change: editData(ofType('delegation.started'), () => ({ depth: 2 })),
    code: 'depth-exceeded',
  },
  {
    what: 'a run at its depth limit delegated',
    of: 'audit',
    change: inTurn(spec(root, { depth_max: 0 })),
    code: 'depth-exceeded',
  },
  {
    what: 'a sub-agent spawned one',
    of: 'desk',
    change: spec(root, { is_subagent: true }),
    code: 'depth-exceeded',
  },
  {
    what: 'children were awaited out of order',
    of: 'desk',
    change: outOfOrder,
    code: 'fifo-order',
  },
  {
    what: 'a child raised the cap of the tree',
    of: 'desk',
    change: spec(child, { depth_max: 9 }),
    code: 'depth-raised',
  },
  {
    what: 'a root launches more runs than its hour may hold',
    of: 'plan',
    change: spec(root, { budget: { actions_per_hour_max: 2, cost_per_day_max_cents: 500 } }),
    code: 'budget-exceeded',
  },
  {
    what: 'a child does more than its own agent may, although its caller may do more',
    of: 'plan',
    change: spec(child, { budget: { actions_per_hour_max: 0, cost_per_day_max_cents: 0 } }),
    code: 'budget-exceeded',
  },
  {
    what: 'a child has a tool that its parent lacks',
    of: 'desk',
    change: editData(both(child, ofType('run.started')), (data) => ({
      tools: [...(data['tools'] as string[]), 'teleport'],
    })),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent acts more freely than its parent',
    of: 'desk',
    change: spec(subagent, { autonomy: 'full' }),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent may start a program that its parent may not',
    of: 'desk',
    change: editData(both(subagent, ofType('run.started')), ({ scope }) => ({
      scope: { ...(scope as object), commands: { ...COMMANDS, allowed: ['rm'] } },
    })),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent is not held to the folder of its parent',
    of: 'desk',
    change: editData(both(subagent, ofType('run.started')), ({ scope, security }) => ({
      scope: { ...(scope as object), files: [(security as unknown as SecurityContext).files] },
    })),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent remembers as another agent',
    of: 'desk',
    change: spec(subagent, { memory: { own: 'worker', readable: [] } }),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent was not narrowed as its call asked',
    of: 'desk',
    change: spec(subagent, { narrowings: [] }),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent has a tool that was taken from it',
    of: 'desk',
    change: editData(both(subagent, ofType('run.started')), (data) => ({
      tools: [...(data['tools'] as string[]), 'send'],
    })),
    code: 'rights-widened',
  },
  {
    what: 'a sub-agent may spend what was taken from it',
    of: 'desk',
    change: spec(subagent, { budget: { actions_per_hour_max: 6, cost_per_day_max_cents: 1 } }),
    code: 'rights-widened',
  },
  {
    what: 'a delegate was narrowed though nobody above it was',
    of: 'desk',
    change: spec(child, { narrowings: [{ autonomy: 'read_only' }] }),
    code: 'rights-widened',
  },
  {
    what: 'a delegate is independent though its call was not judged so',
    of: 'desk',
    change: spec(child, { independent: true }),
    code: 'rights-widened',
  },
  {
    what: 'a run at its depth limit is offered delegation',
    of: 'plan',
    change: editData(both(child, ofType('run.started')), (data) => ({
      tools: [...(data['tools'] as string[]), 'delegate'],
    })),
    code: 'rights-widened',
  },
  {
    what: 'a child runs under another principal',
    of: 'desk',
    change: editData(both(child, ofType('run.started')), (data) => ({
      security: { ...(data['security'] as object), principal: 'somebody else' },
    })),
    code: 'security-differs',
  },
  {
    what: 'a run is not bound by the frozen policy',
    of: 'desk',
    change: editData(both(root, ofType('run.started')), (data) => ({
      scope: { ...(data['scope'] as object), files: [] },
    })),
    code: 'security-differs',
  },
];

const PLANS: readonly Mutation[] = [
  {
    what: 'another plan ran than was checked',
    of: 'plan',
    change: editData(ofType('plan.started'), () => ({ max_rework: 4 })),
    code: 'plan-differs',
  },
  {
    what: 'a task ran with other dependencies',
    of: 'plan',
    change: editData(ofType('plan.task.started', task('qa')), () => ({ depends_on: [] })),
    code: 'plan-differs',
  },
  {
    what: 'a plan never started',
    of: 'plan',
    change: omit(ofType('plan.started')),
    code: 'plan-unasked',
  },
  {
    what: 'a plan started twice',
    of: 'plan',
    change: insertAfter(ofType('plan.started'), (event) => ({
      parent_event_id: event.parent_event_id,
    })),
    code: 'plan-unasked',
  },
  {
    what: 'a task ended after its plan',
    of: 'plan',
    change: moveBefore(ofType('plan.completed'), ofType('plan.task.completed', task('qa'))),
    code: 'plan-after-end',
  },
  {
    what: 'a plan ended with a task at work',
    of: 'plan',
    change: moveBefore(ofType('plan.completed'), ofType('plan.task.completed', task('qa'))),
    code: 'orphan',
  },
  {
    what: 'a task ran that the plan does not have',
    of: 'plan',
    change: editData(ofType('plan.task.started'), () => ({ task_id: 'extra' })),
    code: 'plan-task',
  },
  {
    what: 'a round was passed over',
    of: 'plan',
    change: editData(ofType('plan.task.started'), () => ({ round: 2 })),
    code: 'plan-task',
  },
  {
    what: 'a task started twice',
    of: 'plan',
    change: omitFirst(ofType('plan.task.reopened')),
    code: 'plan-task',
  },
  {
    what: 'a task that is done was skipped',
    of: 'plan',
    change: insertAfter(ofType('plan.task.completed'), (event) => ({
      type: 'plan.task.skipped',
      data: { task_id: event.data['task_id'], reason: 'plan_stopped', blocked_by: null },
    })),
    code: 'plan-task',
  },
  {
    what: 'a run that counts was discarded',
    of: 'plan',
    change: edit(ofType('plan.task.completed'), () => ({ type: 'plan.task.discarded' })),
    code: 'plan-task',
  },
  {
    what: 'a task was invalidated by one that it does not build on',
    of: 'plan',
    change: insertAfter(ofType('plan.task.completed'), (event) => ({
      type: 'plan.task.invalidated',
      data: { task_id: event.data['task_id'], because_of: 'qa', ordinal: null, child_run_id: null },
    })),
    code: 'plan-task',
  },
  {
    what: 'a task started before its dependencies',
    of: 'plan',
    change: moveBefore(ofType('plan.task.started', task('review')), ofType('plan.task.completed')),
    code: 'plan-dependency',
  },
  {
    what: 'more launches than the rework allows',
    of: 'plan',
    change: withoutRework,
    code: 'plan-launches',
  },
  {
    what: 'a task started after the plan was stopped',
    of: 'plan',
    change: insertAfter(ofType('plan.task.completed'), (event) => ({
      type: 'plan.stopped',
      data: { task_id: event.data['task_id'] },
    })),
    code: 'plan-closed',
  },
  {
    what: 'a task was sent back by one that does not review it',
    of: 'plan',
    change: editData(ofType('plan.task.rejected'), () => ({ by: 'qa' })),
    code: 'plan-review',
  },
  {
    what: 'a task was sent back although it was accepted',
    of: 'plan',
    change: editData(ofType('plan.task.completed', task('review')), () => ({ verdict: 'accept' })),
    code: 'plan-review',
  },
  {
    what: 'a verdict of one that reviews nothing',
    of: 'plan',
    change: editData(ofType('plan.task.completed'), () => ({
      verdict: 'accept',
      verdict_source: 'submit_review',
    })),
    code: 'plan-review',
  },
  {
    what: 'a reviewer without a verdict',
    of: 'plan',
    change: editData(ofType('plan.task.completed', task('review')), () => ({
      verdict: null,
      verdict_source: null,
    })),
    code: 'plan-review',
  },
  {
    what: 'returns were counted wrongly',
    of: 'plan',
    change: editData(ofType('plan.task.rejected'), () => ({ returns: 2 })),
    code: 'plan-rework',
  },
  {
    what: 'a task was done again that nobody sent back',
    of: 'plan',
    change: omitFirst(ofType('plan.task.rejected')),
    code: 'plan-rework',
  },
  {
    what: 'the end of a plan tells another status',
    of: 'plan',
    change: editData(ofType('plan.completed'), (data) => ({
      statuses: { ...(data['statuses'] as object), qa: 'skipped' },
    })),
    code: 'plan-statuses',
  },
  {
    what: 'the end of a plan leaves a task out',
    of: 'plan',
    change: editData(ofType('plan.completed'), () => ({ statuses: { qa: 'completed' } })),
    code: 'plan-statuses',
  },
  {
    what: 'the end of a plan tells of a stop that never was',
    of: 'plan',
    change: editData(ofType('plan.completed'), () => ({ stopped_by: 'qa' })),
    code: 'plan-statuses',
  },
  {
    what: 'a plan has no end',
    of: 'plan',
    change: omit(ofType('plan.completed')),
    code: 'plan-statuses',
  },
];

const SUMS: readonly Mutation[] = [
  {
    what: 'a run tells tokens that nobody reported',
    of: 'desk',
    change: editData(both(root, ofType('run.completed')), () => ({
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    })),
    code: 'usage-differs',
  },
  {
    what: 'an answer took tokens that its run does not tell',
    of: 'desk',
    change: editData(
      ofType('model.completed', (event) => event.run_id.includes('subagent')),
      () => ({ usage: { inputTokens: 12, outputTokens: 3, cachedInputTokens: 0 } }),
    ),
    code: 'usage-differs',
  },
  {
    what: 'a run tells another cost',
    of: 'desk',
    change: editData(both(root, ofType('run.completed')), () => ({ cost_cents: 12.5 })),
    code: 'cost-differs',
  },
  {
    what: 'a run tells other turns',
    of: 'desk',
    change: editData(both(root, ofType('run.completed')), () => ({ turns: 7 })),
    code: 'turns-differs',
  },
  {
    what: 'a run hides what it did',
    of: 'desk',
    change: editData(both(root, ofType('run.completed')), () => ({ effect: 'none' })),
    code: 'effect-differs',
  },
];

const isTask = (event: JournalEvent) => event.data['task_id'] !== undefined;
const isParallel = (event: JournalEvent) =>
  (event.data['structured'] as { children?: unknown } | undefined)?.children !== undefined;

const TASKS: readonly Mutation[] = [
  {
    what: 'a background child is another task than its call asks for',
    of: 'tasks',
    change: editData(ofType('delegation.started', isTask), () => ({ task_id: 'another' })),
    code: 'child-differs',
  },
  {
    what: 'a background child is launched as one that is waited for',
    of: 'tasks',
    change: editData(ofType('delegation.started', isTask), () => ({ task_id: undefined })),
    code: 'child-differs',
  },
  {
    what: 'the record of a background run does not say that it is one',
    of: 'tasks',
    change: editData(
      ofType('run.started', (event) => event.data['background'] !== undefined),
      () => ({ background: undefined }),
    ),
    code: 'child-differs',
  },
  {
    what: 'the result of a background call names another task',
    of: 'tasks',
    change: editData(
      ofType(
        'tool.completed',
        ({ data }) => (data['structured'] as { task_id?: string })?.task_id !== undefined,
      ),
      ({ structured }) => ({ structured: { ...(structured as object), task_id: 'another' } }),
    ),
    code: 'result-differs',
  },
  {
    what: 'a run that failed leaves a background run behind',
    of: 'tasks',
    change: edit(both(root, ofType('run.completed')), () => ({ type: 'run.failed' })),
    code: 'orphan',
  },
  {
    what: 'a parallel call launches an agent that it does not name',
    of: 'tasks',
    change: editData(ofType('delegation.started'), () => ({ agent_id: 'helper' })),
    code: 'child-differs',
  },
  {
    what: 'a parallel call launches more children than it names agents',
    of: 'tasks',
    change: editCalls(firstAnswer, ([call]) => {
      if (call !== undefined) call.verdict['entries'] = [{ agent_id: 'worker' }];
    }),
    code: 'call-start',
  },
  {
    what: 'a parallel call has its result before the last of its children ended',
    of: 'tasks',
    change: moveBefore(
      ofType('tool.completed', isParallel),
      ofType('delegation.completed', says('ordinal', 2)),
    ),
    code: 'result-early',
  },
  {
    what: 'a parallel call tells another end of one of its children',
    of: 'tasks',
    change: editData(ofType('tool.completed', isParallel), ({ structured }) => {
      const { children } = structured as { children: object[] };
      const changed = children.map((child, at) =>
        at === 1 ? { ...child, status: 'failed' } : child,
      );
      return { structured: { ...(structured as object), children: changed } };
    }),
    code: 'result-differs',
  },
];

export const MUTATIONS: readonly Mutation[] = [
  ...ORDER,
  ...LIFE,
  ...CALLS,
  ...CHILDREN,
  ...TASKS,
  ...PLANS,
  ...SUMS,
];

function swapped(at: number) {
  return (events: Events): Events => [
    ...events.slice(0, at),
    ...events.slice(at, at + 2).reverse(),
    ...events.slice(at + 2),
  ];
}

/** The same with new places in the journal; those in the runs stay as they are. */
function reseated(change: (events: Events) => Events) {
  return (events: Events): Events => change(events).map((event, at) => ({ ...event, seq: at + 1 }));
}

function renamedRun(from: string, to: string) {
  return (events: Events): Events =>
    JSON.parse(JSON.stringify(events).replaceAll(from, to)) as JournalEvent[];
}

function startOf(events: Events): { type: string; data: unknown } {
  const { type, data } = find(events, ofType('run.started'));
  return { type, data };
}

/** The second child's end and result before the first one's. */
function outOfOrder(events: Events): Events {
  const isEnd = (ordinal: number) => ofType('delegation.completed', says('ordinal', ordinal));
  const end = find(events, isEnd(2));
  const result = (event: JournalEvent) =>
    event.type === 'tool.completed' && event.frame_id === end.frame_id && root(event);
  return inTurn(moveBefore(isEnd(2), isEnd(1)), moveBefore(result, isEnd(1)))(events);
}

/** The plan as it ran, but as a plan that allows no rework at all. */
function withoutRework(events: Events): Events {
  return inTurn(
    editData(ofType('plan.started'), () => ({ max_rework: 0 })),
    editCalls(
      ofType('model.completed', (event) => callsOf(event).some(({ name }) => name === 'plan')),
      (calls) => {
        for (const { verdict } of calls) {
          if (verdict.kind === 'plan') (verdict['plan'] as { max_rework: number }).max_rework = 0;
        }
      },
    ),
  )(events);
}
