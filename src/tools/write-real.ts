import { createHash } from 'node:crypto';
import { constants as O } from 'node:fs';
import { access, type FileHandle, lstat, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileScope } from '../runtime/core/tool.ts';
import { failed, type Step, step } from './core/failure.ts';
import { judgeAll } from './core/path-scope.ts';
import { hardLinkFault } from './hard-links.ts';
import { kindOf, openParentDir } from './open-real.ts';
import { codeOf, fileFailure, type ScopedPath } from './resolve-path.ts';

/**
 * Replaces or creates a file in one step: written beside it, synced, renamed over it. Readers see the old content or
 * the new one; a file with other hard links is refused. Permissions of a replaced file stay. `tag` names the
 * call: its temporary file is found again, and removed, when the call is repeated after a crash. Gives the number of bytes written.
 */
export async function writeRealFile(
  scopes: readonly FileScope[],
  target: ScopedPath,
  asked: string,
  content: Uint8Array,
  tag: string,
): Promise<Step<number>> {
  const parent = await openParentDir(target, asked, (dir) => {
    const verdict = judgeAll(scopes, dir, 'write');
    return verdict.ok ? null : failed('outside_scope', `cannot make a directory: ${verdict.words}`);
  });
  if (!parent.ok) return parent;
  try {
    return await replaceIn(parent.value.base, basename(target.real), asked, content, tag);
  } finally {
    await parent.value.handle.close();
  }
}

async function replaceIn(
  base: string,
  name: string,
  asked: string,
  content: Uint8Array,
  tag: string,
): Promise<Step<number>> {
  const path = join(base, name);
  const mode = await modeOf(path, asked);
  if (!mode.ok) return mode;
  const temporary = join(base, `.troupe-${hashOf(`${tag}/${name}`)}.tmp`);
  let handle: FileHandle | null = null;
  try {
    await rm(temporary, { force: true });
    handle = await open(temporary, O.O_WRONLY | O.O_CREAT | O.O_EXCL | O.O_NOFOLLOW, 0o666);
    await handle.writeFile(content);
    if (mode.value !== null) await handle.chmod(mode.value);
    await handle.datasync();
    await handle.close();
    await rename(temporary, path);
    return step(content.byteLength);
  } catch (thrown) {
    await handle?.close().catch(() => undefined);
    if (handle !== null) await unlink(temporary).catch(() => undefined);
    return fileFailure(thrown, asked);
  }
}

/** Permission bits of the file that is there; `null` where there is none. Refuses what is no writable regular file. */
async function modeOf(path: string, asked: string): Promise<Step<number | null>> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) {
      return failed('not_a_file', `${JSON.stringify(asked)} is ${kindOf(stats)}`);
    }
    const fault = hardLinkFault(stats, asked);
    if (fault !== null) return fault;
    await access(path, O.W_OK);
    return step(stats.mode & 0o777);
  } catch (thrown) {
    return codeOf(thrown) === 'ENOENT' ? step(null) : fileFailure(thrown, asked);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
