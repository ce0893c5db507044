import type { JsonObject } from '../../base/json.ts';
import { counted } from './figures.ts';
import { safeLine } from './plain-text.ts';

/** A call that waits for a person, as it is shown to one. */
export interface AskedCall {
  readonly id: string;
  readonly runId: string;
  readonly agentId: string;
  readonly tool: string;
  readonly args: JsonObject;
}

const ARGUMENTS_MAX = 20;
/** Characters of one argument that are shown: the beginning and the end of a longer one. */
const HEAD_CHARS = 1200;
const TAIL_CHARS = 400;

/**
 * Who wants to do what, exactly: arguments as JSON, in which whatever cannot be seen is escaped, so that a model can
 * neither steer the terminal nor hide a part of its call. What is left out is counted.
 */
export function askedLines({ id, runId, agentId, tool, args }: AskedCall): readonly string[] {
  const entries = Object.entries(args);
  const more = entries.length - ARGUMENTS_MAX;
  return [
    `approval ${safeLine(id)}: ${safeLine(agentId)} (${safeLine(runId)}) wants to call ${safeLine(tool)}`,
    ...entries
      .slice(0, ARGUMENTS_MAX)
      .map(([key, value]) => `  ${visible(key)}: ${bounded(value)}`),
    ...(entries.length === 0 ? ['  without arguments'] : []),
    ...(more > 0 ? [`  and ${counted(more, 'more argument')}; ${SHOWS_ALL}`] : []),
  ];
}

/** The one line that stands while a key is waited for. */
export function questionLine({ id, agentId, tool }: AskedCall, others: number): string {
  const more = others === 0 ? '' : ` (${others} more after it)`;
  return `may ${safeLine(agentId)} call ${safeLine(tool)}? y/n  ${safeLine(id)}${more}`;
}

/** How to answer from another terminal. */
export function howToAnswer(id: string, stateDir: string): string {
  const state = stateDir === '.troupe' ? '' : ` --state ${shellWord(stateDir)}`;
  const shown = safeLine(id);
  return `  to answer: troupe approve ${shown}${state}, or troupe deny ${shown} [reason]${state}`;
}

const SHOWS_ALL = '`troupe approvals --json` shows all';

function bounded(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  const left = text.length - HEAD_CHARS - TAIL_CHARS;
  if (left <= 0) return visible(text);
  const head = visible(text.slice(0, HEAD_CHARS));
  const tail = visible(text.slice(-TAIL_CHARS));
  return `${head} [${left} characters left out here; ${SHOWS_ALL}] ${tail}`;
}

/** Every character that is no letter, figure, mark, sign or plain blank, and letters that leave a blank, as its code. */
function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    character === ' ' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function shellWord(text: string): string {
  const shown = safeLine(text);
  return /^[\w./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
