/** Rows a chunk holds: a change copies one chunk and the list of chunks, at 4096 rows 128 places instead of 4096. */
const CHUNK_ROWS = 64;

/** A list that is never changed: `with` and `adding` make a new one, which shares all but a small part with the old. */
export class Rows<Row> implements Iterable<Row> {
  static readonly #none: Rows<never> = new Rows([], 0);
  readonly length: number;
  readonly chunks: readonly (readonly Row[])[];

  private constructor(chunks: readonly (readonly Row[])[], length: number) {
    this.chunks = chunks;
    this.length = length;
  }

  static none<Row>(): Rows<Row> {
    return Rows.#none;
  }

  static of<Row>(rows: readonly Row[]): Rows<Row> {
    if (rows.length === 0) return Rows.#none;
    const chunks: Row[][] = [];
    for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
      chunks.push(rows.slice(from, from + CHUNK_ROWS));
    }
    return new Rows(chunks, rows.length);
  }

  at(index: number): Row | undefined {
    return this.chunks[Math.floor(index / CHUNK_ROWS)]?.[index % CHUNK_ROWS];
  }

  /** The same list where there is no such place. */
  with(index: number, row: Row): Rows<Row> {
    const place = Math.floor(index / CHUNK_ROWS);
    const chunk = this.chunks[place]?.slice();
    if (chunk === undefined || index < 0 || index >= this.length) return this;
    chunk[index % CHUNK_ROWS] = row;
    const chunks = this.chunks.slice();
    chunks[place] = chunk;
    return new Rows(chunks, this.length);
  }

  adding(row: Row): Rows<Row> {
    const chunks = this.chunks.slice();
    const last = chunks.at(-1);
    if (last === undefined || last.length === CHUNK_ROWS) chunks.push([row]);
    else chunks[chunks.length - 1] = [...last, row];
    return new Rows(chunks, this.length + 1);
  }

  *[Symbol.iterator](): Generator<Row, void, undefined> {
    for (const chunk of this.chunks) yield* chunk;
  }

  find(holds: (row: Row) => boolean): Row | undefined {
    for (const chunk of this.chunks) for (const row of chunk) if (holds(row)) return row;
    return undefined;
  }

  /** The first row for which `holds`, at `from` or after it. */
  findFrom(from: number, holds: (row: Row) => boolean): Row | undefined {
    for (let index = from; index < this.length; index += 1) {
      const row = this.at(index);
      if (row !== undefined && holds(row)) return row;
    }
    return undefined;
  }

  filter(holds: (row: Row) => boolean): Row[] {
    return this.chunks.flatMap((chunk) => chunk.filter(holds));
  }

  map<Other>(make: (row: Row, index: number) => Other): Other[] {
    return this.chunks.flatMap((chunk, place) =>
      chunk.map((row, at) => make(row, place * CHUNK_ROWS + at)),
    );
  }
}
