import { canonicalJson, type Json } from '../../base/json.ts';
import { excessOf } from './audit-narrowing.ts';
import {
  type AuditDesk,
  type AuditedCall,
  type AuditedChild,
  type AuditedRun,
  expectThat,
} from './audit-run.ts';
import type { JournalEvent } from './event.ts';
import { narrowingOf } from './narrowing.ts';
import { callIndexOf } from './run-event.ts';
import { rootOf } from './run-id.ts';
import type { RunSpec } from './run-spec.ts';

/** SPEC R1, R11: a root begins by itself. */
export function auditRoot(desk: AuditDesk, spec: RunSpec, at: JournalEvent): void {
  const isRoot = spec.depth === 0 && spec.root_run_id === at.run_id && !spec.is_subagent;
  expectThat(isRoot, desk, 'child-differs', at, 'a run without a parent is a root of depth 0');
}

/** Tools that a run has by gates of its own, not by its caller's (SPEC G8, G10, P7). */
const BY_OWN_GATES = ['agents', 'delegate', 'plan', 'submit_review'];

/** SPEC J1, G7, R9: a child follows from its launch, and its rights lie within its parent's. */
export function auditChildStart(
  desk: AuditDesk,
  parent: AuditedRun | undefined,
  spec: RunSpec,
  at: JournalEvent,
): void {
  if (parent === undefined || parent.torn) return; // Its cause is missing, which is said elsewhere.
  const launch = [...parent.children.values()].find(({ runId }) => runId === at.run_id);
  const isItsCause =
    launch?.startedBy === at.parent_event_id && !launch.ended && parent.ended === null;
  expectThat(
    isItsCause,
    desk,
    'child-cause',
    at,
    'its parent did not launch it, or had its end before it began',
  );
  if (launch === undefined || parent.spec === null) return;
  const isAsLaunched =
    spec.agent_id === launch.agentId &&
    spec.origin === launch.kind &&
    spec.is_subagent === (launch.kind === 'subagent') &&
    spec.depth === parent.spec.depth + 1 &&
    spec.root_run_id === rootOf(at.run_id) &&
    (spec.background?.task_id ?? null) === launch.taskId &&
    (spec.review_of ?? []).join(' ') === launch.reviewOf.join(' ');
  expectThat(
    isAsLaunched,
    desk,
    'child-differs',
    at,
    'agent, origin, depth, root or review is not that of its launch',
  );
  auditRightsOf(desk, parent.spec, spec, at);
  auditBounds(desk, parent, launch, spec, at);
}

/** How its target was judged with the call (SPEC G8). */
function modeOf(call: AuditedCall | undefined, { ordinal }: AuditedChild): string | undefined {
  if (call?.verdict.kind === 'delegate') return call.verdict.mode;
  if (call?.verdict.kind !== 'parallel') return undefined;
  return call.verdict.entries[call.launched.indexOf(ordinal)]?.mode;
}

/** SPEC S4, G8: it is held to what its call took away and to what was taken away above it, unless it stands alone. */
function auditBounds(
  desk: AuditDesk,
  parent: AuditedRun,
  launch: AuditedChild,
  spec: RunSpec,
  at: JournalEvent,
): void {
  const call = parent.calls[callIndexOf(launch.frame) - 1];
  const verdict = call?.verdict;
  const above = parent.spec?.narrowings ?? [];
  const own = spec.narrowings ?? [];
  if (spec.independent === true) {
    const isGiven = launch.kind === 'plan' || modeOf(call, launch) === 'independent';
    expectThat(
      isGiven && above.length + own.length + spec.always_ask.length === 0,
      desk,
      'rights-widened',
      at,
      'nothing lets it run independently',
    );
    return;
  }
  const asked = verdict?.kind === 'subagent' ? verdict.narrowing : undefined;
  const wanted = asked === undefined ? above : [...above, asked];
  expectThat(
    same(own, wanted),
    desk,
    'rights-widened',
    at,
    'its narrowing is not that of its call',
  );
  const inherited = parent.spec !== null && launch.kind === 'subagent' ? [parent.spec] : [];
  const bounds = [...inherited.map(narrowingOf), ...own];
  const isWriter = inherited.every(
    ({ memory }) => memory === undefined || memory.own === spec.memory?.own,
  );
  const wider = [
    ...bounds.flatMap((by) => excessOf(spec, by)),
    ...(isWriter ? [] : ["another agent's memory"]),
  ];
  expectThat(
    wider.length === 0,
    desk,
    'rights-widened',
    at,
    `it was given more than it may have: ${wider.join(', ')}`,
  );
}

function auditRightsOf(desk: AuditDesk, parent: RunSpec, spec: RunSpec, at: JournalEvent): void {
  const isLower = spec.depth_max <= parent.depth_max;
  expectThat(
    isLower,
    desk,
    'depth-raised',
    at,
    `depth_max ${spec.depth_max}, that of its parent is ${parent.depth_max}`,
  );
  const isBounded = spec.independent !== true;
  const more = spec.tools.filter(
    (name) => isBounded && !parent.tools.includes(name) && !BY_OWN_GATES.includes(name),
  );
  expectThat(
    more.length === 0,
    desk,
    'rights-widened',
    at,
    `its parent has no tool ${more.join(', ')}`,
  );
  const isSame = same(spec.security, parent.security);
  expectThat(isSame, desk, 'security-differs', at, "its security context is not its parent's");
}

/** SPEC G3, S2, R9: what a run's own record must not offer it, whoever launched it. */
export function auditRecord(desk: AuditDesk, spec: RunSpec, at: JournalEvent): void {
  const atDepth = spec.depth >= spec.depth_max ? ['agents', 'delegate', 'plan'] : [];
  const closed = spec.is_subagent ? [...atDepth, 'spawn_subagent', 'model_switch'] : atDepth;
  const open = spec.tools.filter((name) => closed.includes(name));
  expectThat(
    open.length === 0,
    desk,
    'rights-widened',
    at,
    `at its depth a run has no tool ${open.join(', ')}`,
  );
  const isBound = spec.scope.files.some((files) => same(files, spec.security.files));
  expectThat(
    isBound,
    desk,
    'security-differs',
    at,
    'its file scope leaves out the frozen policy of its initiator',
  );
}

function same(left: unknown, right: unknown): boolean {
  return canonicalJson(left as Json) === canonicalJson(right as Json);
}
