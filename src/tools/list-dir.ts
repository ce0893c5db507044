import { readlink } from 'node:fs/promises';
import type { Tool, ToolContext, ToolOutcome } from '../runtime/core/tool.ts';
import { resolveInScope, workspaceOf } from './resolve-path.ts';
import { leftOutWords, nothingLeftOut, type WalkEntry, walkDir } from './walk-dir.ts';

/** Most entries in one answer. */
export const LIST_ENTRIES_MAX = 2000;
/** Deepest listing. */
export const LIST_DEPTH_MAX = 10;

interface ListDirArgs {
  readonly path?: string;
  readonly depth?: number;
}

export const listDirTool: Tool<ListDirArgs, AbortSignal> = {
  name: 'list_dir',
  description:
    'Lists a directory: directories end in "/", symlinks show where they point and are not followed. At most 2000 entries, sorted.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Default: the workspace.' },
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: LIST_DEPTH_MAX,
        description: 'Levels; default 1.',
      },
    },
    additionalProperties: false,
  },
  effect: 'read',
  place: 'actor',
  timeoutMs: 60_000,
  async run(args, context): Promise<ToolOutcome> {
    const { scope } = context;
    const asked = args.path ?? '.';
    const start = await resolveInScope(scope.files, workspaceOf(scope), asked, 'read');
    if (!start.ok) return start;
    return list(start.value.real, asked, args.depth ?? 1, context);
  },
};

async function list(
  real: string,
  asked: string,
  depthMax: number,
  { scope, signal }: ToolContext<AbortSignal>,
): Promise<ToolOutcome> {
  const leftOut = nothingLeftOut();
  const options = { scopes: scope.files, signal, depthMax, skip: new Set<string>() };
  const walk = walkDir(real, asked, options, leftOut);
  const lines: string[] = [];
  let isCut = false;
  for (let next = await walk.next(); ; next = await walk.next()) {
    if (next.done === true) {
      if (next.value !== null) return next.value;
      break;
    }
    if (lines.length === LIST_ENTRIES_MAX) {
      isCut = true;
      break;
    }
    lines.push(await lineOf(next.value));
  }
  const notes = [...leftOutWords(leftOut)];
  if (isCut) notes.unshift(`cut after ${LIST_ENTRIES_MAX} entries, there are more`);
  if (lines.length === 0) notes.unshift('empty directory');
  if (notes.length > 0) lines.push(`[${notes.join('; ')}]`);
  return { ok: true, text: lines.join('\n') };
}

async function lineOf({ path, kind, real }: WalkEntry): Promise<string> {
  if (kind === 'directory') return `${path}/`;
  if (kind !== 'link') return path;
  const target = await readlink(real).catch(() => '?');
  return `${path} -> ${target}`;
}
