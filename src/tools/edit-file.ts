import { TextDecoder } from 'node:util';
import type { Tool, ToolOutcome } from '../runtime/core/tool.ts';
import { type Failure, failed, type Step, step } from './core/failure.ts';
import { ForbiddenNames } from './hard-links.ts';
import { openRealFile } from './open-real.ts';
import { fileFailure, resolveInScope, type ScopedPath, workspaceOf } from './resolve-path.ts';
import { writeRealFile } from './write-real.ts';

/** Largest file that is edited, in bytes (16 MiB): it is held in memory whole. */
export const EDIT_BYTES_MAX = 16_777_216;

interface EditFileArgs {
  readonly path: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

export const editFileTool: Tool<EditFileArgs, AbortSignal> = {
  name: 'file_edit',
  description:
    'Replaces `old_text` by `new_text` in a text file. `old_text` must occur exactly once, character for character, unless `replace_all` is true.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace, or absolute.' },
      old_text: { type: 'string', minLength: 1, description: 'With enough context to be unique.' },
      new_text: { type: 'string', description: 'May be empty.' },
      replace_all: { type: 'boolean', description: 'Replace every occurrence; default false.' },
    },
    required: ['path', 'old_text', 'new_text'],
    additionalProperties: false,
  },
  effect: 'effectful',
  place: 'actor',
  timeoutMs: 60_000,
  async run(args, { scope, callKey }): Promise<ToolOutcome> {
    const workspaceDir = workspaceOf(scope);
    const target = await resolveInScope(scope.files, workspaceDir, args.path, 'write');
    if (!target.ok) return target;
    // What is edited is also read: its text shows in what is found and what is not.
    const readable = await resolveInScope(scope.files, workspaceDir, args.path, 'read');
    if (!readable.ok) return readable;
    const before = await readWhole(target.value, args.path, new ForbiddenNames(scope.files));
    if (!before.ok) return before;
    const count = before.value.split(args.old_text).length - 1;
    const refused = countFault(args, before.value, count);
    if (refused !== null) return refused;
    const after = before.value.split(args.old_text).join(args.new_text);
    const bytes = Buffer.from(after, 'utf8');
    const written = await writeRealFile(scope.files, target.value, args.path, bytes, callKey);
    if (!written.ok) return written;
    return {
      ok: true,
      text: `Replaced ${count} occurrence${count === 1 ? '' : 's'} in ${args.path} (now ${written.value} bytes)`,
      data: { path: args.path, replaced: count, bytes: written.value },
    };
  },
};

function countFault(args: EditFileArgs, text: string, count: number): Failure | null {
  const path = JSON.stringify(args.path);
  if (args.old_text === args.new_text) {
    return failed('no_change', `old_text and new_text are the same; ${path} was left as it is`);
  }
  if (count > 1 && args.replace_all !== true) {
    const advice = 'give more context to make it unique, or set replace_all';
    return failed('ambiguous_match', `old_text occurs ${count} times in ${path}: ${advice}`);
  }
  if (count > 0) return null;
  const hasCrlf = text.includes('\r\n') && args.old_text.includes('\n');
  const hint = hasCrlf ? '; the file has CRLF line ends (\\r\\n), write them in old_text too' : '';
  return failed('no_match', `old_text occurs 0 times in ${path}; nothing was changed${hint}`);
}

async function readWhole(
  target: ScopedPath,
  asked: string,
  names: ForbiddenNames,
): Promise<Step<string>> {
  const opened = await openRealFile(target.real, asked, names);
  if (!opened.ok) return opened;
  const { handle, stats } = opened.value;
  try {
    if (stats.size > EDIT_BYTES_MAX) {
      const size = `${stats.size} bytes (at most ${EDIT_BYTES_MAX})`;
      return failed('too_large', `${JSON.stringify(asked)} has ${size}`);
    }
    const bytes = await handle.readFile();
    return step(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (thrown) {
    if (thrown instanceof TypeError) {
      return failed(
        'binary_file',
        `${JSON.stringify(asked)} is not valid UTF-8 text; an edit would damage it`,
      );
    }
    return fileFailure(thrown, asked);
  } finally {
    await handle.close();
  }
}
