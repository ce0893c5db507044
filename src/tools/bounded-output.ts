/** Bytes kept of each output of a command (1 MiB): the first half and the last. */
export const OUTPUT_BYTES_MAX = 1_048_576;

/** Keeps the head and the tail of a stream in bounded memory, and knows how much lay between. */
export class BoundedOutput {
  readonly #headMax: number;
  readonly #tailMax: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(bytesMax: number = OUTPUT_BYTES_MAX) {
    this.#headMax = Math.ceil(bytesMax / 2);
    this.#tailMax = Math.floor(bytesMax / 2);
  }

  get total(): number {
    return this.#total;
  }

  take(chunk: Buffer): void {
    this.#total += chunk.length;
    const forHead = chunk.subarray(0, this.#headMax - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const rest = chunk.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 2 * this.#tailMax) this.#squeeze();
  }

  /** As text; where bytes were left out, a line says how many. */
  text(): string {
    this.#squeeze();
    const missing = this.#total - this.#headBytes - this.#tailBytes;
    if (missing === 0) return Buffer.concat([...this.#head, ...this.#tail]).toString('utf8');
    const head = whole(Buffer.concat(this.#head)).toString('utf8');
    const tail = afterCut(Buffer.concat(this.#tail)).toString('utf8');
    return `${head}\n[${missing} bytes left out]\n${tail}`;
  }

  #squeeze(): void {
    if (this.#tailBytes <= this.#tailMax) return;
    const tail = Buffer.concat(this.#tail);
    this.#tail = [Buffer.from(tail.subarray(tail.length - this.#tailMax))];
    this.#tailBytes = this.#tailMax;
  }
}

/** Without the beginning of a character that the cut took the rest of. */
function whole(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Without the end of a character whose beginning the cut took. */
function afterCut(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}
