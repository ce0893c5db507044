import { excessOf } from '../../src/runtime/core/audit-narrowing.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import { type Probes, rightsBeyond } from './rights.ts';
import { must, type Story } from './sim-story.ts';
import { SIM_TOOLS } from './sim-tools.ts';

const PROBES: Probes = {
  paths: ['/', '/file', '/secret/file', '/elsewhere/file', '/w/file'],
  lines: ['git status', 'ls', 'rm -rf x'],
  variables: ['ONE'],
  tools: [...SIM_TOOLS.values()].map(({ name, effect }) => [name, effect] as const),
};

const CONTROL = ['agents', 'delegate', 'plan', 'submit_review'];

/** SPEC G8, S2, S4, R9: a run holds nothing that its parent lacks, unless somebody listed it as independent. */
export function rightsOnlyGoDown(story: Story): void {
  for (const [runId, [first]] of story.byRun) {
    const above = first === undefined ? null : story.eventsOf(first.parent_run_id ?? '')[0];
    if (first === undefined || above == null) continue;
    const [spec, parent] = [specOf(first), specOf(above)];
    const isSame = JSON.stringify(spec.security) === JSON.stringify(parent.security);
    must(isSame, `${runId} has another security context than its parent`);
    lineageHolds(story, runId, spec);
    if (spec.independent === true) standsAlone(runId, spec, parent);
    else isBound(runId, spec, parent);
  }
}

function specOf(event: JournalEvent): RunSpec {
  return event.data as unknown as RunSpec;
}

/** SPEC S2: whatever ways are taken in turn, one level past the root's limit at most, and that one a sub-agent. */
function lineageHolds(story: Story, runId: string, spec: RunSpec): void {
  const [root] = story.eventsOf(spec.root_run_id);
  const limit = root === undefined ? 0 : specOf(root).depth_max;
  const most = spec.is_subagent ? limit + 1 : limit;
  must(spec.depth <= most, `${runId} is at depth ${spec.depth}, the limit of its root is ${limit}`);
}

function standsAlone(runId: string, spec: RunSpec, parent: RunSpec): void {
  const isNarrowed = (parent.narrowings ?? []).length + (spec.narrowings ?? []).length > 0;
  must(!isNarrowed, `${runId} is independent below a narrowed run`);
  must(spec.always_ask.length === 0, `${runId} is independent and always asks`);
}

function isBound(runId: string, spec: RunSpec, parent: RunSpec): void {
  const more = spec.is_subagent
    ? rightsBeyond(spec, parent, PROBES)
    : spec.tools.filter((name) => !parent.tools.includes(name) && !CONTROL.includes(name));
  must(more.length === 0, `${runId} may do what its parent may not: ${more.join(', ')}`);
  const above = parent.narrowings ?? [];
  const own = spec.narrowings ?? [];
  must(own.length >= above.length, `${runId} lost a narrowing of its parent`);
  const wider = own.flatMap((by) => excessOf(spec, by));
  must(wider.length === 0, `${runId} goes beyond its narrowing: ${wider.join(', ')}`);
}
