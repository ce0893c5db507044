import type { FileHandle } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import type { Tool, ToolOutcome } from '../runtime/core/tool.ts';
import { failed, type Step, step } from './core/failure.ts';
import { ForbiddenNames } from './hard-links.ts';
import { openRealFile } from './open-real.ts';
import { fileFailure, resolveInScope, workspaceOf } from './resolve-path.ts';

/** Most bytes of text in one answer (1 MiB); the rest is named and can be asked for by line. */
export const READ_BYTES_MAX = 1_048_576;

const CHUNK_BYTES = 65_536;
const NEWLINE = 10;

interface ReadFileArgs {
  readonly path: string;
  readonly offset_lines?: number;
  readonly limit_lines?: number;
}

export const readFileTool: Tool<ReadFileArgs, AbortSignal> = {
  name: 'file_read',
  description:
    'Reads a text file. Gives the whole file, or `limit_lines` lines after the first `offset_lines`; at most 1 MiB, with a note of what was left out.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the workspace, or absolute.' },
      offset_lines: { type: 'integer', minimum: 0, description: 'Lines to skip; default 0.' },
      limit_lines: { type: 'integer', minimum: 1, description: 'Lines to give; default all.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  effect: 'read',
  place: 'actor',
  timeoutMs: 60_000,
  async run(args, { scope, signal }): Promise<ToolOutcome> {
    const target = await resolveInScope(scope.files, workspaceOf(scope), args.path, 'read');
    if (!target.ok) return target;
    const opened = await openRealFile(
      target.value.real,
      args.path,
      new ForbiddenNames(scope.files),
    );
    if (!opened.ok) return opened;
    const { handle, stats } = opened.value;
    try {
      const part = await readLines(handle, args, signal);
      if (!part.ok) return part;
      return answer(args, part.value, stats.size);
    } catch (thrown) {
      signal.throwIfAborted();
      return fileFailure(thrown, args.path);
    } finally {
      await handle.close();
    }
  },
};

interface Part {
  readonly bytes: Uint8Array;
  /** Lines skipped before it; fewer than asked for where the file ended. */
  readonly skipped: number;
  /** Position in the file where reading stopped. */
  readonly end: number;
  readonly reason: 'end' | 'lines' | 'bytes';
}

async function readLines(
  handle: FileHandle,
  args: ReadFileArgs,
  signal: AbortSignal,
): Promise<Step<Part>> {
  const cursor = new LineCursor(
    args.offset_lines ?? 0,
    args.limit_lines ?? Number.POSITIVE_INFINITY,
  );
  const chunk = new Uint8Array(CHUNK_BYTES);
  let position = 0;
  while (cursor.reason === null) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0 && bytes.subarray(0, 8192).includes(0)) {
      const found = `${JSON.stringify(args.path)} is a binary file (it holds NUL bytes)`;
      return failed('binary_file', `${found}; this tool reads text`);
    }
    cursor.take(bytes);
    position += bytesRead;
  }
  return step({
    bytes: Buffer.concat(cursor.kept),
    skipped: cursor.skipped,
    end: cursor.consumed,
    reason: cursor.reason ?? 'end',
  });
}

/** Walks over bytes line by line: skips the first ones, keeps the next ones, up to the byte limit. */
class LineCursor {
  readonly kept: Uint8Array[] = [];
  skipped = 0;
  consumed = 0;
  reason: 'lines' | 'bytes' | null = null;
  readonly #toSkip: number;
  #linesLeft: number;
  #bytesLeft = READ_BYTES_MAX;

  constructor(toSkip: number, lines: number) {
    this.#toSkip = toSkip;
    this.#linesLeft = lines;
  }

  take(bytes: Uint8Array): void {
    let at = this.#skip(bytes);
    const from = at;
    while (at < bytes.length && this.reason === null) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = Math.min(newline < 0 ? bytes.length : newline + 1, at + this.#bytesLeft);
      this.#bytesLeft -= end - at;
      at = end;
      if (newline >= 0 && end === newline + 1) this.#linesLeft -= 1;
      if (this.#linesLeft === 0) this.reason = 'lines';
      else if (this.#bytesLeft === 0) this.reason = 'bytes';
    }
    if (at > from) this.kept.push(bytes.slice(from, at));
    this.consumed += at;
  }

  #skip(bytes: Uint8Array): number {
    let at = 0;
    while (this.skipped < this.#toSkip && at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline < 0) return bytes.length;
      this.skipped += 1;
      at = newline + 1;
    }
    return at;
  }
}

function answer(args: ReadFileArgs, part: Part, size: number): ToolOutcome {
  const offset = args.offset_lines ?? 0;
  if (part.skipped < offset && part.bytes.length === 0) {
    const lines = `it has only ${part.skipped} line ends`;
    return failed(
      'out_of_range',
      `${JSON.stringify(args.path)}: offset_lines ${offset}, but ${lines}`,
    );
  }
  const { text, isExact } = decode(part.bytes);
  const notes: string[] = [];
  if (part.end < size) {
    const lines = part.bytes.reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0);
    const next = lines === 0 ? '' : `; continue with offset_lines ${offset + lines}`;
    const what =
      part.reason === 'bytes' ? `cut at ${READ_BYTES_MAX} bytes` : `${lines} lines given`;
    notes.push(`[${what}: ${size - part.end} of ${size} bytes follow${next}]`);
  }
  if (!isExact) notes.push('[not valid UTF-8: undecodable bytes are shown as U+FFFD]');
  if (notes.length === 0) return { ok: true, text };
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return { ok: true, text: `${text}${gap}${notes.join('\n')}` };
}

/** A byte order mark stays: what was read must be what `file_edit` finds. */
function decode(bytes: Uint8Array): { readonly text: string; readonly isExact: boolean } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isExact: true };
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return { text, isExact: false };
  }
}
