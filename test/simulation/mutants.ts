import { vi } from 'vitest';
import { BackgroundTasks } from '../../src/runtime/background-tasks.ts';
import { Budgets } from '../../src/runtime/budgets.ts';
import { NO_USAGE } from '../../src/runtime/core/usage.ts';
import { RootLaunches } from '../../src/runtime/root-launches.ts';
import { RunEffects } from '../../src/runtime/run-effects.ts';
import { RunSupervisor } from '../../src/runtime/run-supervisor.ts';
import { RunTemplates } from '../../src/runtime/run-templates.ts';
import { RunTree } from '../../src/runtime/run-tree.ts';
import type { InvariantName } from '../support/invariants.ts';
import { SimEngine } from '../support/sim-engine.ts';
import { SimJournal } from '../support/sim-journal.ts';
import { decides, type Hooks, hears, isEnd, isResult } from './mutate.ts';

/** One deliberate breakage: what is broken, and which invariant says so. */
type Mutant = readonly [what: string, caughtBy: InvariantName, make: (hooks: Hooks) => void];

export const MUTANTS: readonly Mutant[] = [
  [
    'the width in use is counted from the calls, which do not know of tasks of plans',
    'width and depth are never exceeded',
    (hooks) => {
      hooks.following = (real) => (state) => {
        const begun = state.calls.filter(
          ({ status, ordinal }) => status === 'running' && ordinal !== null,
        );
        return real({ ...state, childrenRunning: begun.length });
      };
    },
  ],
  [
    'a result is delivered twice',
    'one result a call',
    (hooks) => {
      decides(hooks, (events, command) =>
        events.flatMap((event) =>
          command.type === 'ran' && isResult(event) ? [event, event] : [event],
        ),
      );
    },
  ],
  [
    'a result is lost',
    'one result a call',
    (hooks) => {
      decides(hooks, (events) => events.filter(({ type }) => type !== 'tool.failed'));
    },
  ],
  [
    'an effectful call in flight is run again after a crash',
    'no effectful call twice',
    (hooks) => {
      decides(hooks, (events, { type }) =>
        type === 'resume' ? events.filter((event) => event.type === 'run.resumed') : [...events],
      );
    },
  ],
  [
    'a run ends twice',
    'every run ends exactly once',
    (hooks) => {
      decides(hooks, (events) =>
        events.flatMap((event) => (isEnd(event) ? [event, event] : [event])),
      );
    },
  ],
  [
    'a child is not cancelled with its parent',
    'nothing starts after a cancel',
    (hooks) => {
      hooks.machine = (real) => ({
        dueInPart: (state, part) =>
          real.dueInPart(state, part).filter(({ type }) => type !== 'child.cancel'),
      });
    },
  ],
  [
    'a cause is dropped',
    'causality is unbroken',
    (hooks) => {
      hooks.causeOf = (real) => (state, event) =>
        event.type === 'tool.completed' ? 0 : real(state, event);
    },
  ],
  [
    'a cause is taken to be whatever came before',
    'causality is unbroken',
    (hooks) => {
      hooks.causeOf = (real) => (state, event) =>
        event.type === 'delegation.completed' ? state.count : real(state, event);
    },
  ],
  [
    'a note that is passed on is lost on the way',
    'a note has one receipt',
    () => {
      const { note } = RunSupervisor.prototype;
      vi.spyOn(RunSupervisor.prototype, 'note').mockImplementation(function (
        this: RunSupervisor,
        said,
        cause = null,
      ) {
        return cause !== null || note.call(this, said, cause);
      });
    },
  ],
  [
    'a note that nobody read has no receipt',
    'a note has one receipt',
    (hooks) => {
      decides(hooks, (events) => events.filter(({ type }) => type !== 'note.too_late'));
    },
  ],
  [
    'outcomes are taken as they come although the order is fifo',
    'fifo order follows from the calls',
    (hooks) => {
      hooks.machine = (real) => ({
        dueInPart: (state, part) => {
          const { spec } = state;
          const isOutcome = part.startsWith('await:') && spec !== null;
          const eager = isOutcome
            ? { ...state, spec: { ...spec, order: 'eager' as const } }
            : state;
          return real.dueInPart(eager, part);
        },
      });
    },
  ],
  [
    'launches are not counted',
    'launches of a root are bounded',
    () => {
      vi.spyOn(RootLaunches.prototype, 'reserve').mockReturnValue(null);
    },
  ],
  [
    'whoever asks for an action is promised one',
    'budgets hold',
    () => {
      vi.spyOn(Budgets.prototype, 'promise').mockReturnValue(null);
    },
  ],
  [
    'a new host begins with full budgets',
    'budgets hold',
    () => {
      vi.spyOn(RunTree.prototype, 'recallBudgets').mockResolvedValue();
    },
  ],
  [
    'what was promised before a crash is carried out although others had the last action since',
    'budgets hold',
    () => {
      vi.spyOn(Budgets.prototype, 'regain').mockReturnValue([]);
    },
  ],
  [
    'what a child does is charged to the child alone',
    'budgets hold',
    () => {
      const { open } = Budgets.prototype;
      vi.spyOn(Budgets.prototype, 'open').mockImplementation(function (this: Budgets, runId, spec) {
        open.call(this, runId, spec, null);
      });
    },
  ],
  [
    'the money that is left is not looked at',
    'budgets hold',
    () => {
      vi.spyOn(Budgets.prototype, 'overspent').mockReturnValue(null);
    },
  ],
  [
    'a queued call starts after the cancel',
    'nothing starts after a cancel',
    (hooks) => {
      hooks.following = (real) => (state) => real({ ...state, stopping: null });
    },
  ],
  [
    'what a child used is not added up',
    'usage is conserved',
    (hooks) => {
      hears(hooks, (command) =>
        command.type === 'child-ended'
          ? { ...command, outcome: { ...command.outcome, usage: NO_USAGE } }
          : command,
      );
    },
  ],
  [
    'a tool begins before its record is on the disk',
    'recorded and approved before acted on',
    () => {
      const { append } = SimJournal.prototype;
      vi.spyOn(SimJournal.prototype, 'append').mockImplementation(function (
        this: SimJournal,
        events,
      ) {
        return { ...append.call(this, events), durable: Promise.resolve() };
      });
    },
  ],
  [
    'a parallel call tells of its first child only',
    'results are what was said',
    (hooks) => {
      decides(hooks, (events) =>
        events.map((event) => {
          if (event.type !== 'tool.failed' || event.data.error_type !== 'parallel_failed')
            return event;
          const blocks = event.data.text.split('\n\n--- ');
          return { ...event, data: { ...event.data, text: blocks.slice(0, 2).join('\n\n--- ') } };
        }),
      );
    },
  ],
  [
    'a host forgets its background tasks',
    'background tasks end as their runs do',
    () => {
      vi.spyOn(BackgroundTasks.prototype, 'recover').mockReturnValue(undefined);
      vi.spyOn(BackgroundTasks.prototype, 'amend').mockResolvedValue(undefined);
    },
  ],
  [
    'a background child is not cancelled with the run that started it',
    'nothing starts after a cancel',
    (hooks) => {
      hooks.machine = (real) => ({
        dueInPart: (state, part) =>
          real
            .dueInPart(state, part)
            .filter((effect) => effect.type !== 'child.cancel' || effect.child.taskId === null),
      });
    },
  ],
  [
    'a background child takes a part of the width that a waiting one needs',
    'fifo order follows from the calls',
    (hooks) => {
      hooks.following = (real) => (state) => real({ ...state, backgroundRunning: 0 });
    },
  ],
  [
    'an approval is not waited for',
    'recorded and approved before acted on',
    (hooks) => {
      hears(hooks, (command) => {
        if (command.type !== 'answered') return command;
        const verdicts = command.verdicts.map((verdict) =>
          'approval' in verdict ? { ...verdict, approval: false } : verdict,
        );
        return { ...command, verdicts };
      });
    },
  ],
  [
    'a child that had begun is begun again after a crash',
    'every run ends exactly once',
    () => {
      vi.spyOn(RunTree.prototype, 'recovered').mockReturnValue(undefined);
    },
  ],
  [
    'an actor is kept after its run has ended',
    'comes to rest without orphans',
    () => {
      vi.spyOn(RunEffects.prototype, 'release').mockReturnValue(undefined);
    },
  ],
  [
    'what builds on a task that was sent back keeps its stale answer',
    'plans keep their rules',
    (hooks) => {
      hooks.endTask =
        (real) =>
        (...about) =>
          real(...about).filter(({ type }) => type !== 'plan.task.invalidated');
    },
  ],
  [
    'a supervisor knows something that is not in its events',
    'replay equals live',
    (hooks) => {
      hooks.machine = (real) => ({
        advance: (state, command) =>
          real.advance(state, command).map((step) => ({
            ...step,
            after: { ...step.after, lastText: step.after.lastText.trim() || 'nothing yet' },
          })),
      });
    },
  ],
  [
    'a call that was cut off is said to have had no effect',
    'an effect is told',
    (hooks) => {
      decides(hooks, (events, command) =>
        events.map((event) => {
          const isCut = command.type === 'halted' || command.type === 'resume';
          if (!isCut || event.type !== 'tool.failed') return event;
          return { ...event, data: { ...event.data, effect: 'none' } };
        }),
      );
    },
  ],
  [
    'a model is asked again while its calls are carried out',
    'what is finished is not repeated',
    (hooks) => {
      hooks.machine = (real) => ({
        dueInPart: (state, part) => {
          const due = real.dueInPart(state, part);
          if (part !== 'run' || state.phase !== 'calling' || state.stopping !== null) return due;
          const { turn } = state;
          return [...due, { type: 'model.ask', key: `again:${turn}`, turn }];
        },
      });
    },
  ],
  [
    'a result is another than the tool said',
    'results are what was said',
    (hooks) => {
      hears(hooks, (command) => {
        if (command.type !== 'ran' || !command.kept.outcome.ok) return command;
        const outcome = { ...command.kept.outcome, text: 'something else' };
        return { ...command, kept: { ...command.kept, outcome } };
      });
    },
  ],
  [
    'a long result is cut and its whole text is nowhere',
    'what is cut is kept whole',
    () => {
      vi.spyOn(SimEngine.prototype, 'keep').mockImplementation(
        async (runId, frame) => `/lost/${runId}/${frame}`,
      );
    },
  ],
  [
    'a child is launched with a tool that its caller lacks',
    'rights only go down',
    () => {
      const real = RunTemplates.prototype.resolve;
      vi.spyOn(RunTemplates.prototype, 'resolve').mockImplementation(function (
        this: RunTemplates,
        ...about
      ) {
        const spec = real.apply(this, about);
        return about[2].parent === null ? spec : { ...spec, tools: [...spec.tools, 'teleport'] };
      });
    },
  ],
  [
    'a narrowing holds for the sub-agent and not for those below it',
    'rights only go down',
    () => {
      const real = RunTemplates.prototype.resolve;
      vi.spyOn(RunTemplates.prototype, 'resolve').mockImplementation(function (
        this: RunTemplates,
        config,
        tools,
        request,
      ) {
        const { parent } = request;
        const freed = parent === null ? null : { ...parent, narrowings: [] };
        return real.call(this, config, tools, { ...request, parent: freed });
      });
    },
  ],
  [
    'results never reach the model',
    'a history only grows',
    (hooks) => {
      hooks.machine = (real) => ({
        advance: (state, command) =>
          real.advance(state, command).map((step) => {
            const history = step.after.history.filter(({ role }) => role !== 'tool');
            return { ...step, after: { ...step.after, history } };
          }),
      });
    },
  ],
];
