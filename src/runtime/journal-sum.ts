import type { Cell } from './journal-schema.ts';

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
/** Between two cells; no character of a text. */
const BREAK = 0x10000;
/** The kind of a cell counts too: null is not the text "null". */
const IS_NULL = 1;
const IS_NUMBER = 2;
const IS_TEXT = 3;

/**
 * 32 bits over a row's position and all of its cells (FNV-1a on UTF-16 units), kept beside them, so that a byte which
 * changed on the disk is noticed also where the row stays readable. Any one changed character is noticed for certain. It
 * guards against damage, not against someone who writes the sum as well.
 */
export function sumOf(seq: number, cells: readonly Cell[]): number {
  let sum = sumOfPlace(seq);
  for (const cell of cells) {
    if (cell === null) sum = withNull(sum);
    else if (typeof cell === 'number') sum = withNumber(sum, cell);
    else sum = withText(sum, cell, 0, cell.length);
  }
  return sum >>> 0;
}

/** What a row's sum begins with; the cells follow in order, and `>>> 0` ends it. */
export function sumOfPlace(seq: number): number {
  const text = String(seq);
  return over(BASIS, text, 0, text.length);
}

export function withNull(sum: number): number {
  return Math.imul(sum ^ (BREAK + IS_NULL), PRIME);
}

export function withNumber(sum: number, cell: number): number {
  const text = String(cell);
  return over(Math.imul(sum ^ (BREAK + IS_NUMBER), PRIME), text, 0, text.length);
}

/** The cell is `text` from `from` up to `to`. */
export function withText(sum: number, text: string, from: number, to: number): number {
  return over(Math.imul(sum ^ (BREAK + IS_TEXT), PRIME), text, from, to);
}

/** Four lanes, each over every fourth unit: they do not wait for each other. */
function over(start: number, text: string, from: number, to: number): number {
  let first = start;
  let second = BASIS;
  let third = BASIS;
  let fourth = BASIS;
  const even = to - ((to - from) % 4);
  for (let at = from; at < even; at += 4) {
    first = Math.imul(first ^ text.charCodeAt(at), PRIME);
    second = Math.imul(second ^ text.charCodeAt(at + 1), PRIME);
    third = Math.imul(third ^ text.charCodeAt(at + 2), PRIME);
    fourth = Math.imul(fourth ^ text.charCodeAt(at + 3), PRIME);
  }
  for (let at = even; at < to; at += 1) {
    first = Math.imul(first ^ text.charCodeAt(at), PRIME);
  }
  first = Math.imul(first ^ second, PRIME);
  first = Math.imul(first ^ third, PRIME);
  return Math.imul(first ^ fourth, PRIME);
}
