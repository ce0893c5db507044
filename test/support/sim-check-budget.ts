import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { RunBudget } from '../../src/runtime/core/run-spec.ts';
import { must, type Story } from './sim-story.ts';
import { textIn } from './sim-story-events.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const LAUNCHERS = ['delegate', 'plan', 'spawn_subagent'];

/** The run that an event charges with an action; `null` where it is none. */
function chargedBy(event: JournalEvent): string | null {
  if (event.type === 'run.started') return event.parent_run_id;
  const isTool = event.type === 'tool.started' && !LAUNCHERS.includes(textIn(event, 'name'));
  return isTool && event.data['effect_class'] !== 'read' ? event.run_id : null;
}

/** Whose budgets a run draws from, with what it was told of their limits. */
function drawsFrom(story: Story, runId: string): ReadonlyMap<string, RunBudget> {
  const budgets = new Map<string, RunBudget>();
  for (const id of story.lineage(runId)) {
    const data = story.eventsOf(id)[0]?.data;
    const budget = data?.['budget'] as RunBudget | undefined;
    if (budget === undefined) continue;
    const ofItself = data?.['is_subagent'] === true;
    const whose = ofItself ? `the sub-agent ${id}` : String(data?.['agent_id']);
    budgets.set(whose, ofItself ? budget : (budget.agent ?? budget));
    if (budget.own === true) break;
  }
  return budgets;
}

/**
 * SPEC X2, S5: no hour holds more actions of an agent, and of all that it had done for it, than its limit; no turn begins
 * where the money of the day is spent; whatever died in between.
 */
export function budgetsHold(story: Story): void {
  const actions = new Map<string, number[]>();
  const spent = new Map<string, { day: number; cents: number }>();
  for (const event of story.events) {
    const now = Date.parse(event.ts);
    const day = Math.floor(now / DAY_MS);
    const centsOf = (agent: string) => {
      const known = spent.get(agent);
      return known?.day === day ? known.cents : 0;
    };
    const charged = chargedBy(event);
    const budgets = drawsFrom(story, charged ?? event.run_id);
    for (const [agent, budget] of budgets) {
      if (charged !== null) {
        const own = [...(actions.get(agent) ?? []), now].filter((at) => at > now - HOUR_MS);
        actions.set(agent, own);
        const max = budget.actions_per_hour_max;
        must(own.length <= max, `${event.event_id} is action ${own.length} of ${agent}, of ${max}`);
      }
      if (event.type === 'turn.started') {
        const isLeft = centsOf(agent) < budget.cost_per_day_max_cents;
        must(isLeft, `${event.event_id} begins a turn although ${agent} has no money left`);
      }
      const cents = event.data['cost_cents'];
      if (event.type === 'model.completed' && typeof cents === 'number') {
        spent.set(agent, { day, cents: centsOf(agent) + cents });
      }
    }
  }
}
