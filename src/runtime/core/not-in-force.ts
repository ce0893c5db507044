import type { KeyPath } from './key-path.ts';

/** A setting that the schema accepts and that this version does not act on yet. */
export interface NotInForce {
  /** `*` stands for any name or index. */
  readonly path: readonly string[];
  /** Which written values have no effect; without it, any. */
  readonly when?: (value: unknown) => boolean;
  /** What the reader should know, after `<path>: `. */
  readonly words: string;
}

const LATER = 'accepted, but not in force in this version';
const filled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** The one list of them: `troupe check` and `troupe run` print it, so that no limit is quietly ignored. */
export const NOT_IN_FORCE: readonly NotInForce[] = [
  {
    path: ['providers', 'models', '*', '*', 'fallback'],
    when: filled,
    words: `${LATER}: only the entry itself is asked`,
  },
  {
    path: ['providers', 'models', '*', '*', 'native_tools'],
    when: (value) => value === false,
    words: `${LATER}: tools are always offered natively`,
  },
  {
    path: ['runtime_profiles', '*', 'isolation'],
    when: (value) => value !== 'host',
    words: `${LATER}: runs share the actor threads ("host")`,
  },
  {
    path: ['runtime_profiles', '*', 'strict_tool_parsing'],
    when: (value) => value === true,
    words: `${LATER}: there is no text tool protocol to be strict about`,
  },
  { path: ['agents', '*', 'skills'], when: filled, words: `${LATER}: skills are not loaded` },
  {
    path: ['agents', '*', 'mcp_servers'],
    when: filled,
    words: `${LATER}: the agent gets no tools of MCP servers`,
  },
  { path: ['mcp_servers', '*'], words: `${LATER}: the server is not started` },
];

/** Every such setting that was really written, in the order of the list. */
export function findNotInForce(raw: unknown): readonly { path: KeyPath; words: string }[] {
  return NOT_IN_FORCE.flatMap((entry) =>
    matches(raw, entry.path, [])
      .filter(({ value }) => entry.when === undefined || entry.when(value))
      .map(({ path }) => ({ path, words: entry.words })),
  );
}

interface Match {
  readonly path: KeyPath;
  readonly value: unknown;
}

function matches(value: unknown, pattern: readonly string[], at: KeyPath): readonly Match[] {
  const [head, ...rest] = pattern;
  if (head === undefined) return [{ path: at, value }];
  if (value === null || typeof value !== 'object') return [];
  const isList = Array.isArray(value);
  return Object.entries(value)
    .filter(([key]) => head === '*' || head === key)
    .flatMap(([key, inner]) => matches(inner, rest, [...at, isList ? Number(key) : key]));
}
