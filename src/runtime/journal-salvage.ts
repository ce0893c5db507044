import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { COLUMNS, SUM } from './journal-schema.ts';
import type { SqliteRow } from './sqlite.ts';

/*
 * Reads the events of a file that SQLite gives up on, page by page, without its search tree. It knows as much of
 * SQLite's file format as that takes: the journal has one table and never deletes, so every leaf page of a table holds
 * events, and a row that lies there twice is the same row.
 *
 * Never on a thread of a process that also writes this file: closing a second descriptor drops SQLite's locks.
 */

const TABLE_LEAF = 0x0d;
const DEFAULT_PAGE_BYTES = 4096;
const HEADER_BYTES = 100;

/** Where a row's payload begins. */
interface Place {
  readonly page: number;
  readonly offset: number;
  readonly payloadBytes: number;
}

/**
 * The rows after `after` for as long as no position is missing. A write-ahead log beside the file is not looked at.
 * Takes memory for a number or three an event.
 */
export function* salvageRows(file: string, after: number): Generator<SqliteRow, void, undefined> {
  const pages = new Pages(file);
  try {
    const places = findRows(pages);
    for (let seq = after + 1; ; seq += 1) {
      const place = places.get(seq);
      const payload = place === undefined ? null : readPayload(pages, place);
      const row = payload === null ? null : readRecord(payload, seq);
      if (row === null) return;
      yield row;
    }
  } finally {
    pages.close();
  }
}

class Pages {
  readonly pageBytes: number;
  /** What a page has for content; the rest is reserved. */
  readonly usableBytes: number;
  readonly fileBytes: number;
  readonly #descriptor: number;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
    this.fileBytes = fstatSync(this.#descriptor).size;
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(this.#descriptor, header, 0, HEADER_BYTES, 0);
    const said = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const isPower = said >= 512 && (said & (said - 1)) === 0;
    this.pageBytes = isPower ? said : DEFAULT_PAGE_BYTES;
    this.usableBytes = isPower ? said - (header[20] ?? 0) : DEFAULT_PAGE_BYTES;
  }

  /** A page by its number from 1; `null` = the file ends before or within it. */
  read(number: number): Buffer | null {
    const page = Buffer.alloc(this.pageBytes);
    const at = (number - 1) * this.pageBytes;
    return readSync(this.#descriptor, page, 0, this.pageBytes, at) === this.pageBytes ? page : null;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function findRows(pages: Pages): Map<number, Place> {
  const places = new Map<number, Place>();
  for (let number = 2; ; number += 1) {
    const page = pages.read(number);
    if (page === null) return places;
    if (page[0] !== TABLE_LEAF) continue;
    const cells = Math.min(page.readUInt16BE(3), (pages.pageBytes - 8) >> 1);
    for (let cell = 0; cell < cells; cell += 1) {
      const [payloadBytes, rowidAt] = readVarint(page, page.readUInt16BE(8 + cell * 2));
      const [seq, offset] = readVarint(page, rowidAt);
      // A length that was damaged must not lead round and round a chain of pages.
      if (payloadBytes > pages.fileBytes) continue;
      if (!places.has(seq)) places.set(seq, { page: number, offset, payloadBytes });
    }
  }
}

/** The payload from its leaf and the chain of overflow pages; `null` = a part of it is gone. */
function readPayload(pages: Pages, { page, offset, payloadBytes }: Place): Buffer | null {
  const leaf = pages.read(page);
  if (leaf === null) return null;
  const local = localBytes(pages.usableBytes, payloadBytes);
  const parts = [leaf.subarray(offset, offset + local)];
  let left = payloadBytes - local;
  let next = left > 0 && offset + local + 4 <= leaf.length ? leaf.readUInt32BE(offset + local) : 0;
  while (left > 0) {
    const overflow = next < 2 ? null : pages.read(next);
    if (overflow === null) return null;
    const part = overflow.subarray(4, 4 + Math.min(left, pages.usableBytes - 4));
    parts.push(part);
    left -= part.length;
    next = overflow.readUInt32BE(0);
  }
  const payload = Buffer.concat(parts);
  return payload.length === payloadBytes ? payload : null;
}

/** How much of a payload lies in the leaf itself (SQLite's file format, section 1.6). */
function localBytes(usable: number, payload: number): number {
  const most = usable - 35;
  if (payload <= most) return payload;
  const least = Math.trunc(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((payload - least) % (usable - 4));
  return fitting <= most ? fitting : least;
}

function readRecord(payload: Buffer, seq: number): SqliteRow | null {
  const [headerBytes, typesAt] = readVarint(payload, 0);
  const row: SqliteRow = { seq };
  let at = headerBytes;
  let typeAt = typesAt;
  for (const column of ['seq', ...COLUMNS, SUM]) {
    // A row of before the column was added ends without it.
    if (typeAt >= headerBytes) return column === SUM ? row : null;
    const [type, following] = readVarint(payload, typeAt);
    typeAt = following;
    const bytes = contentBytes(type);
    if (at + bytes > payload.length) return null;
    // The table leaves `seq` itself empty: it is the row's own number.
    if (column !== 'seq') row[column] = readValue(type, payload.subarray(at, at + bytes));
    at += bytes;
  }
  return row;
}

/** Bytes of a value by its serial type. */
function contentBytes(type: number): number {
  if (type >= 12) return Math.trunc((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type] ?? 0;
}

/** Text, integers and null: the only values a journal has. */
function readValue(type: number, bytes: Buffer): string | number | null {
  if (type >= 13 && type % 2 === 1) return bytes.toString('utf8');
  if (type === 8) return 0;
  if (type === 9) return 1;
  if (type >= 1 && type <= 5) return bytes.readIntBE(0, bytes.length);
  return type === 6 ? Number(bytes.readBigInt64BE()) : null;
}

/** A number of one to nine bytes and where the next thing begins; numbers past 2^53 do not occur in a sound file. */
function readVarint(bytes: Buffer, start: number): [value: number, next: number] {
  let value = 0;
  for (let at = start; at < start + 8; at += 1) {
    const byte = bytes[at] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + 1];
  }
  return [value * 256 + (bytes[start + 8] ?? 0), start + 9];
}
