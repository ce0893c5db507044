import { counted } from './figures.ts';

/** For people, where runs are that no host carries on (SPEC J5). */
export function unfinishedWords(count: number): string {
  return `${counted(count, 'unfinished run')}: \`troupe resume\` goes on with ${count === 1 ? 'it' : 'them'}`;
}
