import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { Fault } from '../base/fault.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

/** Of the file's own checksums, which run on from frame to frame. */
interface Sums {
  readonly bigEndian: boolean;
  first: number;
  second: number;
}

/**
 * Why the write-ahead log of a database that nobody closed may not be taken for what it says, `null` where nothing speaks
 * against it. SQLite reads it up to the first frame whose checksum is wrong, and forgets what is behind that: the end of
 * what was being written when its host was lost. Where two commits or more stand behind, they had been acknowledged, and
 * it was damaged afterwards. To be asked before anything opens the database for writing. The format is SQLite's own
 * ("WAL File Format"); memory: one page at a time.
 */
export function walFault(databaseFile: string): Fault | null {
  const file = `${databaseFile}-wal`;
  if (!existsSync(file)) return null;
  const fd = openSync(file, 'r');
  try {
    const pageBytes = pageBytesOf(databaseFile);
    // Looked at twice: a live host may be writing the frame that was read.
    const found = lostCommits(fd, pageBytes) && lostCommits(fd, pageBytes);
    if (found === null) return null;
    const words = `the journal's write-ahead log is damaged: ${file}, frame ${found.frame}: its checksum is wrong, and the ${found.commits} commits behind it had been acknowledged. Nothing was opened, or they would be gone for good: keep a copy of the state directory, then move ${file} away to go on without them, or choose another --state`;
    return new Fault('journal.corrupt', words, { detail: { file, frame: found.frame } });
  } finally {
    closeSync(fd);
  }
}

/** As the database's own header has it. */
function pageBytesOf(databaseFile: string): number {
  const fd = openSync(databaseFile, 'r');
  try {
    const size = Buffer.alloc(2);
    readSync(fd, size, 0, 2, 16);
    return size.readUInt16BE(0) === 1 ? 65_536 : size.readUInt16BE(0) || 4096;
  } finally {
    closeSync(fd);
  }
}

interface Log {
  readonly header: Buffer;
  readonly pageBytes: number;
  /** `null` where the header itself is damaged. */
  readonly sums: Sums | null;
}

/** `null` where there is no log to speak of. */
function readHeader(fd: number, pageBytes: number): Log | null {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  const magic = header.readUInt32BE(0);
  const sums: Sums = { bigEndian: (magic & 1) === 1, first: 0, second: 0 };
  add(sums, header, 0, 24);
  const isSound = (magic & ~1) >>> 0 === MAGIC && agree(sums, header, 24);
  if (isSound) return { header, pageBytes: header.readUInt32BE(8), sums };
  // It is on the disk before any frame: all of them are lost with it. What they have in common is taken from the first.
  const read = readSync(fd, header, 16, 8, HEADER_BYTES + 8);
  return read < 8 ? null : { header, pageBytes, sums: null };
}

function* framesOf(fd: number, { pageBytes }: Log): Generator<Buffer> {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  for (let at = HEADER_BYTES; readSync(fd, frame, 0, frame.length, at) === frame.length; ) {
    yield frame;
    at += frame.length;
  }
}

/** The first bad frame, counted from 1, with the commits behind it; `null` where it may be the end of the log. */
function lostCommits(
  fd: number,
  pageBytes: number,
): { readonly frame: number; readonly commits: number } | null {
  const log = readHeader(fd, pageBytes);
  if (log === null) return null;
  let bad = log.sums === null ? 1 : 0;
  let commits = 0;
  let number = 0;
  for (const frame of framesOf(fd, log)) {
    number += 1;
    // With other salts: of an earlier round of the log, or it is the damage itself that shows there.
    const isOfThisRound = frame.compare(log.header, 16, 24, 8, 16) === 0;
    if (bad > 0) commits += Number(isOfThisRound && frame.readUInt32BE(4) !== 0);
    else if (log.sums === null || !isOfThisRound || !follows(log.sums, frame)) bad = number;
  }
  return bad > 0 && commits >= 2 ? { frame: bad, commits } : null;
}

function follows(sums: Sums, frame: Buffer): boolean {
  add(sums, frame, 0, 8);
  add(sums, frame, FRAME_HEADER_BYTES, frame.length);
  return agree(sums, frame, 16);
}

function add(sums: Sums, bytes: Buffer, from: number, to: number): void {
  let { first, second } = sums;
  for (let at = from; at < to; at += 8) {
    const one = sums.bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    const other = sums.bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4);
    first = (first + one + second) >>> 0;
    second = (second + other + first) >>> 0;
  }
  sums.first = first;
  sums.second = second;
}

function agree(sums: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === sums.first && bytes.readUInt32BE(at + 4) === sums.second;
}
