import { posix } from 'node:path';

type FilterFunction = (value: unknown, ...args: unknown[]) => unknown;

/**
 * Filters of scenario templates, in addition to Liquid's own or in their place. Liquid reads what is no number as 0
 * and what is missing as nothing: here both are faults, so that no report holds a figure that nobody measured.
 */
export const FILTERS: Readonly<Record<string, FilterFunction>> = {
  abs: (value) => Math.abs(numeric(value)),
  at_least: (value, min) => Math.max(numeric(value), numeric(min)),
  at_most: (value, max) => Math.min(numeric(value), numeric(max)),
  ceil: (value) => Math.ceil(numeric(value)),
  floor: (value) => Math.floor(numeric(value)),
  plus: (value, other) => numeric(value) + numeric(other),
  minus: (value, other) => numeric(value) - numeric(other),
  times: (value, other) => numeric(value) * numeric(other),
  divided_by: (value, other) => numeric(value) / divisor(other),
  modulo: (value, other) => numeric(value) % divisor(other),
  round: (value, digits = 0) => round(numeric(value), numeric(digits)),
  sum: (value, path) =>
    list(value).reduce<number>((total, item) => total + numeric(read(item, path)), 0),
  map: (value, path) => list(value).map((item) => read(item, path)),
  count: (value) => (typeof value === 'string' ? value.length : list(value).length),
  flatten: (value) => list(value).flat(),
  basename: (value, suffix) =>
    suffix === undefined ? posix.basename(text(value)) : posix.basename(text(value), text(suffix)),
  dirname: (value) => posix.dirname(text(value)),
  /** 1234567 as 1,234,567. */
  thousands: (value) => String(numeric(value)).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ','),
  /** A row of a Markdown table: of a list its items, of an object the values of the named keys. */
  row: (value, ...keys) => {
    const cells = keys.length === 0 ? list(value) : keys.map((key) => read(value, key));
    return `| ${cells.map(cell).join(' | ')} |`;
  },
};

/** Liquid filters that would bring in chance, the clock or an unreadable object. */
export const REMOVED_FILTERS = [
  'date',
  'date_to_long_string',
  'date_to_rfc822',
  'date_to_string',
  'date_to_xmlschema',
  'raw',
  'sample',
];

/** Liquid tags that read files, or print around the checks that an output passes. */
export const REMOVED_TAGS = ['block', 'echo', 'include', 'layout', 'render', 'tablerow'];

function numeric(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw new TypeError(`expected a number, found ${show(value)}`);
}

function divisor(value: unknown): number {
  const number = numeric(value);
  if (number === 0) throw new TypeError('division by 0');
  return number;
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`expected a list, found ${show(value)}`);
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`expected a text, found ${show(value)}`);
}

/** `json.files` of an item; the item itself without a path. */
function read(item: unknown, path: unknown): unknown {
  if (path === undefined) return item;
  let here = item;
  for (const name of String(path).split('.')) {
    const found =
      here !== null && typeof here === 'object' && Object.hasOwn(here, name)
        ? (here as Record<string, unknown>)[name]
        : undefined;
    if (found === undefined) throw new TypeError(`"${String(path)}" is missing in ${show(item)}`);
    here = found;
  }
  return here;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) throw new TypeError('a cell of a row has no value');
  const words = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return words.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function show(value: unknown): string {
  const words = JSON.stringify(value) ?? String(value);
  return words.length > 80 ? `${words.slice(0, 77)}...` : words;
}
