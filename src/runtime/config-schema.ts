import type { JsonObject } from '../base/json.ts';
import {
  DEFAULT_MAX_TURNS,
  ID_PATTERN,
  DEFAULT_RISK_PROFILE as RISK,
  DEFAULT_RUNTIME_PROFILE as RUNTIME,
} from './core/config.ts';
import {
  amount,
  ENV_NAME,
  envNames,
  flag,
  ids,
  list,
  matching,
  oneOf,
  PROVIDER_REF,
  secs,
  table,
  tablesById,
  text,
  texts,
  whole,
} from './schema-parts.ts';

export const PROVIDER_TYPES = [
  'openai',
  'anthropic',
  'google',
  'openai-compatible',
  'scripted',
  'replay',
] as const;

const delegate: JsonObject = {
  type: ['string', 'object'],
  description: 'An agent id (bounded), or an id with a mode.',
  properties: {
    agent: { type: 'string', description: 'The id of the target.' },
    mode: oneOf(['bounded', 'independent'], 'Under whose rights the target runs.', 'bounded'),
  },
  required: ['agent'],
  additionalProperties: false,
};

/** The fields of `[agents.<id>]`, and the keys of an agent file's front matter beside `id` (SPEC C4). */
const agent = table(
  'An agent: who it is, which model it asks, and what it may do.',
  {
    name: text('Display name; the id where it is left out.'),
    purpose: {
      type: 'string',
      description: 'What the agent is for, in one line for other agents.',
    },
    enabled: flag('A disabled agent is never a target and never runs.', true),
    project: matching(ID_PATTERN.source, 'The project it belongs to; left out = global.'),
    model_provider: matching(PROVIDER_REF, 'The provider entry it asks, "<type>.<alias>".'),
    model: text("The model's name; beats the provider entry's."),
    system_prompt: { type: 'string', description: 'The system prompt itself.' },
    system_prompt_file: text('A file with the system prompt, relative to the configuration.'),
    risk_profile: matching(ID_PATTERN.source, 'A name under [risk_profiles].'),
    runtime_profile: matching(ID_PATTERN.source, 'A name under [runtime_profiles].'),
    capabilities: table('What it is expressly allowed or denied.', {
      delegation: {
        type: 'boolean',
        description: 'May it delegate? Left out = as its risk profile says.',
      },
    }),
    delegates: list(delegate, 'Targets it may delegate to beside those of its risk profile.'),
    delegate_same_risk_profile: flag('Every agent of the same risk profile is a target.', true),
    max_turns: whole(
      1,
      10_000,
      `Turns a run may take; else the runtime profile's, else ${DEFAULT_MAX_TURNS}.`,
    ),
    workspace: table('Where it works.', {
      dir: text('Its directory, relative to the configuration.'),
      read_memory_from: ids('Agents whose memory it may read.'),
    }),
    skills: texts('Names of skills.'),
    mcp_servers: ids('Names under [mcp_servers].'),
    tools: {
      ...texts('The only tools it may use, a further ceiling; left out = no such ceiling.'),
      minItems: 1,
    },
  },
  ['model_provider'],
);

const riskProfile = table('What the agents that name it may do.', {
  autonomy: oneOf(['read_only', 'supervised', 'full'], 'How freely it acts.', RISK.autonomy),
  delegation_policy: table('Whether its agents may delegate.', {
    mode: oneOf(['forbidden', 'allow'], 'Left out = only where the agent itself says yes.'),
  }),
  allowed_tools: texts('The only tools; empty = all.'),
  excluded_tools: texts('Tools taken away.'),
  workspace_only: flag('File tools stay inside the workspace and the roots.', RISK.workspaceOnly),
  allowed_roots: texts('Further directories to read and write.'),
  allowed_roots_read_only: texts('Further directories to read.'),
  allowed_roots_write_only: texts('Further directories to write.'),
  forbidden_paths: texts('Paths no tool may touch.'),
  allowed_commands: texts('Programs the shell may start; empty = none.'),
  shell_env_passthrough: envNames('Environment variables that commands see.'),
  shell_timeout_secs: secs('Seconds a command may take.', RISK.shellTimeoutMs / 1000),
  max_actions_per_hour: whole(
    0,
    1e9,
    'Effectful tool calls and launches of runs in any hour, of an agent and all below it; 0 = none.',
    RISK.maxActionsPerHour,
  ),
  max_cost_per_day_cents: amount(
    'Cents of model cost in a day of UTC, of an agent and all below it; 0 = no request.',
    RISK.maxCostPerDayCents,
  ),
  block_high_risk_commands: flag(
    'Refuse commands that are known to be dangerous.',
    RISK.blockHighRiskCommands,
  ),
  require_approval_for_medium_risk: flag(
    'Ask before commands of medium risk.',
    RISK.requireApprovalForMediumRisk,
  ),
  require_tool_approval: flag('Ask before every tool.', RISK.requireToolApproval),
  auto_approve: texts('Tools that never ask.'),
  always_ask: texts('Tools that always ask.'),
});

const runtimeProfile = table('How the runs of the agents that name it go.', {
  agentic: flag('false = one model request without tools.', RUNTIME.agentic),
  max_turns: whole(1, 10_000, 'Turns a run may take.', DEFAULT_MAX_TURNS),
  max_delegation_depth: whole(
    0,
    64,
    'Levels of delegation below a root run.',
    RUNTIME.maxDelegationDepth,
  ),
  max_delegation_width: whole(1, 1024, 'Children a run has at a time.', RUNTIME.maxDelegationWidth),
  delegation_order: oneOf(
    ['fifo', 'eager'],
    'Which finished child frees a slot.',
    RUNTIME.delegationOrder,
  ),
  identical_delegations: oneOf(
    ['share', 'run'],
    'What equal calls in one answer do.',
    RUNTIME.identicalDelegations,
  ),
  delegation_timeout_secs: secs('Seconds a delegated run may take; left out = no limit.'),
  max_run_secs: secs('Seconds any run may take; left out = no limit.'),
  parallel_tools: flag('Run the tool calls of one answer at once.', RUNTIME.parallelTools),
  strict_tool_parsing: flag(
    'Refuse a chain of models that do not share one tool protocol.',
    RUNTIME.strictToolParsing,
  ),
  max_result_chars: whole(
    1,
    1e8,
    "Characters of one call's result that the model sees.",
    RUNTIME.maxResultChars,
  ),
  max_turn_result_chars: whole(
    1,
    1e8,
    'Characters of all results of a turn together.',
    RUNTIME.maxTurnResultChars,
  ),
  approval_timeout_secs: secs(
    'Seconds an approval is waited for.',
    RUNTIME.approvalTimeoutMs / 1000,
  ),
  isolation: oneOf(
    ['host', 'thread', 'process'],
    'What a run shares with others.',
    RUNTIME.isolation,
  ),
});

const providerEntry = table('A model and how to reach it.', {
  base_url: text('Address of the server: http or https, without credentials.'),
  api_key_env: matching(
    ENV_NAME,
    'Name of the environment variable that holds the key; never the key.',
  ),
  model: text("The model's name."),
  temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Sampling temperature.' },
  timeout_secs: secs('Longest silence, before the first byte and between two.', 120),
  connect_timeout_secs: secs('Seconds to connect.', 10),
  total_timeout_secs: secs('Seconds for a whole request.', 3600),
  max_retries: whole(0, 20, 'Tries after the first.', 2),
  native_tools: flag("Offer tools through the model's own protocol.", true),
  fallback: list(
    { type: 'string', pattern: PROVIDER_REF },
    'Entries to try when this one fails, in order.',
  ),
  price: table(
    'Cents for a million tokens.',
    {
      input: amount('Tokens in.'),
      output: amount('Tokens out.'),
      cached_input: amount('Tokens in that were cached; left out = as input.'),
    },
    ['input', 'output'],
  ),
  max_concurrent_requests: whole(1, 10_000, 'Requests at a time; left out = no limit.'),
  file: text('Scenario (scripted) or recording (replay), relative to the configuration.'),
});

const mcpServer = table('An MCP server: a program to start, or an address.', {
  command: text('The program.'),
  args: list({ type: 'string' }, 'Its arguments.'),
  cwd: text('Its directory, relative to the configuration.'),
  env_passthrough: envNames('Environment variables it sees.'),
  url: text('Address of a server that already runs.'),
  api_key_env: matching(ENV_NAME, 'Name of the environment variable that holds its key.'),
  timeout_secs: secs('Seconds one call may take.', 60),
});

const cronJob = table(
  'A root run started by the clock.',
  {
    id: matching(ID_PATTERN.source, 'Its id.'),
    schedule: text('Five cron fields: minute, hour, day of month, month, day of week.'),
    time_zone: text('An IANA time zone; left out = that of the host.'),
    agent: matching(ID_PATTERN.source, 'The agent to run.'),
    prompt: text('What it is asked.'),
    enabled: flag('A disabled job never starts.', true),
  },
  ['id', 'schedule', 'agent', 'prompt'],
);

/** The one schema of `troupe.toml` (SPEC C1), published as `schema/troupe.schema.json`. */
export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'troupe configuration',
  ...table('Agents, their profiles and their models.', {
    agents: tablesById('Agents by id.', agent),
    risk_profiles: tablesById('Risk profiles by name.', riskProfile),
    runtime_profiles: tablesById('Runtime profiles by name.', runtimeProfile),
    providers: table('Who answers.', {
      models: table(
        'Provider entries by type and alias.',
        Object.fromEntries(
          PROVIDER_TYPES.map((type) => [
            type,
            tablesById(`Entries of type ${type}.`, providerEntry),
          ]),
        ),
      ),
    }),
    projects: tablesById(
      'Projects by id.',
      table('Agents of a project see each other and the global ones.', {
        name: text('Display name; the id where it is left out.'),
        daily_runs: whole(0, 1e9, 'Root runs in a day of UTC; 0 = none, left out = no limit.'),
      }),
    ),
    mcp_servers: tablesById('MCP servers by name.', mcpServer),
    cron: list(cronJob, 'Jobs.'),
    runtime: table('The host.', {
      max_runs_per_root: whole(1, 1_000_000, 'Runs that one root run may launch.', 256),
      actor_threads: whole(1, 64, 'Threads that runs live on.', 2),
      compute_threads: whole(1, 256, 'Threads for CPU-bound tools; left out = one a core.'),
      stop_grace_secs: secs('Seconds a cancelled run may take to stop.', 5),
    }),
    journal: table('The journal.', {
      sync: oneOf(
        ['full', 'normal'],
        '"full" survives a power cut, "normal" a crash of the process.',
        'full',
      ),
    }),
  }),
};
