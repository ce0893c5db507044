import type { Json } from '../base/json.ts';
import type { Message, ToolResultPart } from '../runtime/core/message.ts';
import type { ModelRequest } from '../runtime/core/model.ts';

/** A result as templates see it. `json` is absent where the text is no JSON. */
interface ResultView {
  readonly tool: string;
  readonly text: string;
  readonly is_error: boolean;
  readonly json?: Json;
}

/** How many answers a history holds: the turns played so far. */
export function answersIn(history: readonly Message[]): number {
  let answers = 0;
  for (const message of history) if (message.role === 'assistant') answers += 1;
  return answers;
}

/** The run's prompt: its first user message. */
export function promptOf(history: readonly Message[]): string {
  for (const message of history) if (message.role === 'user') return message.text;
  return '';
}

/** Everything a template may name, and nothing that the run has not itself said or done. */
export function scopeOf(request: ModelRequest, turn: number): object {
  const byTurn = resultsByTurn(request.history);
  return {
    prompt: promptOf(request.history),
    notes: notesOf(request.history),
    turn,
    agent_id: request.agentId,
    results: byTurn.at(-1) ?? [],
    calls: Object.fromEntries(
      byTurn.flatMap((results, at) =>
        results.map((result, n) => [`turn-${at + 1}/call-${n + 1}`, result] as const),
      ),
    ),
  };
}

function notesOf(history: readonly Message[]): string[] {
  const said = history.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  return said.slice(1);
}

function resultsByTurn(history: readonly Message[]): ResultView[][] {
  const byTurn: ResultView[][] = [];
  for (const message of history) {
    if (message.role === 'assistant') byTurn.push([]);
    if (message.role === 'tool') byTurn.at(-1)?.push(...message.results.map(view));
  }
  return byTurn;
}

function view(result: ToolResultPart): ResultView {
  const json = jsonOf(result.text);
  return {
    tool: result.name,
    text: result.text,
    is_error: result.isError,
    ...(json === undefined ? {} : { json }),
  };
}

/** The text as JSON, without the line that names the agent a delegate's answer came from (SPEC D5). */
function jsonOf(text: string): Json | undefined {
  const body = text.replace(/^\[Agent [^\n]*\]\n/, '');
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
