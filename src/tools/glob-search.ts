import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { failed } from './core/failure.ts';
import { type Glob, parseGlob } from './core/glob.ts';
import { resolveInScope, workspaceOf } from './resolve-path.ts';
import { leftOutWords, nothingLeftOut, SKIPPED_DIRS, WALK_DEPTH_MAX, walkDir } from './walk-dir.ts';

/** Paths in one answer where the call does not say. */
export const GLOB_LIMIT_DEFAULT = 1000;
/** Most paths in one answer. */
export const GLOB_LIMIT_MAX = 10_000;

interface GlobSearchArgs {
  readonly pattern: string;
  readonly path?: string;
  readonly limit?: number;
}

export const globSearchTool: Tool<GlobSearchArgs, AbortSignal> = {
  name: 'glob_search',
  description:
    'Finds files by a pattern such as "src/**/*.ts" or "*.{md,txt}" ("*" stays within a directory, "**" does not). Gives paths relative to `path`, sorted. Does not enter .git and node_modules unless the pattern or path names them, nor symlinks.',
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1, description: 'Relative to `path`.' },
      path: { type: 'string', description: 'Directory to start in; default: the workspace.' },
      limit: { type: 'integer', minimum: 1, maximum: GLOB_LIMIT_MAX, description: 'Default 1000.' },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  effect: 'read',
  place: 'actor',
  timeoutMs: 120_000,
  async run(args, context): Promise<ToolOutcome> {
    const { scope } = context;
    const parsed = parseGlob(args.pattern);
    if (!parsed.ok) {
      return failed(
        'invalid_pattern',
        `the pattern ${JSON.stringify(args.pattern)}: ${parsed.why}`,
      );
    }
    const asked = args.path ?? '.';
    const start = await resolveInScope(scope.files, workspaceOf(scope), asked, 'read');
    if (!start.ok) return start;
    return find(parsed.glob, start.value.real, asked, args.limit ?? GLOB_LIMIT_DEFAULT, context);
  },
};

async function find(
  glob: Glob,
  real: string,
  asked: string,
  limit: number,
  { scope, signal }: ToolContext<AbortSignal>,
): Promise<ToolOutcome> {
  const leftOut = nothingLeftOut();
  const skip = new Set(SKIPPED_DIRS.filter((name) => !glob.names(name)));
  const options = { scopes: scope.files, signal, depthMax: WALK_DEPTH_MAX, skip };
  const walk = walkDir(real, asked, options, leftOut);
  const paths: string[] = [];
  let isCut = false;
  for (let next = await walk.next(); ; next = await walk.next()) {
    if (next.done === true) {
      if (next.value !== null) return next.value;
      break;
    }
    const { kind, path } = next.value;
    if (kind === 'directory' || !glob.matches(path)) continue;
    isCut = paths.length === limit;
    if (isCut) break;
    paths.push(path);
  }
  const notes = [...leftOutWords(leftOut)];
  if (isCut) notes.unshift(`cut after ${limit} paths, there are more`);
  if (paths.length === 0) notes.unshift('no file matches');
  const lines = notes.length === 0 ? paths : [...paths, `[${notes.join('; ')}]`];
  return { ok: true, text: lines.join('\n'), data: { paths, cut: isCut } };
}
