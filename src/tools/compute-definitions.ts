import type { ToolDefinition } from '../runtime/core/tool.ts';
import { SOURCE_ENDINGS } from './core/source-endings.ts';

/** Entries in each list of `code_stats` where the call names no number. */
export const CODE_STATS_LIMIT = 10;
const CODE_STATS_LIMIT_MAX = 100;

/** Shortest copy, and groups, of `find_duplicates` where the call names no number. */
export const FIND_DUPLICATES_MIN_TOKENS = 60;
export const FIND_DUPLICATES_LIMIT = 20;
const FIND_DUPLICATES_LIMIT_MAX = 200;

/** What is advertised of `code_stats`, apart from its code: the host need not load a parser to offer it. */
export const CODE_STATS_DEFINITION: ToolDefinition = {
  name: 'code_stats',
  description:
    'Measures TypeScript and JavaScript source: totals (files, lines, code, comment and blank lines, functions, ' +
    'classes, exports, imports), the spread of file sizes, the largest files, the longest and the most complex ' +
    'functions (cyclomatic complexity: 1 plus every if, loop, catch, case, ?:, &&, ||, ??), TODO/FIXME/XXX/HACK ' +
    'comments and parse errors. Skips node_modules, .git, dist, build, coverage, minified files and files over ' +
    '1 MiB, and says how many. Returns a JSON object; paths are relative to the workspace.',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      path: {
        type: 'string',
        description:
          'File or folder, absolute or relative to the workspace. Default: the workspace.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: CODE_STATS_LIMIT_MAX,
        description: `Entries in each list. Default: ${CODE_STATS_LIMIT}.`,
      },
      include: {
        type: 'array',
        maxItems: 20,
        items: { type: 'string', minLength: 1, maxLength: 100 },
        description: `Only files whose names end so, e.g. [".ts", "*.test.tsx"]. Default: ${SOURCE_ENDINGS.join(' ')}.`,
      },
    },
  },
  effect: 'read',
  place: 'compute',
  timeoutMs: 300_000,
};

/** What is advertised of `find_duplicates`. */
export const FIND_DUPLICATES_DEFINITION: ToolDefinition = {
  name: 'find_duplicates',
  description:
    'Finds copied code in TypeScript and JavaScript source, within and across files, by comparing tokens. Names ' +
    'count as equal, and so do strings, numbers and other literals of one kind, so that copies with renamed ' +
    'variables or other values are found; comments, white space and imports do not count. Each group is as long ' +
    'as it can be, its occurrences never overlap, and groups that would save most tokens come first. A list of ' +
    'short like entries (a table) does not count as copies of itself. Skips node_modules, .git, dist, build, ' +
    'coverage, minified files and files over 1 MiB. Returns a JSON object; paths are relative to the workspace.',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: {
      path: {
        type: 'string',
        description:
          'File or folder, absolute or relative to the workspace. Default: the workspace.',
      },
      min_tokens: {
        type: 'integer',
        minimum: 20,
        maximum: 1000,
        description: `Shortest copy that counts, in tokens (a line has about 10). Default: ${FIND_DUPLICATES_MIN_TOKENS}.`,
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: FIND_DUPLICATES_LIMIT_MAX,
        description: `Groups in the answer. Default: ${FIND_DUPLICATES_LIMIT}.`,
      },
    },
  },
  effect: 'read',
  place: 'compute',
  timeoutMs: 300_000,
};
