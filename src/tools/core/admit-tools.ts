export interface ToolGate {
  /** Exact names; empty = all (SPEC section 2). */
  readonly allowedTools: readonly string[];
  /** Exact names; beats `allowedTools`. */
  readonly excludedTools: readonly string[];
  /** A bounded caller's own set of tools (SPEC G8); `null` or absent = no ceiling, an empty one lets nothing through. */
  readonly ceiling?: readonly string[] | null;
}

/** The tools a run gets, in their given order. What is left out is neither advertised nor callable (SPEC G2). */
export function admitTools<Definition extends { readonly name: string }>(
  definitions: readonly Definition[],
  gate: ToolGate,
): Definition[] {
  const allowed = gate.allowedTools.length === 0 ? null : new Set(gate.allowedTools);
  const excluded = new Set(gate.excludedTools);
  const ceiling = gate.ceiling == null ? null : new Set(gate.ceiling);
  return definitions.filter(
    ({ name }) =>
      !excluded.has(name) &&
      (allowed === null || allowed.has(name)) &&
      (ceiling === null || ceiling.has(name)),
  );
}
