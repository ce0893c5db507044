/** Time as an argument. Production reads the system's clock; tests and the simulation turn a virtual one by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `fn` once, `ms` from now at the earliest; the returned function takes it back and may be called twice. */
  after(ms: number, fn: () => void): () => void;
}
