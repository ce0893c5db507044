import {
  type AgentConfig,
  DEFAULT_RISK_PROFILE,
  DEFAULT_RUNTIME_PROFILE,
  type DelegateEntry,
  type ResolvedConfig,
  type RiskProfile,
} from './config.ts';
import { independenceRefusal } from './independence.ts';

/**
 * Who asks to delegate: the id of a configured agent, looked up anew at every launch (SPEC G7), or a root run that was
 * started raw, whose inline definition may be given with it (SPEC G1).
 */
export type Caller = string | RawCaller;

export interface RawCaller {
  readonly raw: true;
  /** Its explicit no and the modes of its `delegates` hold too. */
  readonly definition?: AgentConfig;
}

export interface ReachableTarget {
  readonly agent: AgentConfig;
  readonly mode: DelegateEntry['mode'];
}

/** A refusal's words are what the model reads. */
export type GateVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly words: string };

export type DelegationTarget =
  | ({ readonly ok: true } & ReachableTarget)
  | { readonly ok: false; readonly words: string };

function callerId(caller: Caller): string {
  return typeof caller === 'string' ? caller : (caller.definition?.id ?? 'raw run');
}

function definitionOf(config: ResolvedConfig, caller: Caller): AgentConfig | undefined {
  return typeof caller === 'string' ? config.agents.get(caller) : caller.definition;
}

/**
 * May the caller delegate at all? Off by default: an explicit no of the agent or of its risk profile refuses; then one
 * explicit yes is needed, or to be a raw root run (SPEC G1, G2).
 */
export function judgeDelegation(config: ResolvedConfig, caller: Caller): GateVerdict {
  const agent = definitionOf(config, caller);
  if (agent === undefined) {
    if (typeof caller !== 'string') return { allowed: true };
    return refuse(
      `delegation is forbidden for caller "${caller}", which is not present in the loaded agents config`,
    );
  }
  const policy = riskOf(config, agent).delegationMode;
  if (policy === 'forbidden') return refuse(forbiddenWords(agent));
  if (agent.delegationCapability === false) {
    return refuse(
      `delegation is forbidden for caller "${agent.id}" by its own capabilities; set [agents.${agent.id}.capabilities] delegation = true`,
    );
  }
  const isRaw = typeof caller !== 'string';
  const yes = isRaw || agent.delegationCapability === true || policy === 'allow';
  return yes ? { allowed: true } : refuse(forbiddenWords(agent));
}

function refuse(words: string): GateVerdict {
  return { allowed: false, words };
}

function forbiddenWords({ id, riskProfile }: AgentConfig): string {
  if (riskProfile === null) {
    return `delegation is forbidden for caller "${id}", which has no risk profile; set [agents.${id}.capabilities] delegation = true or give it a risk_profile whose delegation_policy mode = "allow"`;
  }
  return `delegation is forbidden for caller "${id}" by risk profile "${riskProfile}" delegation_policy; set [risk_profiles.${riskProfile}].delegation_policy mode = "allow" or [agents.${id}.capabilities] delegation = true`;
}

/** SPEC G3. Levels from the root, which is 0. */
export function depthRefusal(depth: number, depthMax: number): string {
  return `Delegation depth limit reached (${depth}/${depthMax})`;
}

/** Does a run of this project (`null` = of none) see the agent? Global agents are seen from everywhere. */
function isVisible(agent: AgentConfig, project: string | null): boolean {
  return agent.project === null || agent.project === project;
}

/**
 * Whom the caller may delegate to, sorted by id (SPEC G4): peers of its risk profile and its explicit delegates, an
 * explicit entry's mode before a peer's, without itself, disabled agents and agents of other projects. A raw caller
 * has every enabled agent of its project for a peer.
 */
export function reachableTargets(
  config: ResolvedConfig,
  caller: Caller,
  project: string | null,
): readonly ReachableTarget[] {
  const targets: ReachableTarget[] = [];
  for (const agent of config.agents.values()) {
    if (!agent.enabled || !isVisible(agent, project) || agent.id === caller) continue;
    const mode = modeFor(config, caller, agent);
    if (mode !== null) targets.push({ agent, mode });
  }
  return targets.sort((a, b) => compareIds(a.agent.id, b.agent.id));
}

function modeFor(
  config: ResolvedConfig,
  caller: Caller,
  target: AgentConfig,
): DelegateEntry['mode'] | null {
  const from = definitionOf(config, caller);
  const explicit = from?.delegates.find((entry) => entry.agent === target.id);
  if (explicit !== undefined) return explicit.mode;
  const peer =
    typeof caller !== 'string' ||
    (from?.delegateSameRiskProfile === true &&
      from.riskProfile !== null &&
      from.riskProfile === target.riskProfile);
  return peer ? 'bounded' : null;
}

/** By code unit: the same order on every machine, whatever its language. */
function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A display name as it is compared (SPEC G5). */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/**
 * The target that a call means: an exact id, else the one display name that fits, among what the project can see; then
 * whether it is reachable (SPEC G4, G5). An agent of another project and one that does not exist get the same words.
 */
export function findTarget(
  config: ResolvedConfig,
  caller: Caller,
  project: string | null,
  asked: string,
): DelegationTarget {
  const name = asked.trim();
  if (typeof caller === 'string' && !config.agents.has(caller)) {
    const words = `delegate target "${name}" is not reachable because caller "${caller}" is not present in the loaded agents config`;
    return { ok: false, words };
  }
  const candidates = candidatesFor(config, project, name);
  if (candidates.length > 1) {
    const ids = candidates.map((agent) => agent.id).sort(compareIds);
    const words = `Agent name '${name}' is ambiguous. Use one of these agent ids: ${ids.join(', ')}`;
    return { ok: false, words };
  }
  const reachable = reachableTargets(config, caller, project);
  const [agent] = candidates;
  if (agent === undefined) return { ok: false, words: unknownWords(name, reachable) };
  const target = reachable.find((entry) => entry.agent.id === agent.id);
  if (target !== undefined) {
    const words = independenceRefusal(target, callerId(caller), riskOf(config, target.agent));
    return words === null ? { ok: true, ...target } : { ok: false, words };
  }
  return { ok: false, words: unreachableWords(config, caller, agent) };
}

function candidatesFor(
  config: ResolvedConfig,
  project: string | null,
  name: string,
): readonly AgentConfig[] {
  const exact = config.agents.get(name);
  if (exact !== undefined && isVisible(exact, project)) return [exact];
  const folded = foldName(name);
  return [...config.agents.values()].filter(
    (agent) => isVisible(agent, project) && foldName(agent.name) === folded,
  );
}

function unknownWords(name: string, reachable: readonly ReachableTarget[]): string {
  const ids = reachable.map(({ agent }) => agent.id).join(', ');
  return `Unknown agent '${name}'. Available agents: ${ids === '' ? '(none)' : ids}`;
}

/** Why a target that the project can see is out of reach: the first cause that holds (SPEC G4, G5). */
function unreachableWords(config: ResolvedConfig, caller: Caller, target: AgentConfig): string {
  const id = callerId(caller);
  const from = definitionOf(config, caller);
  const start = `delegate target "${target.id}" is not reachable from "${id}"`;
  if (!target.enabled) return `${start}: the target agent is disabled`;
  if (from !== undefined && target.id !== caller) {
    const own = from.riskProfile;
    const other = target.riskProfile;
    if (!from.delegateSameRiskProfile) {
      return `${start}: delegate_same_risk_profile is disabled and the target is not listed in [agents.${id}].delegates`;
    }
    if (own !== null && other !== null && own !== other) {
      return `${start}: different risk profile (caller uses "${own}", target uses "${other}"). delegate_same_risk_profile only reaches agents with the same risk profile; add an explicit [agents.${id}].delegates entry with the intended mode, or change one agent's risk_profile.`;
    }
  }
  return `${start}; add it to [agents.${id}].delegates or share a risk profile with delegate_same_risk_profile enabled`;
}

/** One line of the `agents` tool (SPEC A1), in the form the model reads it. */
export interface RosterEntry {
  readonly agent_id: string;
  readonly name: string;
  readonly purpose: string;
  /** What it may do, in words. */
  readonly capability_profile: string;
  /** `<type>.<alias>/<model>`; the entry alone where no model is named. */
  readonly model: string;
  /** Whether it could delegate further from where it would run. */
  readonly can_delegate: boolean;
}

/** Whom the caller can delegate to, sorted by id. `at` is the caller's own level below the root, and its cap (SPEC G3). */
export function roster(
  config: ResolvedConfig,
  caller: Caller,
  project: string | null,
  at: { readonly depth: number; readonly depthMax: number },
): readonly RosterEntry[] {
  return reachableTargets(config, caller, project).map(({ agent, mode }) => ({
    agent_id: agent.id,
    name: agent.name,
    purpose: agent.purpose,
    capability_profile: capabilityWords(riskOf(config, agent), agent, mode),
    model: modelWords(config, agent),
    can_delegate: canDelegate(config, agent, at),
  }));
}

/** A child stands one level lower, and its own profile may lower the cap that came down the tree (SPEC G3, G10). */
function canDelegate(
  config: ResolvedConfig,
  agent: AgentConfig,
  at: { readonly depth: number; readonly depthMax: number },
): boolean {
  const runtime = config.runtimeProfiles.get(agent.runtimeProfile ?? '') ?? DEFAULT_RUNTIME_PROFILE;
  if (!runtime.agentic || at.depth + 1 >= Math.min(at.depthMax, runtime.maxDelegationDepth)) {
    return false;
  }
  const isExcluded = riskOf(config, agent).excludedTools.includes('delegate');
  return !isExcluded && judgeDelegation(config, agent.id).allowed;
}

function riskOf(config: ResolvedConfig, agent: AgentConfig): RiskProfile {
  return config.riskProfiles.get(agent.riskProfile ?? '') ?? DEFAULT_RISK_PROFILE;
}

const AUTONOMY_WORDS = {
  read_only: 'read-only: no tool with effects',
  supervised: 'supervised: tools with effects may need approval',
  full: 'full autonomy: tools with effects need no approval',
} as const;

function capabilityWords(risk: RiskProfile, agent: AgentConfig, mode: string): string {
  const ceiling = mode === 'bounded' ? ', as far as you have them yourself' : '';
  return `${AUTONOMY_WORDS[risk.autonomy]}; tools: ${toolWords(risk, agent)}${ceiling}`;
}

function toolWords(risk: RiskProfile, agent: AgentConfig): string {
  const { allowedTools, excludedTools } = risk;
  const listed = agent.tools ?? (allowedTools.length > 0 ? allowedTools : null);
  if (listed === null) {
    return excludedTools.length === 0 ? 'all' : `all but ${excludedTools.join(', ')}`;
  }
  const admitted = listed.filter(
    (tool) =>
      !excludedTools.includes(tool) && (allowedTools.length === 0 || allowedTools.includes(tool)),
  );
  return admitted.length === 0 ? 'none' : admitted.join(', ');
}

function modelWords(config: ResolvedConfig, agent: AgentConfig): string {
  const model = agent.model ?? config.providers.get(agent.modelProvider)?.model ?? null;
  return model === null ? agent.modelProvider : `${agent.modelProvider}/${model}`;
}
