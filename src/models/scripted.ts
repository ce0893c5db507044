/**
 * The model that is none: it plays a scenario file (`scenario.ts`). It keeps nothing between questions, invents no
 * figure, and says in every answer what it is.
 */
import type { Clock } from '../base/clock.ts';
import { Fault, messageOf } from '../base/fault.ts';
import type { ToolCallPart } from '../runtime/core/message.ts';
import type {
  ModelAnswer,
  ModelProvider,
  ModelRequest,
  ProviderEntry,
} from '../runtime/core/model.ts';
import type { CancelSignal } from '../runtime/core/tool.ts';
import { loadScenario } from './load-scenario.ts';
import { pause } from './pause.ts';
import { abortedFault } from './request-fault.ts';
import type { Scenario } from './scenario.ts';
import { answersIn, promptOf, scopeOf } from './scenario-scope.ts';
import type { ScriptedCall, Turn } from './scenario-turn.ts';
import { openTemplateEngine, type Template } from './template.ts';

const SCRIPTED_NAME = 'scripted (no language model)';

export interface ScriptedDeps {
  readonly clock: Clock;
  readonly readText: (path: string) => Promise<string>;
}

/** One turn being played. */
interface Play {
  readonly scenario: Scenario;
  readonly request: ModelRequest;
  readonly turn: Turn;
  /** Number of the turn in the run, from 1. */
  readonly n: number;
  /** What its templates may name; made when the first of them asks. */
  readonly scope: () => object;
}

export class ScriptedProvider implements ModelProvider {
  readonly #entry: ProviderEntry;
  readonly #deps: ScriptedDeps;
  #loading: Promise<Scenario> | null = null;

  constructor(entry: ProviderEntry, deps: ScriptedDeps) {
    this.#entry = entry;
    this.#deps = deps;
  }

  async ask(
    request: ModelRequest,
    options: { readonly signal: CancelSignal; readonly onDelta: (text: string) => void },
  ): Promise<ModelAnswer> {
    const scenario = await this.#scenario();
    if (options.signal.aborted) throw abortedFault(this.#entry);
    const n = answersIn(request.history) + 1;
    const turn = turnOf(scenario, request, n);
    if (turn.waitMs > 0) await pause(this.#deps.clock, turn.waitMs, options.signal);
    if (options.signal.aborted) throw abortedFault(this.#entry);
    if (turn.fail !== null) throw this.#failure(turn.fail);
    const play = { scenario, request, turn, n, scope: once(() => scopeOf(request, n)) };
    const text = String(render(play, turn.text, `${turn.path}.text`) ?? '');
    const calls = callsOf(play);
    if (turn.stream)
      for (const word of text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) options.onDelta(word);
    return answer(text, calls);
  }

  /** The file itself is read when the first question comes. */
  warm(): void {
    void openTemplateEngine().catch(() => undefined);
  }

  /** Read once; a file that could not be read or is wrong is read again at the next question. */
  #scenario(): Promise<Scenario> {
    this.#loading ??= loadScenario(this.#entry, this.#deps.readText).catch((thrown: unknown) => {
      this.#loading = null;
      throw thrown;
    });
    return this.#loading;
  }

  #failure(fail: NonNullable<Turn['fail']>): Fault {
    return new Fault(fail.code, `${this.#entry.ref}: ${fail.message}`, {
      retry: fail.code === 'model.refused' ? 'never' : 'safe',
      detail: { provider: this.#entry.ref, attempts: 1 },
    });
  }
}

function answer(text: string, calls: readonly ToolCallPart[]): ModelAnswer {
  return {
    text,
    calls,
    usage: { inputTokens: null, outputTokens: null, cachedInputTokens: null },
    costCents: null,
    servedBy: SCRIPTED_NAME,
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    attempts: 1,
  };
}

/** The n-th of the turns that are meant for a run with this prompt. */
function turnOf(scenario: Scenario, request: ModelRequest, n: number): Turn {
  const { agentId } = request;
  const turns = scenario.agents.get(agentId) ?? scenario.agents.get('*');
  if (turns === undefined) {
    const known = [...scenario.agents.keys()].join(', ');
    throw broken(
      scenario,
      `agents.${agentId}: no turns for this agent; it has ${known}, and no "*"`,
    );
  }
  let left = n;
  let prompt: string | null = null;
  let last: Turn | undefined;
  for (const turn of turns) {
    if (turn.promptContains !== null) {
      prompt ??= promptOf(request.history);
      if (!prompt.includes(turn.promptContains)) continue;
    }
    left -= 1;
    if (left === 0) return turn;
    last = turn;
  }
  if (last?.repeat === true) return last;
  throw broken(
    scenario,
    `agents.${agentId}.turns: run ${request.runId} asks for turn ${n}, but the file has ${n - left} for this prompt; add a turn, or repeat: true to the last`,
  );
}

function callsOf(play: Play): readonly ToolCallPart[] {
  const { calls } = play.turn;
  if (calls.length === 0) return [];
  const made: ToolCallPart[] = [];
  const add = (call: ScriptedCall, more: object) => {
    made.push({
      id: call.id ?? `turn-${play.n}/call-${made.length + 1}`,
      name: call.tool,
      argsText: call.argsText ?? JSON.stringify(render(play, call.args, `${call.path}.args`, more)),
    });
  };
  for (const call of calls) {
    if (call.each === null) add(call, {});
    else
      for (const [index, item] of itemsOf(play, call, call.each).entries())
        add(call, { item, index });
  }
  return made;
}

function itemsOf(play: Play, call: ScriptedCall, each: Template): readonly unknown[] {
  const items = render(play, each, `${call.path}.each`);
  if (Array.isArray(items)) return items;
  throw broken(
    play.scenario,
    `${call.path}.each (turn ${play.n} of ${play.request.runId}): gives no list but ${JSON.stringify(items).slice(0, 80)}`,
  );
}

function render(play: Play, template: Template, path: string, more: object = {}) {
  if (template.constant) return template.render(() => more);
  try {
    return template.render(() => ({ ...play.scope(), ...more }));
  } catch (thrown) {
    const why = messageOf(thrown).replace(/, line:\d+, col:\d+$/, '');
    const hint = /^undefined variable: .*\.json$/.test(why)
      ? " (that result's text is not JSON)"
      : '';
    throw broken(
      play.scenario,
      `${path} (turn ${play.n} of run ${play.request.runId}): ${why}${hint}`,
    );
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function broken(scenario: Scenario, problem: string): Fault {
  return new Fault('scenario.invalid', `scenario ${scenario.file}: ${problem}`, {
    retry: 'never',
    detail: { file: scenario.file, problems: [problem] },
  });
}
