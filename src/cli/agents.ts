import { Fault } from '../base/fault.ts';
import {
  type AgentConfig,
  DEFAULT_RUNTIME_PROFILE,
  type ResolvedConfig,
} from '../runtime/core/config.ts';
import { judgeDelegation, type RosterEntry, roster } from '../runtime/core/gate.ts';
import { checkedConfig } from './checked-config.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { modelWords, modelWordsOf } from './core/model-words.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';
import { type Column, tableLines } from './core/table.ts';

/** `troupe agents`: who is configured, or whom one of them may delegate to (SPEC A1). Needs no host. */
export async function agentsCommand(context: Context, from: string | undefined): Promise<number> {
  const config = checkedConfig(context);
  if (from === undefined) {
    const rows = [...config.agents.values()].map((agent) => rowOf(config, agent));
    show(context, rows, AGENT_COLUMNS);
    return EXIT.completed;
  }
  const agent = agentIn(config, from);
  const judged = judgeDelegation(config, agent.id);
  if (!judged.allowed && !context.options.quiet) context.terminal.say(safeLine(judged.words));
  const rows = judged.allowed ? rosterOf(config, agent) : [];
  show(context, rows, ROSTER_COLUMNS);
  return EXIT.completed;
}

interface AgentRow {
  readonly agent_id: string;
  readonly name: string;
  readonly model: string;
  readonly project: string | null;
  readonly risk_profile: string | null;
  readonly enabled: boolean;
  readonly can_delegate: boolean;
  readonly purpose: string;
}

const AGENT_COLUMNS: readonly Column<AgentRow>[] = [
  { title: 'AGENT', cell: (row) => row.agent_id },
  { title: 'NAME', cell: (row) => safeLine(row.name) },
  { title: 'MODEL', cell: (row) => safeLine(row.model) },
  { title: 'PROJECT', cell: (row) => row.project ?? '-' },
  { title: 'RISK PROFILE', cell: (row) => row.risk_profile ?? '-' },
  { title: 'DELEGATES', cell: (row) => delegatesWord(row) },
  {
    title: 'PURPOSE',
    cell: (row) => safeLine(row.enabled ? row.purpose : `disabled; ${row.purpose}`),
  },
];

const ROSTER_COLUMNS: readonly Column<RosterEntry>[] = [
  { title: 'AGENT', cell: (row) => row.agent_id },
  { title: 'NAME', cell: (row) => safeLine(row.name) },
  { title: 'MODEL', cell: (row) => safeLine(row.model) },
  { title: 'DELEGATES', cell: (row) => delegatesWord(row) },
  { title: 'PURPOSE', cell: (row) => safeLine(row.purpose) },
  { title: 'MAY', cell: (row) => safeLine(row.capability_profile) },
];

function delegatesWord({ can_delegate: can }: { readonly can_delegate: boolean }): string {
  return can ? 'yes' : 'no';
}

function rowOf(config: ResolvedConfig, agent: AgentConfig): AgentRow {
  const provider = config.providers.get(agent.modelProvider);
  return {
    agent_id: agent.id,
    name: agent.name,
    model: modelWords(agent.modelProvider, agent.model ?? provider?.model ?? null),
    project: agent.project,
    risk_profile: agent.riskProfile,
    enabled: agent.enabled,
    can_delegate: judgeDelegation(config, agent.id).allowed,
    purpose: agent.purpose,
  };
}

/** As a root run of this agent would see it. */
function rosterOf(config: ResolvedConfig, agent: AgentConfig): readonly RosterEntry[] {
  const profile = config.runtimeProfiles.get(agent.runtimeProfile ?? '') ?? DEFAULT_RUNTIME_PROFILE;
  const at = { depth: 0, depthMax: profile.maxDelegationDepth };
  return roster(config, agent.id, agent.project, at).map((entry) => ({
    ...entry,
    model: modelWordsOf(entry.model),
  }));
}

function agentIn(config: ResolvedConfig, asked: string): AgentConfig {
  const agents = [...config.agents.values()];
  const named = agents.filter((agent) => agent.name.toLowerCase() === asked.toLowerCase());
  const agent = config.agents.get(asked) ?? (named.length === 1 ? named[0] : undefined);
  if (agent !== undefined) return agent;
  const known = agents.map((each) => each.id).join(', ') || '(none)';
  throw new Fault('agent.not-found', `Unknown agent '${asked}'. Available agents: ${known}`);
}

function show<Row>(
  { terminal, options }: Context,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  if (options.json) {
    terminal.print(jsonLine(rows));
    return;
  }
  const shown = { paint: terminal.paintOut, width: terminal.outWidth };
  for (const line of tableLines(columns, rows, shown)) terminal.print(line);
}
