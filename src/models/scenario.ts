/**
 * A scenario file: the words of a model that is none. YAML, UTF-8, at most 4 MiB:
 *
 *   description: optional, for people
 *   agents:
 *     lead:                            # an agent's id; "*" = every agent that is not named
 *       turns:
 *         - text: I ask one surveyor for each folder.
 *           calls:
 *             - tool: delegate
 *               each: "{{ results[0].json.folders }}"      # one call an item: `item`, and `index` from 0
 *               args: { agent_id: surveyor, prompt: "Survey {{ item.path }}" }
 *         - text: "{{ results | map: 'json.files' | sum }} files in {{ results | count }} folders."
 *           repeat: true               # last turn only: played again for ever
 *
 * A turn has `text`, `calls`, or `fail`, and optionally:
 *   when: { prompt_contains: words }   the turn belongs only to runs whose prompt holds these words
 *   wait_ms: 250                       0..3600000, before anything else; an abort ends it
 *   stream: true                       the text is shown word by word (else not before the end)
 *   fail: { kind: server-error }       or malformed, rate-limited, refused, timeout,
 *                                      unreachable; optional `message`
 * A call has `tool` and `args` (any JSON; default {}), or `args_text` (sent as it is, valid JSON or not); optionally
 * `each` and `id` (else `turn-<n>/call-<m>`).
 *
 * Strings are Liquid templates over what the run itself has said and done: `prompt`, `notes` (later user messages),
 * `turn`, `agent_id`, `results` (of the last turn, in call order: `tool`, `text`, `is_error`, and `json` where the
 * text is JSON, apart from a first line `[Agent …]`), `calls['turn-1/call-2']` (of any turn, the same fields). In
 * `args` and `each` a string that is one `{{ … }}` and nothing else keeps the value's type. A missing value is a fault,
 * never an empty string. Beside Liquid's filters there are `count`, `flatten`, `basename`, `dirname`, `thousands` and
 * `row` (`template-filters.ts`); files, the clock and chance are out of reach.
 *
 * A run plays those turns whose `when` fits its prompt, turn n the n-th of them, counted by what its history holds: a
 * restart changes nothing.
 */
import { isMap, LineCounter, parseDocument } from 'yaml';
import type { Json, JsonObject } from '../base/json.ts';
import { checkKeys, invalid, isList, isObject } from './scenario-check.ts';
import { compileTurn, type Turn } from './scenario-turn.ts';
import type { TemplateEngine } from './template.ts';

const SCENARIO_CHARS_MAX = 4 * 1024 * 1024;

export interface Scenario {
  readonly file: string;
  /** By agent id; `*` for all others. */
  readonly agents: ReadonlyMap<string, readonly Turn[]>;
}

/** Every fault of the file at once, as one `scenario.invalid`. */
export function parseScenario(file: string, text: string, engine: TemplateEngine): Scenario {
  if (text.length > SCENARIO_CHARS_MAX) {
    throw invalid(file, [`the file is longer than ${SCENARIO_CHARS_MAX} characters`]);
  }
  const root = parseYaml(file, text);
  const problems: string[] = [];
  const agents = new Map<string, readonly Turn[]>();
  checkKeys(root, ['agents', 'description'], '', problems);
  const listed = (root as { agents?: Json }).agents;
  if (!isObject(listed) || Object.keys(listed).length === 0) {
    problems.push('agents: must be a map from agent ids to their turns, with at least one');
  } else {
    for (const [id, script] of Object.entries(listed)) {
      agents.set(id, compileAgent(`agents.${id}`, script, engine, problems));
    }
  }
  if (problems.length > 0) throw invalid(file, problems);
  return { file, agents };
}

function compileAgent(
  path: string,
  script: Json,
  engine: TemplateEngine,
  problems: string[],
): readonly Turn[] {
  if (!isObject(script)) {
    problems.push(`${path}: must be a map with the key turns`);
    return [];
  }
  checkKeys(script, ['turns'], path, problems);
  const { turns } = script as { turns?: Json };
  if (!isList(turns) || turns.length === 0) {
    problems.push(`${path}.turns: must be a list of at least one turn`);
    return [];
  }
  return turns.map((turn, at) => {
    const place = `${path}.turns[${at}]`;
    return compileTurn(place, turn, at === turns.length - 1, engine, problems);
  });
}

function parseYaml(file: string, text: string): JsonObject {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw invalid(
      file,
      document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        return `line ${line}, column ${col}: ${error.message}`;
      }),
    );
  }
  if (!isMap(document.contents))
    throw invalid(file, ['the file must be a map with the key agents']);
  try {
    return document.toJS({ maxAliasCount: 100 }) as JsonObject;
  } catch (thrown) {
    throw invalid(file, [thrown instanceof Error ? thrown.message : 'the file cannot be read']);
  }
}
