import type { Tool, ToolOutcome } from '../runtime/core/tool.ts';
import { resolveInScope, workspaceOf } from './resolve-path.ts';
import { writeRealFile } from './write-real.ts';

interface WriteFileArgs {
  readonly path: string;
  readonly content: string;
}

export const writeFileTool: Tool<WriteFileArgs, AbortSignal> = {
  name: 'file_write',
  description:
    'Writes a text file (UTF-8) in one step, replacing what is there; makes missing directories. To change a part of a file use file_edit.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace, or absolute.' },
      content: { type: 'string', description: 'The whole new content.' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  place: 'actor',
  timeoutMs: 60_000,
  async run(args, { scope, callKey }): Promise<ToolOutcome> {
    const { path, content } = args;
    const target = await resolveInScope(scope.files, workspaceOf(scope), path, 'write');
    if (!target.ok) return target;
    const bytes = Buffer.from(content, 'utf8');
    const written = await writeRealFile(scope.files, target.value, path, bytes, callKey);
    if (!written.ok) return written;
    const did = target.value.exists ? 'Replaced' : 'Created';
    return {
      ok: true,
      text: `${did} ${path} (${written.value} bytes)`,
      data: { path, bytes: written.value, created: !target.value.exists },
    };
  },
};
