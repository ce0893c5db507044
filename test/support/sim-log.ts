import type { Message } from '../../src/runtime/core/message.ts';
import type { TaskRecord } from '../../src/runtime/core/task-record.ts';
import type { ToolEffect } from '../../src/runtime/core/tool.ts';

/** Something that the runtime had done in the world, or that happened there because of it. */
export interface Act {
  /**
   * `ask`, `call` and `approve` begin what a run owes; `effect` is the moment in which a call changed something outside;
   * `said` is what a call answered.
   */
  readonly kind: 'ask' | 'call' | 'approve' | 'effect' | 'said';
  readonly runId: string;
  readonly turn: number;
  /** The call's index in its turn; 0 for `ask`. */
  readonly call: number;
  readonly name: string;
  readonly effect: ToolEffect;
  /** Position of the last event appended by then, and of the last one committed. */
  readonly given: number;
  readonly committed: number;
  /** Which host did it: 0 for the first. */
  readonly host: number;
  /** Of an `ask`. */
  readonly history?: readonly Message[];
  /** Of what was `said`. */
  readonly text?: string;
}

interface TaskFile {
  /** `committed` = position of the last event that was committed when it was given. */
  readonly states: readonly { readonly record: TaskRecord; readonly committed: number }[];
}

/** Everything that happened outside the runtime, over all the hosts of one story. */
export class SimLog {
  readonly acts: Act[] = [];
  /** How much of the journal was there when a host ended; the last one's end is not in it. */
  readonly hostEnds: number[] = [];
  /** Texts that were kept, by the name they were given. */
  readonly kept = new Map<string, string>();
  /** Result files of background tasks as they stand, with every state that each was given. */
  readonly files = new Map<string, TaskFile>();
  /** What was left where nothing may be. */
  readonly strays: string[] = [];

  /** As the engine's contract has it. */
  exportTask(name: string, record: TaskRecord, how: 'make' | 'amend', committed: number): void {
    const file = this.files.get(name);
    const last = file?.states.at(-1)?.record;
    if (last === undefined ? how === 'amend' : last.status !== 'running') return;
    const state = { record, committed };
    this.files.set(name, { states: [...(file?.states ?? []), state] });
  }

  /** A story that went like this one up to some act. */
  until(acts: number, committed: number): SimLog {
    const log = new SimLog();
    log.acts.push(...this.acts.slice(0, acts));
    log.hostEnds.push(...this.hostEnds, committed);
    for (const [name, text] of this.kept) log.kept.set(name, text);
    for (const [name, { states }] of this.files) {
      const before = states.filter((state) => state.committed < committed);
      if (before.length > 0) log.files.set(name, { states: before });
    }
    return log;
  }
}
