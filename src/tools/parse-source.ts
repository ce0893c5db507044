import { type ParserOptions, type ParserPlugin, parse } from '@babel/parser';
import { messageOf } from '../base/fault.ts';
import type { CommentSpan } from './core/line-kinds.ts';
import type { SyntaxNode } from './core/syntax-node.ts';
import type { CodeToken } from './core/token-runs.ts';

interface ParseProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface ParsedSource {
  /** Undefined where the parser could not go on. */
  readonly program: SyntaxNode | undefined;
  readonly comments: readonly CommentSpan[];
  /** Empty unless asked for. */
  readonly tokens: readonly CodeToken[];
  readonly problems: readonly ParseProblem[];
}

/** The syntax of a TypeScript or JavaScript file, by the ending of its name. Never throws: what is wrong is a problem. */
export function parseSource(path: string, text: string, withTokens: boolean): ParsedSource {
  try {
    const file = parse(text, { ...optionsFor(path), tokens: withTokens });
    return {
      program: file.program as unknown as SyntaxNode,
      comments: (file.comments as unknown as readonly RawComment[]).map(toComment),
      tokens: withTokens ? toTokens(file.tokens as unknown as readonly RawToken[]) : [],
      problems: (file.errors ?? []).map(toProblem),
    };
  } catch (thrown) {
    return { program: undefined, comments: [], tokens: [], problems: [toProblem(thrown)] };
  }
}

interface RawComment {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly loc: SyntaxNode['loc'];
}

/** Comments are among the tokens, with a string for a type. */
interface RawToken extends Omit<RawComment, 'value'> {
  readonly type: string | { readonly label: string };
  readonly value?: unknown;
}

function optionsFor(path: string): ParserOptions {
  const typed = /\.[mc]?tsx?$/.test(path);
  const plugins: ParserPlugin[] = typed
    ? [['typescript', { dts: /\.d\.[mc]?ts$/.test(path) }], 'decorators-legacy']
    : ['decorators'];
  if (!typed || path.endsWith('x')) plugins.push('jsx');
  plugins.push('decoratorAutoAccessors', 'explicitResourceManagement');
  return {
    plugins,
    sourceType: sourceTypeOf(path),
    errorRecovery: true,
    attachComment: false,
    createImportExpressions: false,
    // The parser refuses the option beside `commonjs`, which implies it.
    ...(path.endsWith('.cjs') ? {} : { allowReturnOutsideFunction: true }),
    allowUndeclaredExports: true,
  };
}

function sourceTypeOf(path: string): 'module' | 'commonjs' | 'unambiguous' {
  if (path.endsWith('.cjs')) return 'commonjs';
  return /\.(?:js|jsx|cts)$/.test(path) ? 'unambiguous' : 'module';
}

function toComment(comment: RawComment): CommentSpan {
  return {
    text: comment.value,
    line: comment.loc.start.line,
    start: comment.start,
    end: comment.end,
  };
}

function toTokens(raw: readonly RawToken[]): readonly CodeToken[] {
  const tokens: CodeToken[] = [];
  for (const { type, value, start, loc } of raw) {
    if (typeof type === 'string') continue;
    tokens.push({
      label: type.label,
      value,
      start,
      startLine: loc.start.line,
      endLine: loc.end.line,
    });
  }
  return tokens;
}

/** The parser ends its messages with `(line:column)`; the line is a field here. */
function toProblem(thrown: unknown): ParseProblem {
  const line = (thrown as { readonly loc?: { readonly line?: number } } | null)?.loc?.line;
  return { line: line ?? 1, message: messageOf(thrown).replace(/ \(\d+:\d+\)$/, '') };
}
