import { Fault, messageOf } from '../base/fault.ts';
import { unstarted } from './core/outcome.ts';
import type { RunCommand } from './core/run-command.ts';
import type { ChildOutcome } from './core/run-event.ts';
import type { ChildState } from './core/run-state.ts';
import { isRework } from './launch-order.ts';
import type { RunSupervisor } from './run-supervisor.ts';
import type { RunTree } from './run-tree.ts';

/**
 * A child as its parent's supervisor holds it, from admission to outcome: it may be called off before it began, and its
 * launch may fail; either way it has exactly one outcome.
 */
export class Child {
  readonly #child: ChildState;
  readonly #parent: RunSupervisor;
  readonly #tree: RunTree;
  readonly #listeners: ((outcome: ChildOutcome) => void)[] = [];
  #supervisor: RunSupervisor | null = null;
  #outcome: ChildOutcome | null = null;

  constructor(child: ChildState, parent: RunSupervisor, tree: RunTree) {
    this.#child = child;
    this.#parent = parent;
    this.#tree = tree;
    this.#adopt(tree.recovered(child.runId));
  }

  /** One that had begun before its host was lost is not begun again (SPEC J5). */
  #adopt(known: RunSupervisor | ChildOutcome | undefined): void {
    if (known === undefined) return;
    if ('status' in known) this.#outcome = known;
    else this.#watch(known);
  }

  #watch(supervisor: RunSupervisor): void {
    this.#supervisor = supervisor;
    supervisor.onEnded(() => this.#end(supervisor.outcome()));
  }

  /** Begins it, unless it was called off. The second call does nothing. */
  #launch(): void {
    if (this.#outcome !== null || this.#supervisor !== null) return;
    try {
      this.#watch(this.#tree.launchChild(this.#parent, this.#child));
    } catch (thrown) {
      const { runId, agentId } = this.#child;
      this.#end(
        unstarted(runId, agentId, {
          status: 'failed',
          error_type: limitOf(thrown) ?? 'agent_resolution_failed',
          error: messageOf(thrown),
          reason: null,
          stopped_by: null,
        }),
      );
    }
  }

  /** Launches it and, if it is one in the background, says so as soon as its result file does (SPEC D9). */
  begin(settle: (command: RunCommand) => void): void {
    this.#launch();
    const { taskId, ordinal } = this.#child;
    if (taskId === null || this.#supervisor === null) return;
    const began = () => settle({ type: 'child-began', ordinal });
    void this.#tree.tasks.announced(taskId).then(began);
  }

  onEnded(listener: (outcome: ChildOutcome) => void): void {
    if (this.#outcome === null) this.#listeners.push(listener);
    else listener(this.#outcome);
  }

  cancel(reason: string): void {
    this.#tree.tasks.cancelBelow(this.#child.runId, reason);
    if (this.#supervisor !== null) {
      this.#supervisor.cancel(reason, 'parent');
      return;
    }
    const { runId, agentId } = this.#child;
    if (this.#outcome === null && !isRework(this.#parent.state, this.#child)) {
      this.#tree.budgets.dropLaunch(this.#parent.runId);
    }
    this.#end(
      unstarted(runId, agentId, {
        status: 'cancelled',
        error_type: null,
        error: null,
        reason,
        stopped_by: 'parent',
      }),
    );
  }

  #end(outcome: ChildOutcome): void {
    if (this.#outcome !== null) return;
    this.#outcome = outcome;
    for (const listener of this.#listeners) listener(outcome);
  }
}

/** Which limit a launch met, if that is why it failed. */
function limitOf(thrown: unknown): string | null {
  if (!(thrown instanceof Fault) || thrown.code !== 'run.limit') return null;
  return String(thrown.detail['error_type'] ?? 'runs_limit');
}
