/** Ends every exhaustive switch: a missing case is a type error, and a defect if a cast smuggled one in. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
