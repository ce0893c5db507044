import type { Json, JsonObject } from '../../base/json.ts';
import type { Autonomy } from './config.ts';
import { nearest } from './nearest.ts';
import type { ToolSpec } from './tool.ts';

/** The `policy` of a `spawn_subagent` call as it was written. A field that is absent is inherited (SPEC S4). */
export interface AskedPolicy<Path = string> {
  readonly autonomy?: Autonomy;
  readonly workspace_only?: boolean;
  readonly allowed_roots?: readonly Path[];
  readonly allowed_roots_read_only?: readonly Path[];
  readonly allowed_roots_write_only?: readonly Path[];
  readonly forbidden_paths?: readonly Path[];
  readonly allowed_commands?: readonly string[];
  readonly shell_env_passthrough?: readonly string[];
  readonly shell_timeout_secs?: number;
  readonly block_high_risk_commands?: boolean;
  readonly require_approval_for_medium_risk?: boolean;
  readonly require_tool_approval?: boolean;
  readonly auto_approve?: readonly string[];
  readonly always_ask?: readonly string[];
  readonly allowed_tools?: readonly string[];
  readonly excluded_tools?: readonly string[];
  readonly delegation_policy?: { readonly mode: 'forbidden' | 'allow' };
  readonly max_actions_per_hour?: number;
  readonly max_cost_per_day_cents?: number;
}

/** How a sub-agent is to be held shorter than its parent. */
export interface AskedNarrowing<Path = string> {
  readonly policy: AskedPolicy<Path>;
  /** Agents whose memory it may read; `null` = as its parent. */
  readonly aliases: readonly string[] | null;
}

type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly words: string };

/** Entries of one list, and characters of one entry: paths among them are looked up while other runs wait. */
const ENTRIES_MAX = 64;
const ENTRY_CHARS_MAX = 1024;

const list = (description: string) => ({
  type: 'array',
  items: { type: 'string', maxLength: ENTRY_CHARS_MAX },
  maxItems: ENTRIES_MAX,
  description,
});
const flag = (description: string) => ({ type: 'boolean', description });

/** The schema of each field, which is also what its value is checked against: one list for both. */
const POLICY_FIELDS = {
  autonomy: { type: 'string', enum: ['read_only', 'supervised', 'full'] },
  workspace_only: flag('true: only the workspace and the roots below.'),
  allowed_roots: list('Further directories to read and write.'),
  allowed_roots_read_only: list('Directories to read only; "." makes the workspace read-only.'),
  allowed_roots_write_only: list('Directories to write only.'),
  forbidden_paths: list('Paths not to be touched; must name yours again.'),
  allowed_commands: list('The only programs of its shell.'),
  shell_env_passthrough: list('The only environment variables of its shell.'),
  shell_timeout_secs: { type: 'number', exclusiveMinimum: 0 },
  block_high_risk_commands: flag('true: no command of high risk.'),
  require_approval_for_medium_risk: flag('true: a person approves commands of medium risk.'),
  require_tool_approval: flag('true: a person approves every tool.'),
  auto_approve: list('Tools that need no approval.'),
  always_ask: list('Tools that always need approval; must name yours again.'),
  allowed_tools: list('The only tools it has; [] = none.'),
  excluded_tools: list('Tools taken away.'),
  delegation_policy: {
    type: 'object',
    properties: { mode: { type: 'string', enum: ['forbidden', 'allow'] } },
    required: ['mode'],
    additionalProperties: false,
  },
  max_actions_per_hour: { type: 'integer', minimum: 0 },
  max_cost_per_day_cents: { type: 'number', minimum: 0 },
} satisfies Record<keyof AskedPolicy, JsonObject>;

const TEXTS = `a list of at most ${ENTRIES_MAX} texts of at most ${ENTRY_CHARS_MAX} characters`;

const PATH_FIELDS = [
  'allowed_roots',
  'allowed_roots_read_only',
  'allowed_roots_write_only',
  'forbidden_paths',
];

const ARGUMENTS = ['prompt', 'policy', 'allowed_agent_aliases'];

/** SPEC S2: the prompt of a `spawn_subagent` call without blanks around it; `null` where there is none. */
export function readSpawnPrompt(args: JsonObject): string | null {
  const { prompt } = args;
  return typeof prompt === 'string' && prompt.trim() !== '' ? prompt.trim() : null;
}

/** What else a `spawn_subagent` call says; `null` where that is nothing. */
export function readSpawnNarrowing(args: JsonObject): Read<AskedNarrowing | null> {
  const others = Object.keys(args).filter(
    (name) => !ARGUMENTS.includes(name) && args[name] !== null,
  );
  if (others.length > 0) {
    const names = others.map((name) => `'${name}'`).join(', ');
    return refused(
      `Unknown parameters for spawn_subagent: ${names}. It takes prompt, policy and allowed_agent_aliases.`,
    );
  }
  const aliases = args['allowed_agent_aliases'] ?? null;
  if (aliases !== null && !isTexts(aliases)) {
    return refused(`spawn_subagent: 'allowed_agent_aliases' must be ${TEXTS}`);
  }
  const policy = readPolicy(args['policy'] ?? {});
  if (!policy.ok) return policy;
  const isNothing = aliases === null && Object.keys(policy.value).length === 0;
  return { ok: true, value: isNothing ? null : { policy: policy.value, aliases } };
}

function readPolicy(written: Json): Read<AskedPolicy> {
  if (!isTable(written)) return refused("spawn_subagent: 'policy' must be an object");
  const given = Object.entries(written).filter(([, value]) => value !== null);
  for (const [name, value] of given) {
    const words = fieldFault(name, value);
    if (words !== null) return refused(`spawn_subagent: ${words}`);
  }
  return { ok: true, value: Object.fromEntries(given) as AskedPolicy };
}

function fieldFault(name: string, value: Json): string | null {
  const fields: Readonly<Record<string, JsonObject>> = POLICY_FIELDS;
  const schema = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (schema === undefined) {
    const near = nearest(name, Object.keys(fields));
    const hint = near === null ? '' : ` (did you mean '${near}'?)`;
    return `unknown field 'policy.${name}'${hint}; allowed: ${Object.keys(fields).join(', ')}`;
  }
  const wanted = wantedBy(schema, value);
  if (wanted !== null) return `'policy.${name}' must be ${wanted}, found ${shown(value)}`;
  const home = PATH_FIELDS.includes(name) && Array.isArray(value) && value.find(isInHome);
  if (typeof home !== 'string') return null;
  return `'policy.${name}' holds ${shown(home)}: "~" is not expanded; paths start in the workspace`;
}

/** What the value should be, in words; `null` where it is that. */
function wantedBy(schema: JsonObject, value: Json): string | null {
  switch (schema['type']) {
    case 'string': {
      const allowed = schema['enum'] as readonly string[];
      return allowed.some((each) => each === value) ? null : `one of ${allowed.join(', ')}`;
    }
    case 'array':
      return isTexts(value) ? null : TEXTS;
    case 'boolean':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'object':
      return isPolicyMode(value) ? null : '{"mode": "forbidden"} or {"mode": "allow"}';
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= 0 ? null : 'a whole number from 0';
    default:
      return numberWantedBy(schema, value);
  }
}

function numberWantedBy(schema: JsonObject, value: Json): string | null {
  const isAbove = schema['exclusiveMinimum'] === 0;
  const fits = typeof value === 'number' && (isAbove ? value > 0 : value >= 0);
  if (fits) return null;
  return isAbove ? 'a number above 0' : 'a number from 0';
}

function isPolicyMode(value: Json): boolean {
  if (!isTable(value) || Object.keys(value).length !== 1) return false;
  return value['mode'] === 'forbidden' || value['mode'] === 'allow';
}

function isTable(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: Json): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= ENTRIES_MAX &&
    value.every((each) => typeof each === 'string' && each.length <= ENTRY_CHARS_MAX)
  );
}

/** A rule for such a path would be a rule for another one. */
function isInHome(path: Json): boolean {
  return path === '~' || (typeof path === 'string' && path.startsWith('~/'));
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function refused(words: string): { readonly ok: false; readonly words: string } {
  return { ok: false, words };
}

export function spawnSubagentSpec(): ToolSpec {
  return {
    name: 'spawn_subagent',
    description:
      'Runs a fresh copy of yourself on a sub-task, with your own rights and tools but without this conversation, ' +
      'and returns its final answer. Use it to keep long intermediate work out of your own history. ' +
      'A sub-agent cannot spawn sub-agents. Several calls in one answer run at the same time.',
    parameters: {
      type: 'object',
      properties: {
        prompt: { type: 'string', minLength: 1, description: 'The sub-task, complete in itself.' },
        policy: {
          type: 'object',
          description:
            'Rights to take away from the sub-agent, by field; what is left out it has as you do. It can be given no more than you have.',
          properties: POLICY_FIELDS,
          additionalProperties: false,
        },
        allowed_agent_aliases: list(
          'Agents whose memory it may read, among those whose you may; its own it always may.',
        ),
      },
      required: ['prompt'],
      additionalProperties: false,
    },
  };
}
