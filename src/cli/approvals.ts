import { Fault } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import { hostClient } from '../control.ts';
import type { OpenApproval } from '../runtime/core/approval-book.ts';
import { openViewer } from '../viewer.ts';
import type { Context } from './context.ts';
import { askedLines, howToAnswer } from './core/approval-words.ts';
import { EXIT } from './core/exit-code.ts';
import { dayAndTime } from './core/figures.ts';
import { jsonLine, safeBlock } from './core/plain-text.ts';

/** Milliseconds to ask a host what it waits for; without an answer nothing is claimed about that. */
const HOST_TIMEOUT_MS = 1000;

/** `troupe approvals`: the calls that wait for a person, and how to answer them. */
export async function approvalsCommand({ terminal, options }: Context): Promise<number> {
  const viewer = openViewer(options.state);
  try {
    const { value: book, damage } = viewer.approvals();
    const open = book.open();
    const waiting = open.length === 0 ? [] : await waitedFor(options.state);
    if (options.json) {
      terminal.print(jsonLine(open.map((each) => approvalJson(each, waiting))));
    } else for (const each of open) terminal.print(wordsOf(each, waiting, options.state));
    if (open.length === 0 && !options.json && !options.quiet) terminal.say('nothing waits');
    if (damage === null) return EXIT.completed;
    terminal.say(`${terminal.paintErr('red', 'error')}: ${safeBlock(damage.message)}`);
    return EXIT.failed;
  } finally {
    viewer.close();
  }
}

/** Ids that a live host can be answered about; `null` where that is not known. */
async function waitedFor(stateDir: string): Promise<readonly string[] | null> {
  try {
    return await hostClient(stateDir, AbortSignal.timeout(HOST_TIMEOUT_MS)).approvals();
  } catch (thrown) {
    return thrown instanceof Fault && thrown.code === 'host.absent' ? [] : null;
  }
}

function approvalJson(each: OpenApproval, waiting: readonly string[] | null): JsonObject {
  const { args_text: text, ...said } = each;
  return {
    ...said,
    args: argumentsIn(text),
    has_host: waiting === null ? null : waiting.includes(each.approval_id),
  };
}

function wordsOf(each: OpenApproval, waiting: readonly string[] | null, stateDir: string): string {
  const { approval_id: id, run_id: runId, agent_id: agentId, tool } = each;
  const asked = askedLines({ id, runId, agentId, tool, args: argumentsIn(each.args_text) });
  const isLost = waiting !== null && !waiting.includes(id);
  const next = isLost
    ? '  no host waits for it; `troupe resume` goes on with its run and asks again'
    : howToAnswer(id, stateDir);
  return [...asked, `  asked ${dayAndTime(each.requested_at)}`, next].join('\n');
}

/** They were checked when the call was judged: JSON of an object, or nothing. */
function argumentsIn(text: string): JsonObject {
  return text.trim() === '' ? {} : JSON.parse(text);
}
