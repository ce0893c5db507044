/** Where in the configuration something stands: names of keys, and indexes of lists. */
export type KeyPath = readonly (string | number)[];

/** `agents.lead.delegates[0].agent`; a name that TOML must quote is quoted; the whole file is `(top level)`. */
export function formatPath(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += `${text === '' ? '' : '.'}${BARE.test(part) ? part : JSON.stringify(part)}`;
  }
  return text === '' ? '(top level)' : text;
}

const BARE = /^[A-Za-z0-9_-]+$/;

/** A line and a column of a text, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}
