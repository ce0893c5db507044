/** What one run may do and another may not, as the judges say that decide it in earnest. */
import { approvalNeed } from '../../src/runtime/core/approval.ts';
import type { RunSpec } from '../../src/runtime/core/run-spec.ts';
import type { ToolEffect } from '../../src/runtime/core/tool.ts';
import { judgeCommand } from '../../src/tools/core/command-line.ts';
import { judgeAll } from '../../src/tools/core/path-scope.ts';
import { shellEnvironment } from '../../src/tools/shell-environment.ts';

/** Everything that is tried. */
export interface Probes {
  readonly paths: readonly string[];
  readonly lines: readonly string[];
  readonly variables: readonly string[];
  readonly tools: readonly (readonly [name: string, effect: ToolEffect])[];
}

export interface Aspects {
  /** Tools of delegation are a run's by gates of its own (SPEC G10): whether they count. */
  readonly delegation: boolean;
  /** A delegate has a memory of its own. */
  readonly memory: boolean;
}

const ALL: Aspects = { delegation: true, memory: true };
const DELEGATION = ['agents', 'delegate', 'plan'];
const FREEDOM = { refuse: 0, ask: 1, run: 2 } as const;

/** Each thing that `lesser` may do and `greater` may not; empty where its rights lie within the other's. */
export function rightsBeyond(
  lesser: RunSpec,
  greater: RunSpec,
  probes: Probes,
  aspects: Aspects = ALL,
): string[] {
  return [
    ...filesBeyond(lesser, greater, probes),
    ...commandsBeyond(lesser, greater, probes),
    ...toolsBeyond(lesser, greater, probes, aspects),
    ...limitsBeyond(lesser, greater),
    ...(aspects.memory ? memoryBeyond(lesser, greater) : []),
  ];
}

function filesBeyond(lesser: RunSpec, greater: RunSpec, { paths }: Probes): string[] {
  const may = (spec: RunSpec, path: string, mode: 'read' | 'write') =>
    judgeAll(spec.scope.files, path, mode).ok;
  return (['read', 'write'] as const).flatMap((mode) =>
    paths
      .filter((path) => may(lesser, path, mode) && !may(greater, path, mode))
      .map((path) => `${mode} ${path}`),
  );
}

function commandsBeyond(lesser: RunSpec, greater: RunSpec, probes: Probes): string[] {
  const starts = ({ scope }: RunSpec, line: string) => judgeCommand(scope.commands, line).ok;
  const host = Object.fromEntries(probes.variables.map((name) => [name, 'value']));
  const sees = ({ scope }: RunSpec) => Object.keys(shellEnvironment(scope, host, 'mark'));
  const lines = probes.lines.filter((line) => starts(lesser, line) && !starts(greater, line));
  const variables = sees(lesser).filter((name) => !sees(greater).includes(name));
  return [...lines, ...variables];
}

function toolsBeyond(
  lesser: RunSpec,
  greater: RunSpec,
  probes: Probes,
  { delegation }: Aspects,
): string[] {
  const counts = (name: string) =>
    name !== 'submit_review' && (delegation || !DELEGATION.includes(name));
  const more = lesser.tools.filter((name) => counts(name) && !greater.tools.includes(name));
  const freer = probes.tools.filter(
    ([name, effect]) =>
      FREEDOM[approvalNeed(lesser, name, effect)] > FREEDOM[approvalNeed(greater, name, effect)],
  );
  return [...more.map((name) => `tool ${name}`), ...freer.map(([name]) => `${name} unasked`)];
}

function limitsBeyond(lesser: RunSpec, greater: RunSpec): string[] {
  const pairs = [
    ['actions', lesser.budget?.actions_per_hour_max, greater.budget?.actions_per_hour_max],
    ['cost', lesser.budget?.cost_per_day_max_cents, greater.budget?.cost_per_day_max_cents],
    ['time of commands', lesser.scope.commands.timeoutMs, greater.scope.commands.timeoutMs],
    [
      'medium risk unasked',
      Number(lesser.require_approval_for_medium_risk !== true),
      Number(greater.require_approval_for_medium_risk !== true),
    ],
  ] as const;
  const infinite = Number.POSITIVE_INFINITY;
  return pairs
    .filter(([, own, bound]) => (own ?? infinite) > (bound ?? infinite))
    .map(([name]) => name);
}

function memoryBeyond({ memory }: RunSpec, greater: RunSpec): string[] {
  if (greater.memory === undefined) return []; // A record of before says nothing of it.
  const more = memory?.readable.filter((name) => !greater.memory?.readable.includes(name)) ?? [];
  const names = more.map((name) => `memory of ${name}`);
  return memory?.own === greater.memory?.own ? names : [...names, `writes as ${memory?.own}`];
}
