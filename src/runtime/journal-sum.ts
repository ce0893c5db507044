import type { Cell } from './journal-schema.ts';

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
/** Between two cells; no character of a text. */
const BREAK = 0x10000;

/**
 * 32 bits over a row's position and all of its cells (FNV-1a on UTF-16 units), kept beside them, so that a byte which
 * changed on the disk is noticed also where the row stays readable. Any one changed character is noticed for certain. It
 * guards against damage, not against someone who writes the sum as well.
 */
export function sumOf(seq: number, cells: readonly Cell[]): number {
  let sum = over(BASIS, String(seq));
  for (const cell of cells) {
    // The kind of a cell counts too: null is not the text "null".
    const kind = cell === null ? 1 : typeof cell === 'number' ? 2 : 3;
    sum = Math.imul(sum ^ (BREAK + kind), PRIME);
    if (cell !== null) sum = over(sum, String(cell));
  }
  return sum >>> 0;
}

function over(start: number, text: string): number {
  let sum = start;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  }
  return sum;
}
