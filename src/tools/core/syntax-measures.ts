import { exportedNames, isImport } from './module-edges.ts';
import { ANONYMOUS, functionName, nameGivenTo, ownName } from './syntax-names.ts';
import { childNodes, nodeIn, nodesIn, type SyntaxNode, textIn } from './syntax-node.ts';

export interface FunctionMeasures {
  readonly name: string;
  readonly startLine: number;
  readonly lines: number;
  /** A TypeScript `this` parameter is none. */
  readonly parameters: number;
  /**
   * Cyclomatic complexity (McCabe 1976): 1 plus each `if`, `for`, `while`, `do`, `catch`, `case` with a test, `?:`,
   * `&&`, `||` and `??` (also as `&&=`, `||=`, `??=`) of the function itself. Functions inside it count for
   * themselves; `else`, `default`, `finally` and optional chaining do not count.
   */
  readonly complexity: number;
  /**
   * How many `if`, loop, `switch` and `try` statements its deepest statement is in; 0 without any. `else if` is no
   * deeper than its `if`.
   */
  readonly maxNesting: number;
}

export interface SyntaxMeasures {
  /** Everything callable with a body: functions, arrow functions, methods, accessors and constructors. */
  readonly functions: readonly FunctionMeasures[];
  readonly classes: number;
  /** Distinct exported names; each `export *` is one more. */
  readonly exports: number;
  /** Import statements, `import()` and `require('…')`. */
  readonly imports: number;
}

/** Complexity and nesting of the function that is being measured. */
interface Frame {
  complexity: number;
  maxNesting: number;
}

interface Visit {
  readonly node: SyntaxNode;
  readonly frame: Frame;
  readonly nesting: number;
  readonly givenName: string | undefined;
  /** The class that the node is a member of. */
  readonly owner: string | undefined;
}

const functions: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'ClassMethod',
  'ClassPrivateMethod',
  'FunctionDeclaration',
  'FunctionExpression',
  'ObjectMethod',
]);

const classes: ReadonlySet<string> = new Set(['ClassDeclaration', 'ClassExpression']);

const loopsAndIfs = [
  'DoWhileStatement',
  'ForInStatement',
  'ForOfStatement',
  'ForStatement',
  'IfStatement',
  'WhileStatement',
] as const;

const nestings: ReadonlySet<string> = new Set([...loopsAndIfs, 'SwitchStatement', 'TryStatement']);

const decisions: ReadonlySet<string> = new Set([
  ...loopsAndIfs,
  'CatchClause',
  'ConditionalExpression',
  'LogicalExpression',
]);

const logicalAssignments: ReadonlySet<string> = new Set(['&&=', '||=', '??=']);

/** Measures a whole file. Walks with a stack of its own, so that no depth of nesting overflows the thread's. */
export function measureSyntax(program: SyntaxNode): SyntaxMeasures {
  const measured: { readonly node: SyntaxNode; readonly name: string; readonly frame: Frame }[] =
    [];
  const exported: string[] = [];
  let classCount = 0;
  let importCount = 0;
  const top: Frame = { complexity: 1, maxNesting: 0 };
  const stack: Visit[] = [
    { node: program, frame: top, nesting: 0, givenName: undefined, owner: undefined },
  ];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { node } = visit;
    exported.push(...exportedNames(node));
    if (isImport(node)) importCount += 1;
    if (classes.has(node.type)) classCount += 1;
    const inner = enter(visit);
    if (functions.has(node.type)) {
      const name = functionName(node, visit.givenName, visit.owner);
      measured.push({ node, name, frame: inner.frame });
    }
    for (const child of childNodes(node)) stack.push(visitOf(child, visit, inner));
  }
  return {
    functions: measured.map(({ node, name, frame }) => functionMeasures(node, name, frame)),
    classes: classCount,
    exports: countDistinct(exported),
    imports: importCount,
  };
}

/** What the children of a node find: the frame they count for, how deep they are, the class they are members of. */
interface Inside {
  readonly frame: Frame;
  readonly nesting: number;
  readonly owner: string | undefined;
}

function enter(visit: Visit): Inside {
  const { node, frame, nesting, owner } = visit;
  if (functions.has(node.type)) {
    return { frame: { complexity: 1, maxNesting: 0 }, nesting: 0, owner: undefined };
  }
  if (isDecision(node)) frame.complexity += 1;
  if (classes.has(node.type)) {
    return { frame, nesting, owner: ownName(node) ?? visit.givenName ?? ANONYMOUS };
  }
  if (!nestings.has(node.type)) return { frame, nesting, owner };
  frame.maxNesting = Math.max(frame.maxNesting, nesting + 1);
  return { frame, nesting: nesting + 1, owner };
}

function visitOf(child: SyntaxNode, parent: Visit, inside: Inside): Visit {
  const elseIf =
    child.type === 'IfStatement' &&
    parent.node.type === 'IfStatement' &&
    child === nodeIn(parent.node, 'alternate');
  return {
    node: child,
    frame: inside.frame,
    nesting: elseIf ? parent.nesting : inside.nesting,
    givenName: nameGivenTo(child, parent.node, parent.givenName, inside.owner),
    owner: inside.owner,
  };
}

function isDecision(node: SyntaxNode): boolean {
  if (node.type === 'SwitchCase') return nodeIn(node, 'test') !== undefined;
  if (node.type === 'AssignmentExpression') {
    return logicalAssignments.has(textIn(node, 'operator') ?? '');
  }
  return decisions.has(node.type);
}

function functionMeasures(node: SyntaxNode, name: string, frame: Frame): FunctionMeasures {
  const startLine = node.loc.start.line;
  return {
    name,
    startLine,
    lines: node.loc.end.line - startLine + 1,
    parameters: nodesIn(node, 'params').filter((param) => textIn(param, 'name') !== 'this').length,
    complexity: frame.complexity,
    maxNesting: frame.maxNesting,
  };
}

function countDistinct(names: readonly string[]): number {
  const stars = names.filter((name) => name === '*').length;
  return new Set(names).size + Math.max(0, stars - 1);
}
