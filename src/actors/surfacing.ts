/** Runs a callback of somebody else's: what it throws surfaces as an uncaught exception of its own and stops nothing here. */
export function surfacing(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    surface(thrown);
  }
}

export function surface(thrown: unknown): void {
  process.nextTick(() => {
    throw thrown;
  });
}
