/** The task that P is the cost of. */
export function empty(): void {}
