import type { Autonomy } from './config.ts';
import { forbiddenExcess, type LookedUpPath, narrowedFiles, rootsExcess } from './narrow-files.ts';
import { AUTONOMY_ORDER, type Narrowing, namesTool, type Rights } from './narrowing.ts';
import type { AskedNarrowing, AskedPolicy } from './spawn-call.ts';

/** Who launches a sub-agent. */
export interface NarrowingParent extends Rights {
  readonly tools: readonly string[];
  /** As the gates of delegation say now, apart from its depth (SPEC G1). */
  readonly mayDelegate: boolean;
}

export type Narrowed =
  | { readonly ok: true; readonly narrowing: Narrowing }
  | { readonly ok: false; readonly words: string };

type Asked = AskedPolicy<LookedUpPath>;

/** The first thing that is wrong, in words; `null` where nothing is. */
type Axis = (parent: NarrowingParent, asked: Asked) => string | null;

/**
 * What a sub-agent is bound by that was asked to be held shorter than its parent (SPEC S4): axis by axis, and whatever
 * would widen its rights is refused with its name and value.
 */
export function narrow(
  parent: NarrowingParent,
  { policy, aliases }: AskedNarrowing<LookedUpPath>,
): Narrowed {
  for (const axis of AXES) {
    const words = axis(parent, policy);
    if (words !== null) {
      return { ok: false, words: `subagent policy override escalates beyond parent: ${words}` };
    }
  }
  const alias = aliases?.find((name) => !isReadable(parent, name));
  if (alias !== undefined) {
    return {
      ok: false,
      words: `subagent allowlist override contains alias "${alias}" not present on parent's memory allowlist; SubAgent overrides may only narrow`,
    };
  }
  return { ok: true, narrowing: narrowingFor(parent, policy, aliases) };
}

function isReadable({ memory }: NarrowingParent, alias: string): boolean {
  return memory !== undefined && (memory.own === alias || memory.readable.includes(alias));
}

const AUTONOMY_NAMES: Readonly<Record<Autonomy, string>> = {
  read_only: 'ReadOnly',
  supervised: 'Supervised',
  full: 'Full',
};

const autonomy: Axis = (parent, asked) => {
  const own = parent.autonomy;
  const wanted = asked.autonomy ?? own;
  if (AUTONOMY_ORDER[wanted] <= AUTONOMY_ORDER[own]) return null;
  return `subagent autonomy=${AUTONOMY_NAMES[wanted]} exceeds parent's ${AUTONOMY_NAMES[own]}`;
};

const commands: Axis = (parent, asked) => {
  const { allowed } = parent.scope.commands;
  const odd = asked.allowed_commands?.find((name) => sameCommand(allowed, name) === undefined);
  return odd === undefined
    ? null
    : `subagent allowed_commands entry "${odd}" is not present on the parent's allowed_commands`;
};

/** The parent's own spelling of a program: names compare without case and quotes around them, paths exactly. */
function sameCommand(allowed: readonly string[], asked: string): string | undefined {
  const name = bare(asked);
  if (name === '') return undefined;
  return allowed.find((each) => {
    const own = bare(each);
    const isPath = own.includes('/') || name.includes('/');
    return isPath ? own === name : own.toLowerCase() === name.toLowerCase();
  });
}

function bare(name: string): string {
  return name
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}

const workspaceOnly: Axis = (parent, asked) =>
  asked.workspace_only === false && parent.scope.files[0]?.workspaceOnly === true
    ? 'subagent attempts to disable workspace_only but the parent enforces it'
    : null;

const environment: Axis = (parent, asked) => {
  const own = parent.scope.commands.envPassthrough;
  const odd = asked.shell_env_passthrough?.find((name) => !own.includes(name));
  return odd === undefined
    ? null
    : `subagent shell_env_passthrough entry "${odd}" is not present on the parent's list`;
};

const limits: Axis = (parent, asked) => {
  const { budget, scope } = parent;
  const pairs = [
    ['max_actions_per_hour', budget?.actions_per_hour_max],
    ['max_cost_per_day_cents', budget?.cost_per_day_max_cents],
    ['shell_timeout_secs', scope.commands.timeoutMs / 1000],
  ] as const;
  for (const [field, own] of pairs) {
    const wanted = asked[field];
    if (wanted !== undefined && own !== undefined && wanted > own) {
      return `subagent ${field}=${wanted} exceeds parent's ${own}`;
    }
  }
  return null;
};

const switches: Axis = (parent, asked) => {
  const pairs = [
    ['block_high_risk_commands', parent.scope.commands.blockHighRisk],
    ['require_approval_for_medium_risk', parent.require_approval_for_medium_risk],
    ['require_tool_approval', parent.require_tool_approval],
  ] as const;
  const off = pairs.find(([field, own]) => own === true && asked[field] === false);
  return off === undefined
    ? null
    : `subagent attempts to set ${off[0]}=false but the parent enforces it`;
};

const approvals: Axis = (parent, asked) => {
  const { always_ask: always, auto_approve: auto } = parent;
  const dropped =
    asked.always_ask && always.find((name) => !namesTool(asked.always_ask ?? [], name));
  if (dropped !== undefined) {
    return `subagent drops always_ask entry "${dropped}" that the parent enforces`;
  }
  if (parent.autonomy === 'full') return null; // It is asked for nothing that `always_ask` does not name.
  const more = asked.auto_approve?.find((name) => !namesTool(auto, name));
  return more === undefined
    ? null
    : `subagent auto_approve entry "${more}" is not present on the parent's auto_approve`;
};

const tools: Axis = (parent, asked) => {
  const odd = asked.allowed_tools?.find((name) => !parent.tools.includes(name));
  return odd === undefined
    ? null
    : `subagent allowed_tools entry "${odd}" is not present among the parent's tools`;
};

const delegation: Axis = (parent, asked) =>
  asked.delegation_policy?.mode === 'allow' && !parent.mayDelegate
    ? 'subagent delegation_policy mode="allow" exceeds parent\'s "forbidden"'
    : null;

const AXES: readonly Axis[] = [
  autonomy,
  rootsExcess,
  commands,
  workspaceOnly,
  forbiddenExcess,
  environment,
  limits,
  switches,
  approvals,
  tools,
  delegation,
];

function narrowingFor(
  parent: NarrowingParent,
  asked: Asked,
  aliases: readonly string[] | null,
): Narrowing {
  const { allowed } = parent.scope.commands;
  const files = narrowedFiles(parent, asked);
  // Both say what is asked about, and bind nobody below who is free of all questions unless that goes down with them.
  const asks = asked.auto_approve ?? asked.require_approval_for_medium_risk;
  return withoutAbsent({
    autonomy: asked.autonomy ?? (asks === undefined ? undefined : parent.autonomy),
    files: files === null ? undefined : [files],
    allowed_commands: asked.allowed_commands?.flatMap((name) => sameCommand(allowed, name) ?? []),
    shell_env_passthrough: asked.shell_env_passthrough,
    shell_timeout_ms:
      asked.shell_timeout_secs === undefined ? undefined : asked.shell_timeout_secs * 1000,
    block_high_risk_commands: asked.block_high_risk_commands,
    require_approval_for_medium_risk: asked.require_approval_for_medium_risk,
    require_tool_approval: asked.require_tool_approval,
    auto_approve: asked.auto_approve,
    always_ask: asked.always_ask,
    allowed_tools: asked.allowed_tools,
    excluded_tools: asked.excluded_tools,
    delegation: asked.delegation_policy?.mode === 'forbidden' ? 'forbidden' : undefined,
    actions_per_hour_max: asked.max_actions_per_hour,
    cost_per_day_max_cents: asked.max_cost_per_day_cents,
    memory_readable: aliases ?? undefined,
  });
}

function withoutAbsent(
  fields: {
    readonly [Key in keyof Narrowing]: Narrowing[Key] | undefined;
  },
): Narrowing {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Narrowing;
}
