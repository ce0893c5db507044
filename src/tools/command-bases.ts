import { resolve } from 'node:path';
import type { ProgramCall } from './core/command-line.ts';

/** Directories that the programs of one line may be told to stand in, the workspace included. */
export const BASES_MAX = 8;

/** Options after which a program stands in another directory. */
const MOVES = ['-C', '--directory', '--chdir', '--prefix', '--cwd', '--work-tree', '--git-dir'];

/** Where the paths of a line may start: the workspace, and what its programs are told to stand in. */
export function basesOf(workspaceDir: string, calls: readonly ProgramCall[]): readonly string[] {
  const bases = new Set([workspaceDir]);
  for (const { args } of calls) {
    let chained = workspaceDir;
    for (const value of args.flatMap((word, i) => moveOf(word.text, args[i + 1]?.text))) {
      chained = resolve(chained, value);
      bases.add(chained).add(resolve(workspaceDir, value));
    }
  }
  return [...bases];
}

/** The directory that an option tells its program to stand in. */
function moveOf(text: string, next = ''): readonly string[] {
  if (MOVES.includes(text)) return [next];
  if (/^-C./.test(text)) return [text.slice(2)];
  const option = MOVES.find((each) => text.startsWith(`${each}=`));
  return option === undefined ? [] : [text.slice(option.length + 1)];
}
