import { closeSync, openSync, readSync } from 'node:fs';
import { messageOf } from '../base/fault.ts';
import type { ConfigFiles } from './config-look.ts';

/** Bytes that a file of a configuration may have: 4 MiB. */
export const CONFIG_BYTES_MAX = 4 * 1024 * 1024;

const CHUNK_BYTES = 65_536;

/** A text file, or in words why there is none. Files without an end, such as devices, are left at the limit. */
export function readText(path: string): ReturnType<ConfigFiles['read']> {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const text = textOf(fd);
    if (text !== null) return { ok: true, text };
    return { ok: false, why: `a file of more than ${CONFIG_BYTES_MAX} bytes` };
  } catch (thrown) {
    return { ok: false, why: reasonOf(thrown) };
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** `null` where it is larger than a configuration may be. */
function textOf(fd: number): string | null {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= CONFIG_BYTES_MAX; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readSync(fd, chunk);
    if (read === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(chunk.subarray(0, read));
    size += read;
  }
  return null;
}

/** Why a file could not be read, without the path, which the reader is told anyway. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a folder, not a file';
  if (code === 'ENOTDIR') return 'a file, not a folder';
  if (code === 'EACCES') return 'a file that may not be read';
  return messageOf(error);
}
