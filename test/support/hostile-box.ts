import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ToolContext } from '../../src/runtime/core/tool.ts';
import { type Scratch, scratch } from './tool-scratch.ts';

/** A workspace full of traps, and beside it what no call may read or change. */
export interface HostileBox extends Scratch {
  hostileContext(allowed: readonly string[]): ToolContext<AbortSignal>;
  /** The text without what is another at every run: the folder of this box, the id of this process. */
  plain(text: string): string;
}

export const SECRET = 'the canary is yellow';

export function hostileBox(): HostileBox {
  const box = scratch();
  const inside = (name: string): string => join(box.ws, name);
  box.file('ws/a.txt', 'inside');
  box.file('ws/sub/b.txt', 'inside');
  box.file('ws/vault/key', SECRET);
  box.file('ws/.troupe/journal.db', 'own');
  box.file('ws/troupe.toml', 'own');
  box.file('ws/.git/config', 'git');
  box.file('ws/ro/r.txt', 'read only');
  box.file('ws/wo/w.txt', SECRET);
  box.file('outside/c.txt', SECRET);
  box.file('outside/deep/d.txt', SECRET);
  box.file('ws2/e.txt', SECRET);
  for (const [target, name] of [
    ['../outside', 'out'],
    ['../outside/c.txt', 'outfile'],
    ['../outside/new.txt', 'dangling'],
    ['/', 'root'],
    ['/proc/self', 'proc'],
    ['/proc/self/root', 'procroot'],
    ['/proc/self/fd', 'fds'],
    ['/dev/zero', 'zero'],
    ['vault', 'tovault'],
    ['.troupe', 'toown'],
    ['.git', 'togit'],
    ['loop', 'loop'],
    ['pong', 'ping'],
    ['ping', 'pong'],
    ['..', 'up'],
  ] as const) {
    symlinkSync(target, inside(name));
  }
  symlinkSync('../../outside', inside('sub/out'));
  linkSync(join(box.dir, 'outside/c.txt'), inside('hard'));
  linkSync(inside('vault/key'), inside('hardkey'));
  linkSync(inside('troupe.toml'), inside('hardown'));
  mkdirSync(inside('folder'));
  execFileSync('mkfifo', [inside('fifo')]);
  return {
    ...box,
    hostileContext: (allowed) =>
      box.context({
        files: {
          forbidden: [inside('vault')],
          protected: [inside('.troupe'), inside('troupe.toml')],
          readRoots: [inside('ro')],
          writeRoots: [inside('wo')],
        },
        commands: { allowed },
      }),
    plain: (text) =>
      text.replaceAll(box.dir, '<box>').replaceAll(`/proc/${process.pid}`, '/proc/<pid>'),
  };
}

/** Everything below a folder, with what a change of it would show; links are not followed. */
export function snapshotOf(dir: string): readonly string[] {
  return readdirSync(dir)
    .sort()
    .flatMap((name) => {
      const path = join(dir, name);
      const stats = lstatSync(path);
      const content = stats.isFile()
        ? readFileSync(path, 'utf8')
        : stats.isSymbolicLink()
          ? readlinkSync(path)
          : '';
      const shown = [path, stats.mode, stats.nlink, stats.ino, stats.mtimeMs, content];
      return [JSON.stringify(shown), ...(stats.isDirectory() ? snapshotOf(path) : [])];
    });
}
