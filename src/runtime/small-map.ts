/** More entries than this, and they move into a `Map`. */
const FEW = 8;

/** Never written to. */
const NONE: never[] = [];

/**
 * A map with text keys that mostly holds one or two entries, and now and then thousands: an empty `Map` takes as much
 * memory as everything else of a waiting run together.
 */
export class SmallMap<Value> {
  #keys: string[] | null = null;
  #values: Value[] = NONE;
  #many: Map<string, Value> | null = null;

  get(key: string): Value | undefined {
    if (this.#many !== null) return this.#many.get(key);
    const at = this.#keys?.indexOf(key) ?? -1;
    return at < 0 ? undefined : this.#values[at];
  }

  set(key: string, value: Value): void {
    if (this.#many !== null) {
      this.#many.set(key, value);
      return;
    }
    if (this.#keys === null) {
      // A pushed-to array keeps room for seventeen.
      this.#keys = [key];
      this.#values = [value];
      return;
    }
    const at = this.#keys.indexOf(key);
    if (at >= 0) this.#values[at] = value;
    else {
      this.#keys.push(key);
      this.#values.push(value);
      if (this.#keys.length > FEW) this.#spread();
    }
  }

  delete(key: string): void {
    if (this.#many !== null) {
      this.#many.delete(key);
      return;
    }
    const at = this.#keys?.indexOf(key) ?? -1;
    if (at < 0) return;
    if (this.#values.length === 1) this.clear();
    else {
      this.#keys?.splice(at, 1);
      this.#values.splice(at, 1);
    }
  }

  clear(): void {
    this.#keys = null;
    this.#values = NONE;
    this.#many = null;
  }

  some(holds: (value: Value) => boolean): boolean {
    for (const value of this.#many?.values() ?? this.#values) if (holds(value)) return true;
    return false;
  }

  keys(): string[] {
    return this.#many === null ? [...(this.#keys ?? [])] : [...this.#many.keys()];
  }

  values(): Value[] {
    return this.#many === null ? [...this.#values] : [...this.#many.values()];
  }

  #spread(): void {
    this.#many = new Map();
    for (const [at, key] of (this.#keys ?? []).entries()) {
      this.#many.set(key, this.#values[at] as Value);
    }
    this.#keys = null;
    this.#values = NONE;
  }
}
