// What a plan adds to the runs of its tasks: the same sixteen runs as a plan and as plain delegations, in turns of one
// run, so that both meet the same machine. One after the other (a chain; delegations at width 1) and all at once (a plan
// without arrows; width 16). And what the plan machine alone takes for a plan of sixteen tasks.
import type { JournalEvent, Troupe } from '../../src/index.ts';
import { readPlanCall } from '../../src/runtime/core/plan-call.ts';
import { planMachine } from '../../src/runtime/core/plan-machine.ts';
import { liveLaunches } from '../../src/runtime/core/plan-state.ts';
import type { ChildOutcome } from '../../src/runtime/core/run-event.ts';
import { NO_USAGE } from '../../src/runtime/core/usage.ts';
import { openHost } from '../support/host.ts';
import { demand, quantile, reportRounds } from '../support/report.ts';
import { type OtherLoad, spent, untilQuiet } from '../support/rounds.ts';

const TASKS = 16;
/** Turns of each kind in one run. */
const PAIRS = 8;
const ROUNDS = 7;
const WARM_UPS = 2;

type Shape = 'chain' | 'fan-out';

function planArguments(shape: Shape) {
  const tasks = Array.from({ length: TASKS }, (_, at) => ({
    id: `t${at}`,
    agent_id: 'worker',
    prompt: 'go',
    ...(shape === 'chain' && at > 0 ? { depends_on: [`t${at - 1}`] } : {}),
  }));
  return { tasks };
}

function leadTurns(shape: Shape): readonly object[] {
  const delegate = { tool: 'delegate', args: { agent_id: 'worker', prompt: 'go' } };
  const delegations = { calls: Array.from({ length: TASKS }, () => delegate) };
  const plan = { calls: [{ tool: 'plan', args: planArguments(shape) }] };
  const pairs = Array.from({ length: PAIRS }, () => [delegations, plan]);
  return [...pairs.flat(), { text: 'done' }];
}

interface Measured {
  /** Milliseconds a task, of every turn of the kind. */
  readonly plan: readonly number[];
  readonly delegation: readonly number[];
  readonly load: OtherLoad;
}

/** Odd turns delegate, even ones plan; a turn's time is from its start to its end. */
async function measure(troupe: Troupe): Promise<Measured> {
  const times: number[] = [];
  let from = 0;
  const see = ({ parent_run_id, type }: JournalEvent) => {
    if (parent_run_id !== null) return;
    if (type === 'turn.started') from = performance.now();
    if (type === 'turn.completed') times.push((performance.now() - from) / TASKS);
  };
  troupe.on('event', see);
  const { otherLoad } = await spent(async () => {
    const run = await troupe.start({ agent: 'lead', prompt: 'go' });
    const { status, error } = await run.result();
    demand(status === 'completed', `${status} ${error?.message ?? ''}`);
    const { children } = await troupe.tree(run.id);
    const good = children.filter((child) => child.status === 'completed' && child.turns === 1);
    demand(good.length === 2 * TASKS * PAIRS, `${good.length} children completed`);
  });
  troupe.off('event', see);
  return {
    delegation: times.filter((_, at) => at < 2 * PAIRS && at % 2 === 0),
    plan: times.filter((_, at) => at < 2 * PAIRS && at % 2 === 1),
    load: otherLoad,
  };
}

async function measureShape(shape: Shape): Promise<void> {
  const host = await openHost({
    agents: { lead: leadTurns(shape), worker: [{ text: 'ok' }] },
    width: shape === 'chain' ? 1 : TASKS,
  });
  for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) await measure(host.troupe);
  const rounds: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilQuiet();
    rounds.push(await measure(host.troupe));
  }
  const load = rounds.map((round) => round.load);
  const plans = rounds.map(({ plan }) => quantile(plan, 0.5));
  const delegations = rounds.map(({ delegation }) => quantile(delegation, 0.5));
  reportRounds(
    `a task of a plan of ${TASKS}, ${shape}, against a delegation [times]`,
    plans.map((plan, at) => plan / (delegations[at] ?? Number.NaN)),
    {
      reach: { atMost: 1.3 },
      load,
      note: `a delegation takes ${quantile(delegations, 0.5).toFixed(2)} ms`,
    },
  );
  reportRounds(`a task of a plan of ${TASKS}, ${shape} [ms]`, plans, { load });
  await host.close();
}

const ANSWERED: ChildOutcome = {
  child_run_id: '',
  agent_id: 'worker',
  status: 'completed',
  answer: 'ok',
  full_path: null,
  turns: 1,
  effect: 'none',
  operations: [],
  usage: NO_USAGE,
  cost_cents: 0,
  error_type: null,
  error: null,
  reason: null,
  stopped_by: null,
  model_label: '',
  review: null,
};

/** Checks the call, then decides and folds every step of the plan, to its end. */
function decideAll(shape: Shape): void {
  const read = readPlanCall(planArguments(shape), {
    answered: new Set(),
    resolveAgent: (agentId) => ({ ok: true, agentId }),
  });
  demand(read.ok, 'the plan has faults');
  const machine = planMachine({
    parentRunId: 'run_b',
    width: TASKS,
    childDepth: 1,
    firstOrdinal: 1,
  });
  const place = { operationId: 'run_b/turn-1/call-1', frame: 'turn-1/call-1', book: [] };
  const start = machine.decide(machine.initial, { type: 'start', spec: read.spec, ...place });
  let state = start.reduce(machine.evolve, machine.initial);
  for (;;) {
    const [launch] = liveLaunches(state);
    if (launch === undefined) break;
    const ended = machine.decide(state, {
      type: 'task-ended',
      ordinal: launch.ordinal,
      outcome: ANSWERED,
      verdict: null,
    });
    state = ended.reduce(machine.evolve, state);
  }
  demand(state.ended !== null && state.launches.length === TASKS, 'the plan did not end');
}

function measureMachine(shape: Shape): void {
  const times: number[] = [];
  for (let round = 0; round < 500; round += 1) {
    const from = performance.now();
    decideAll(shape);
    times.push(performance.now() - from);
  }
  reportRounds(`validating and deciding a plan of ${TASKS}, ${shape} [ms]`, times.slice(100), {
    reach: { atMost: 1 },
    load: [],
  });
}

for (const shape of ['chain', 'fan-out'] as const) await measureShape(shape);
for (const shape of ['chain', 'fan-out'] as const) measureMachine(shape);
