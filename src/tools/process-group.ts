/**
 * The processes that one shell call started, and the way to be sure that none is left.
 *
 * 1. A call's shell leads a process group of its own. Its id cannot be given to another process while a member lives.
 * 2. A zombie has ended: it holds nothing and needs nobody but the parent that has not asked for it yet.
 * 3. A process that left the group (`setsid`) still carries the call's mark in its environment. Only processes with
 *    the mark are killed outside the group, so that nobody else's process can be. Linux only: elsewhere nothing shows
 *    another process's environment.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** The environment variable that carries the mark. */
export const MARK_VARIABLE = 'TROUPE_SHELL_CALL';

const POLL_MS = 20;

export interface KillLimits {
  /** Milliseconds between asking (SIGTERM) and forcing (SIGKILL). */
  readonly graceMs: number;
  /** Milliseconds to wait for the kernel after SIGKILL. */
  readonly forceMs: number;
}

/** Ends the group and what left it; `true` once nothing of it runs any more. Asking twice is harmless. */
export async function endGroup(pgid: number, mark: string, limits: KillLimits): Promise<boolean> {
  let isGone = !(await isAlive(pgid));
  if (!isGone) {
    signalGroup(pgid, 'SIGTERM');
    isGone = await untilGone(pgid, limits.graceMs);
  }
  if (!isGone) {
    signalGroup(pgid, 'SIGKILL');
    isGone = await untilGone(pgid, limits.forceMs);
  }
  return (await endMarked(mark)) && isGone;
}

/** At once and without waiting: for a host that is going down. */
export function killGroup(pgid: number): void {
  signalGroup(pgid, 'SIGKILL');
}

async function untilGone(pgid: number, limitMs: number): Promise<boolean> {
  const polls = Math.ceil(limitMs / POLL_MS);
  for (let i = 0; i < polls; i += 1) {
    if (!(await isAlive(pgid))) return true;
    await pause(POLL_MS);
  }
  return !(await isAlive(pgid));
}

async function isAlive(pgid: number): Promise<boolean> {
  if (!signalGroup(pgid, 0)) return false;
  const pids = await runningPids();
  if (pids === null) return true;
  const groups = await Promise.all(pids.map(groupOf));
  return groups.includes(pgid);
}

/** Ends what calls with marks that begin like this have left: those of a host that is gone. */
export function endOrphans(owner: string): Promise<boolean> {
  return endMarked(owner);
}

/** 3. Of every mark that begins like this. */
async function endMarked(mark: string): Promise<boolean> {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  for (let round = 0; round < 50; round += 1) {
    const pids = (await runningPids()) ?? [];
    const found = await Promise.all(pids.map((pid) => carries(pid, wanted)));
    const marked = pids.filter((_, i) => found[i] === true);
    if (marked.length === 0) return true;
    for (const pid of marked) signal(pid, 'SIGKILL');
    await pause(POLL_MS);
  }
  return false;
}

/** Ids of all processes; `null` where the kernel does not show them as files. */
async function runningPids(): Promise<readonly number[] | null> {
  if (process.platform !== 'linux') return null;
  try {
    return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return null;
  }
}

/** The process group of a process; `null` for a zombie (2) and for one that has gone. */
async function groupOf(pid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; after it: state, parent, group.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : Number(group);
  } catch {
    return null;
  }
}

async function carries(pid: number, wanted: string): Promise<boolean> {
  if (pid === process.pid) return false;
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    const isMarked = environment.split('\0').some((entry) => entry.startsWith(wanted));
    return isMarked && (await groupOf(pid)) !== null;
  } catch {
    return false;
  }
}

function signalGroup(pgid: number, name: NodeJS.Signals | 0): boolean {
  return signal(-pgid, name);
}

/** Did anybody get it? */
function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, name);
    return true;
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'EPERM';
  }
}
