/** Chance as an argument. */
export interface Random {
  /** A fresh name of `length` characters (default 12), unique for practical purposes. */
  id(length?: number): string;
  /** A UUID v4. */
  uuid(): string;
  /** Uniform in [0, 1). */
  unit(): number;
}
