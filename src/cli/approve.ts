import { Fault } from '../base/fault.ts';
import { hostClient } from '../control.ts';
import { unanswerable } from '../give-approval.ts';
import { openViewer } from '../viewer.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { jsonLine, safeLine } from './core/plain-text.ts';

export interface AnswerArguments {
  readonly id: string;
  readonly granted: boolean;
  readonly reason: string | undefined;
}

/** `troupe approve` and `troupe deny`: answer a call that a live host keeps waiting (SPEC X3). */
export async function answerCommand(
  { terminal, options }: Context,
  { id, granted, reason }: AnswerArguments,
): Promise<number> {
  try {
    await hostClient(options.state).approve(id, granted, reason);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'host.absent') throw unheard(options.state, id);
    throw thrown;
  }
  const words = `${safeLine(id)}: ${granted ? 'approved' : 'denied'}`;
  terminal.print(options.json ? jsonLine({ approval_id: id, granted }) : words);
  return EXIT.completed;
}

/** Without a host the journal says what became of it. */
function unheard(stateDir: string, id: string): Fault {
  const viewer = openViewer(stateDir);
  try {
    const { value: book, damage } = viewer.approvals();
    return damage ?? unanswerable(id, book.fateOf(id));
  } finally {
    viewer.close();
  }
}
