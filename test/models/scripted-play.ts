import { Fault } from '../../src/base/fault.ts';
import { ScriptedProvider } from '../../src/models/scripted.ts';
import type { Message } from '../../src/runtime/core/message.ts';
import type { ModelAnswer, ModelRequest } from '../../src/runtime/core/model.ts';
import { ManualClock } from './manual-clock.ts';
import { entryOf, user } from './model-client.ts';

export const clock = new ManualClock();

export function play(text: string): ScriptedProvider {
  const entry = entryOf('scripted', { file: 'demo.yaml' });
  return new ScriptedProvider(entry, { clock, readText: () => Promise.resolve(text) });
}

export function requestOf(history: readonly Message[], agentId = 'lead'): ModelRequest {
  const model = { provider: 'scripted.local', model: '' };
  return { runId: 'run_1', agentId, turn: 1, system: '', history, tools: [], model };
}

export function ask(
  provider: ScriptedProvider,
  history: readonly Message[],
  more: { agentId?: string; signal?: AbortSignal; onDelta?: (text: string) => void } = {},
): Promise<ModelAnswer> {
  return provider.ask(requestOf(history, more.agentId), {
    signal: more.signal ?? new AbortController().signal,
    onDelta: more.onDelta ?? (() => undefined),
  });
}

export async function faultOf(asked: Promise<ModelAnswer>): Promise<Fault> {
  const thrown = await asked.then(
    (answer) => new Error(`an answer came: ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof Fault) return thrown;
  throw thrown;
}

/** A history in which every turn but the one to play has been answered, with these results. */
export function played(
  prompt: string,
  ...turns: (string | [text: string, isError: true])[][]
): Message[] {
  return [
    user(prompt),
    ...turns.flatMap((results): Message[] => [
      { role: 'assistant', text: '', calls: [] },
      {
        role: 'tool',
        results: results.map((result, n) => ({
          callId: `${n}`,
          name: 'count',
          text: typeof result === 'string' ? result : result[0],
          isError: typeof result !== 'string',
        })),
      },
    ]),
  ];
}

export const lead = (turns: string) => `agents:\n  lead:\n    turns:\n${turns}`;
