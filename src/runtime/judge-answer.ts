import type { Clock } from '../base/clock.ts';
import type { CallCheck } from './core/agent-protocol.ts';
import type { ToolCallPart } from './core/message.ts';
import type { CallVerdict } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import type { RunState } from './core/run-state.ts';
import { judgeOf } from './judge-calls.ts';
import { reviewVerdicts } from './judge-plan.ts';
import type { RunTree } from './run-tree.ts';

/** So many calls of an answer are judged before others have their turn. */
const JUDGED_AT_ONCE = 512;

export interface AskedRun {
  readonly tree: RunTree;
  readonly clock: Clock;
  readonly state: RunState;
  readonly spec: RunSpec;
}

/** What will be done about each call of an answer. An answer of thousands of calls keeps nobody else waiting. */
export function judgeAnswer(
  { tree, clock, state, spec }: AskedRun,
  parts: readonly ToolCallPart[],
  checks: readonly CallCheck[],
  then: (verdicts: readonly CallVerdict[]) => void,
): void {
  const reviewed = reviewVerdicts(spec, parts, checks);
  if (reviewed !== null) {
    then(reviewed);
    return;
  }
  const judge = judgeOf(tree, state, spec, parts.length === 1);
  const verdicts: CallVerdict[] = [];
  const goOn = () => {
    for (const part of parts.slice(verdicts.length, verdicts.length + JUDGED_AT_ONCE)) {
      verdicts.push(judge(part, checks[verdicts.length]));
    }
    if (verdicts.length === parts.length) then(verdicts);
    else clock.after(0, goOn);
  };
  goOn();
}
