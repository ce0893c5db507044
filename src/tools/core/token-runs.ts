import { importStatements } from './module-edges.ts';
import type { SyntaxNode } from './syntax-node.ts';
import type { TokenClasses } from './token-classes.ts';

export interface CodeToken {
  /** The parser's name for the kind of token. */
  readonly label: string;
  readonly value: unknown;
  readonly start: number;
  readonly startLine: number;
  readonly endLine: number;
}

/** Tokens of one file between two import statements. */
export interface TokenStretch {
  readonly classes: Int32Array;
  readonly startLines: Int32Array;
  readonly endLines: Int32Array;
}

/** A file's tokens without its imports: what stands on both sides of an import is never one stretch. */
export function stretchesOf(
  program: SyntaxNode,
  tokens: readonly CodeToken[],
  classes: TokenClasses,
): readonly TokenStretch[] {
  const imports = importStatements(program);
  const stretches: TokenStretch[] = [];
  let next = 0;
  let part: Part = { classes: [], startLines: [], endLines: [] };
  for (const token of tokens) {
    while ((imports[next]?.end ?? Number.POSITIVE_INFINITY) <= token.start) next += 1;
    const inImport = token.start >= (imports[next]?.start ?? Number.POSITIVE_INFINITY);
    if (inImport) {
      if (part.classes.length > 0) stretches.push(toStretch(part));
      part = { classes: [], startLines: [], endLines: [] };
    } else addToken(part, token, classes);
  }
  if (part.classes.length > 0) stretches.push(toStretch(part));
  return stretches;
}

interface Part {
  readonly classes: number[];
  readonly startLines: number[];
  readonly endLines: number[];
}

function addToken(part: Part, token: CodeToken, classes: TokenClasses): void {
  const klass = classes.classOf(token.label, token.value);
  if (klass === undefined) return;
  part.classes.push(klass);
  part.startLines.push(token.startLine);
  part.endLines.push(token.endLine);
}

function toStretch(part: Part): TokenStretch {
  return {
    classes: Int32Array.from(part.classes),
    startLines: Int32Array.from(part.startLines),
    endLines: Int32Array.from(part.endLines),
  };
}
