/** A node of a syntax tree as the parser makes it (Babel's AST), as far as measuring needs it. */
export interface SyntaxNode {
  readonly type: string;
  /** Offsets into the text, in UTF-16 code units; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Lines count from 1. */
  readonly loc: {
    readonly start: { readonly line: number };
    readonly end: { readonly line: number };
  };
}

export function fieldOf(node: SyntaxNode, field: string): unknown {
  return (node as unknown as Readonly<Record<string, unknown>>)[field];
}

export function nodeIn(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = fieldOf(node, field);
  return isNode(value) ? value : undefined;
}

/** The nodes of a list field; holes of array patterns and anything else are left out. */
export function nodesIn(node: SyntaxNode, field: string): readonly SyntaxNode[] {
  const value = fieldOf(node, field);
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function textIn(node: SyntaxNode, field: string): string | undefined {
  const value = fieldOf(node, field);
  return typeof value === 'string' ? value : undefined;
}

export function childNodes(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (const value of Object.values(node)) {
    if (isNode(value)) children.push(value);
    if (!Array.isArray(value)) continue;
    for (const item of value) if (isNode(item)) children.push(item);
  }
  return children;
}

function isNode(value: unknown): value is SyntaxNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'loc' in value
  );
}
