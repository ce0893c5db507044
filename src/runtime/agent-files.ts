import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { messageOf } from '../base/fault.ts';
import { type ConfigFault, configFault, describeValue } from './core/config-fault.ts';
import { formatPath, type KeyPath, type TextPlace } from './core/key-path.ts';
import { withoutKeys } from './core/secret-look.ts';
import { isTable, plainCopy, type RawTable } from './raw-config.ts';

/** An agent as a Markdown file gives it: the same table that `[agents.<id>]` would hold (SPEC C3). */
export interface AgentFile {
  readonly id: string;
  readonly file: string;
  readonly table: RawTable;
  /** By key path within the table; lines of the file. */
  readonly places: ReadonlyMap<string, TextPlace>;
}

/** Lines above the front matter's own first line: the opening fence. */
const FENCE_LINES = 1;
const FENCE = /^---[ \t]*$/;

/**
 * Reads one `agents/*.md`: front matter between two bare `---` lines, then the system prompt. A fence that names a
 * language (`---js`) is refused: front matter is data, never code. What the fields may hold is the schema's business.
 */
export function readAgentFile(
  file: string,
  text: string,
): { readonly agent: AgentFile | null; readonly faults: readonly ConfigFault[] } {
  const stem = file.replace(/^.*[/\\]/, '').replace(/\.md$/, '');
  const parts = split(text);
  if (!parts.ok) {
    const place = { file, line: 1, column: 1 };
    return { agent: null, faults: [configFault(place, ['agents', stem], parts)] };
  }
  const front = readFrontMatter(file, stem, parts.front);
  if (front.table === null) return { agent: null, faults: front.faults };
  const { id: ownId, ...fields } = front.table;
  const faults: ConfigFault[] = [];
  if (ownId !== undefined && typeof ownId !== 'string') {
    faults.push(
      configFault({ file, ...front.places.get('id') }, ['agents', stem, 'id'], {
        found: describeValue(ownId),
        expected: 'an id, as a text',
      }),
    );
  }
  const bodyPlace = { line: parts.bodyLine, column: 1 };
  const table = withBody(fields, parts.body);
  if (table === null) {
    const key = 'system_prompt' in fields ? 'system_prompt' : 'system_prompt_file';
    faults.push(
      configFault({ file, ...front.places.get(key) }, ['agents', stem, key], {
        found: `${key} beside a body`,
        expected: 'one system prompt',
        hint: `remove ${key}, or empty the text below the front matter`,
      }),
    );
  }
  const places = new Map(front.places);
  places.delete('id');
  if (table !== null && 'system_prompt' in table && !places.has('system_prompt')) {
    places.set('system_prompt', bodyPlace);
  }
  const id = typeof ownId === 'string' ? ownId : stem;
  return { agent: { id, file, table: table ?? fields, places }, faults };
}

/** `null` where both the front matter and the body hold a prompt. */
function withBody(fields: RawTable, body: string): RawTable | null {
  if (body.trim() === '') return fields;
  if ('system_prompt' in fields || 'system_prompt_file' in fields) return null;
  return { ...fields, system_prompt: body };
}

type Parts =
  | { readonly ok: true; readonly front: string; readonly body: string; readonly bodyLine: number }
  | {
      readonly ok: false;
      readonly found: string;
      readonly expected: string;
      readonly hint: string;
    };

function split(text: string): Parts {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const first = lines[0] ?? '';
  if (!FENCE.test(first)) {
    const language = /^---[ \t]*\S/.test(first);
    return {
      ok: false,
      found: language ? 'a fence with more than three dashes on its line' : 'no front matter',
      expected: 'a first line of exactly `---`',
      hint: language
        ? 'front matter is YAML and nothing else'
        : 'start the file with `---`, the fields of the agent and `---`, or move it out of the folder of agents',
    };
  }
  const close = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  if (close === -1) {
    return {
      ok: false,
      found: 'front matter without an end',
      expected: 'a second line of exactly `---`',
      hint: 'close the front matter before the system prompt',
    };
  }
  return {
    ok: true,
    front: lines.slice(FENCE_LINES, close).join('\n'),
    body: lines.slice(close + 1).join('\n'),
    bodyLine: close + 2,
  };
}

interface FrontMatter {
  readonly table: RawTable | null;
  readonly places: ReadonlyMap<string, TextPlace>;
  readonly faults: readonly ConfigFault[];
}

function readFrontMatter(file: string, stem: string, front: string): FrontMatter {
  const counter = new LineCounter();
  const document = parseDocument(front, { prettyErrors: false, lineCounter: counter });
  const placeOf = (offset: number): TextPlace => {
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(1, line) + FENCE_LINES, column: Math.max(1, col) };
  };
  const fault = (place: TextPlace, found: string): ConfigFault =>
    configFault({ file, ...place }, ['agents', stem], {
      found,
      expected: 'YAML: one `key: value` a line, every key a text',
    });
  const faults = [...document.errors, ...document.warnings].map((error) =>
    fault(
      placeOf(error.pos[0]),
      `front matter that does not parse (${withoutKeys(error.message)})`,
    ),
  );
  if (faults.length > 0) return { table: null, places: new Map(), faults };
  const walk = new PlaceWalk(placeOf);
  walk.node(document.contents, []);
  if (walk.foreignKey !== null) {
    return {
      table: null,
      places: walk.places,
      faults: [fault(walk.foreignKey, 'a key that is not a text')],
    };
  }
  try {
    const value = plainCopy(document.toJS() ?? {});
    if (isTable(value)) return { table: value, places: walk.places, faults: [] };
    return { table: null, places: walk.places, faults: [fault(placeOf(0), describeValue(value))] };
  } catch (error) {
    const found = `front matter that does not parse (${withoutKeys(messageOf(error))})`;
    return { table: null, places: walk.places, faults: [fault(placeOf(0), found)] };
  }
}

/** Notes where every key and list item of a YAML tree stands. */
class PlaceWalk {
  readonly places = new Map<string, TextPlace>();
  foreignKey: TextPlace | null = null;
  readonly #placeOf: (offset: number) => TextPlace;

  constructor(placeOf: (offset: number) => TextPlace) {
    this.#placeOf = placeOf;
  }

  node(node: unknown, path: KeyPath): void {
    if (isAlias(node)) return;
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) this.#entry(item, item, [...path, index]);
    }
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : null;
      if (typeof name === 'string') this.#entry(key, value, [...path, name]);
      else this.foreignKey ??= this.#placeOf(startOf(key) ?? 0);
    }
  }

  #entry(at: unknown, value: unknown, path: KeyPath): void {
    const offset = startOf(at);
    if (offset !== null) this.places.set(formatPath(path), this.#placeOf(offset));
    this.node(value, path);
  }
}

function startOf(node: unknown): number | null {
  return (node as Node | null | undefined)?.range?.[0] ?? null;
}
