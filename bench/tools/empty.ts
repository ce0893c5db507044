/** The task that P is the cost of. */
export default function empty(): void {}
