import type { AgentInit } from '../../src/runtime/core/agent-protocol.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer } from '../../src/runtime/core/model.ts';
import { answerOf, type SaidCall } from './run-fixtures.ts';
import type { Seeded } from './seeded-random.ts';
import type { SimModel } from './sim-engine.ts';
import type { Faults } from './sim-faults.ts';
import { SIM_TOOLS } from './sim-tools.ts';
import { PROVIDERS } from './sim-world.ts';
import { wildNarrowing } from './wild-rights.ts';

/** How big what happens in a world may get. */
export interface WildSize {
  readonly callsMax: number;
  readonly tasksMax: number;
  readonly turnsMax: number;
}

export const WIDE: WildSize = { callsMax: 6, tasksMax: 6, turnsMax: 4 };
export const SMALL: WildSize = { callsMax: 4, tasksMax: 3, turnsMax: 3 };

const NAMES = ['lead', 'a', 'b', 'c'] as const;

/** Any limits that a configuration may set; `disabled` is the agent that may not be used now. */
export function wildConfig(random: Seeded): (disabled: string | null) => object {
  const profile = () => ({
    max_delegation_width: 1 + random.int(4),
    max_delegation_depth: random.pick([1, 2, 2, 2, 3]),
    delegation_order: random.pick(['fifo', 'eager']),
    identical_delegations: random.pick(['share', 'run']),
    parallel_tools: random.chance(0.7),
    max_turns: 2 + random.int(3),
    approval_timeout_secs: random.pick([0.1, 1]),
    ...(random.chance(0.2) && { max_run_secs: 0.05 + random.unit() }),
    ...(random.chance(0.25) && { delegation_timeout_secs: 0.03 + random.unit() / 4 }),
    ...(random.chance(0.4) && { max_result_chars: 100 + random.int(400) }),
    ...(random.chance(0.2) && { max_turn_result_chars: 200 + random.int(600) }),
  });
  const runtime_profiles = { r: profile(), s: profile() };
  const risk = {
    autonomy: random.pick(['full', 'full', 'supervised', 'read_only']),
    delegation_policy: { mode: 'allow' },
    require_tool_approval: random.chance(0.15),
    always_ask: random.chance(0.2) ? [random.pick(['work', 'delegate', 'plan', 'post'])] : [],
  };
  const budget = (tight: number) => ({
    max_actions_per_hour: random.chance(tight) ? random.int(12) : 100_000,
    max_cost_per_day_cents: random.chance(tight / 2) ? random.int(400) : 1e9,
  });
  const risk_profiles = {
    p: { ...risk, ...budget(0.3) },
    q: { ...risk, ...budget(0.3) },
  };
  const ownProfile = random.chance(0.3) ? 'q' : 'p';
  const runtime = {
    max_runs_per_root: random.chance(0.35) ? 1 + random.int(8) : 256,
    stop_grace_secs: random.pick([0.05, 0.5, 5]),
  };
  return (disabled) => ({
    providers: PROVIDERS,
    agents: Object.fromEntries(
      NAMES.map((name) => [
        name,
        {
          model_provider: 'openai-compatible.sim',
          risk_profile: name === 'c' ? ownProfile : 'p',
          delegates: name === 'c' ? [] : ['c'],
          runtime_profile: name === 'lead' || name === 'a' ? 'r' : 's',
          enabled: name !== disabled,
        },
      ]),
    ),
    risk_profiles,
    runtime_profiles,
    runtime,
  });
}

/** Any graph of tasks, some of them reviewers, now and then one that is refused. */
function wildPlan(random: Seeded, size: WildSize): object {
  const count = 1 + random.int(size.tasksMax);
  const tasks = Array.from({ length: count }, (_, at) => {
    const earlier = Array.from({ length: at }, (_none, index) => `t${index}`);
    const some = earlier.filter(() => random.chance(0.4));
    const isReviewer = some.length > 0 && random.chance(0.5);
    const [placed] = some;
    const words = placed !== undefined && random.chance(0.3) ? ` with {{${placed}.answer}}` : '';
    return {
      id: `t${at}`,
      agent_id: random.chance(0.03) ? 'nobody' : random.pick(['a', 'b', 'c']),
      prompt: `do ${at}${words}`,
      ...(isReviewer ? { review_of: some } : { depends_on: some }),
    };
  });
  return {
    tasks,
    max_rework: random.int(3),
    on_failure: random.pick(['continue', 'stop', 'abort']),
    mode: random.chance(0.15) ? 'wave' : 'full',
  };
}

/** What a reviewer may say; now and then something that is no verdict. */
function wildReview(random: Seeded, init: AgentInit): SaidCall {
  const spec = init.tools.find((tool) => tool.name === 'submit_review');
  const text = JSON.stringify(spec?.parameters ?? {});
  const reviewed = [...text.matchAll(/work of '([^']+)'/g)].map((match) => match[1] ?? '');
  const remarks = reviewed.filter(() => random.chance(0.5)).map((id) => [id, 'again']);
  const verdict = random.chance(0.4) ? 'accept' : 'rework';
  const feedback = random.chance(0.1) ? { stranger: 'x' } : Object.fromEntries(remarks);
  return { name: 'submit_review', args: { verdict, feedback } };
}

/** A task of nobody. */
const STRANGER = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

/** Questions about background tasks, some of them of nobody's. */
function wildQuestion(random: Seeded, history: readonly Message[]): SaidCall | null {
  const known = [...JSON.stringify(history).matchAll(/task_id: ([0-9a-f-]{36})/g)];
  const [first, ...others] = new Set(known.map(([, id]) => id ?? ''));
  if (first === undefined || random.chance(0.75)) return null;
  const ids = [first, ...others] as const;
  const one = random.chance(0.05) ? STRANGER : random.pick(ids);
  const action = random.pick(['check_result', 'list_results', 'cancel_task', 'await_sessions']);
  if (action === 'list_results') return { name: 'delegate', args: { action } };
  if (action !== 'await_sessions') return { name: 'delegate', args: { action, task_id: one } };
  const task_ids = [...new Set([one, ...ids.filter(() => random.chance(0.5))])];
  return { name: 'delegate', args: { action, task_ids, timeout_ms: random.int(300) } };
}

function wildCall(random: Seeded, size: WildSize, history: readonly Message[]): SaidCall {
  const question = wildQuestion(random, history);
  if (question !== null) return question;
  const kind = random.unit();
  if (kind < 0.4) {
    const anyone = () => random.pick(['a', 'b', 'c', 'lead', 'nobody']);
    if (random.chance(0.15)) {
      const parallel = Array.from({ length: 1 + random.int(3) }, anyone);
      return { name: 'delegate', args: { parallel, prompt: `p${random.int(3)}` } };
    }
    const target = anyone();
    if (random.chance(0.2)) {
      const args = { agent_id: target, prompt: `b${random.int(3)}`, background: true };
      return { name: 'delegate', args };
    }
    return { name: 'delegate', args: { agent_id: target, prompt: `p${random.int(3)}` } };
  }
  if (kind < 0.55) return { name: 'plan', args: wildPlan(random, size) };
  if (kind < 0.61) {
    const args = { prompt: `s${random.int(2)}`, ...wildNarrowing(random) };
    return { name: 'spawn_subagent', args };
  }
  if (kind < 0.64) return { name: 'agents' };
  if (kind < 0.66) return { name: 'act', args: '{ this is no JSON' };
  if (kind < 0.68) return { name: 'missing' };
  const names = [...SIM_TOOLS.keys()];
  return { name: names[random.int(names.length)] ?? 'work', args: { n: random.int(4) } };
}

/** A model that does anything a model may do, by chance. */
export function wildModel(random: Seeded, faults: Faults, size: WildSize): SimModel {
  const paid = (answer: ModelAnswer): ModelAnswer => ({
    ...answer,
    usage: {
      inputTokens: random.int(1000),
      outputTokens: random.int(100),
      cachedInputTokens: random.int(10),
    },
    costCents: random.chance(0.02) ? null : random.int(50),
  });
  const final = (init: AgentInit, turn: number): ModelAnswer => {
    if (random.chance(0.03)) return answerOf(random.pick(['', '<think>hm</think>']));
    const text = `answer of ${init.runId} in turn ${turn} (${random.id()})`;
    return answerOf(random.chance(faults.longTexts) ? text.padEnd(900, ' and so on') : text);
  };
  return (init, history, turn) => {
    if (init.tools.some((tool) => tool.name === 'submit_review') && random.chance(0.7)) {
      const beside = random.chance(0.2) ? [{ name: 'work' }] : [];
      return paid(answerOf('', [wildReview(random, init), ...beside]));
    }
    if (random.chance(0.25) || turn >= size.turnsMax) return paid(final(init, turn));
    const isSloppy = random.chance(0.1);
    const calls = Array.from({ length: 1 + random.int(size.callsMax) }, (): SaidCall => {
      const call = wildCall(random, size, history);
      return isSloppy ? { ...call, id: 'same' } : call;
    });
    return paid(answerOf('', calls));
  };
}
