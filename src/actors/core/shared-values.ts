/** A value on its way to another thread: itself the first time, only its place after that. */
export interface Share<Value> {
  readonly slot: number;
  readonly value?: Value;
}

/** How many values a line keeps at its far end; the oldest gives way. */
const SLOTS = 64;

/** The near end of a line over which many messages carry the same objects, told apart by identity. */
export class SharedOut<Value extends object> {
  readonly #slots = new Map<Value, number>();
  readonly #values: (Value | undefined)[] = [];
  #next = 0;

  /** Must be sent, and in the order of the calls. */
  share(value: Value): Share<Value> {
    const known = this.#slots.get(value);
    if (known !== undefined) return { slot: known };
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    this.forget(slot);
    this.#values[slot] = value;
    this.#slots.set(value, slot);
    return { slot, value };
  }

  /** What was shared there did not arrive. */
  forget(slot: number): void {
    const value = this.#values[slot];
    if (value === undefined) return;
    this.#values[slot] = undefined;
    this.#slots.delete(value);
  }
}

/** Its far end. */
export class SharedIn<Value> {
  readonly #values: (Value | undefined)[] = [];

  /** `undefined` only where the value itself was lost on its way. */
  take({ slot, value }: Share<Value>): Value | undefined {
    if (value !== undefined) this.#values[slot] = value;
    return this.#values[slot];
  }
}
