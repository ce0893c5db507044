import { expressionName } from './syntax-names.ts';
import { childNodes, fieldOf, nodeIn, nodesIn, type SyntaxNode, textIn } from './syntax-node.ts';

/** An import statement, `import x = require('…')`, `import('…')` or `require('…')`. */
export function isImport(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'Import':
      return true;
    case 'TSImportEqualsDeclaration':
      return nodeIn(node, 'moduleReference')?.type === 'TSExternalModuleReference';
    default:
      return isRequire(node);
  }
}

/**
 * The names that a node exports, `*` for an `export *`. Counts `module.exports = …`, `exports.a = …` and
 * `module.exports.a = …` too.
 */
export function exportedNames(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'ExportAllDeclaration':
      return ['*'];
    case 'ExportDefaultDeclaration':
      return ['default'];
    case 'TSExportAssignment':
      return ['export ='];
    case 'TSNamespaceExportDeclaration':
      return [`namespace ${nameOf(nodeIn(node, 'id'))}`];
    case 'ExportNamedDeclaration':
      return namedExports(node);
    case 'AssignmentExpression':
      return textIn(node, 'operator') === '=' ? commonExport(nodeIn(node, 'left')) : [];
    default:
      return [];
  }
}

/**
 * The top-level statements that only bring in what other modules have: imports, re-exports with a source, and
 * declarations of nothing but `require('…')` calls.
 */
export function importStatements(program: SyntaxNode): readonly SyntaxNode[] {
  return nodesIn(program, 'body').filter((node) => {
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true;
    if (node.type === 'ExportNamedDeclaration') return nodeIn(node, 'source') !== undefined;
    return isImport(node) || requiresOnly(node);
  });
}

function requiresOnly(statement: SyntaxNode): boolean {
  if (statement.type === 'ExpressionStatement') {
    return isRequire(nodeIn(statement, 'expression'));
  }
  if (statement.type !== 'VariableDeclaration') return false;
  return nodesIn(statement, 'declarations').every((one) => {
    let init = nodeIn(one, 'init');
    while (init?.type === 'MemberExpression') init = nodeIn(init, 'object');
    return isRequire(init);
  });
}

function isRequire(node: SyntaxNode | undefined): boolean {
  if (node?.type !== 'CallExpression') return false;
  const args = nodesIn(node, 'arguments');
  return (
    expressionName(nodeIn(node, 'callee')) === 'require' &&
    args.length === 1 &&
    args[0]?.type === 'StringLiteral'
  );
}

function namedExports(node: SyntaxNode): readonly string[] {
  const declaration = nodeIn(node, 'declaration');
  if (declaration === undefined) {
    return nodesIn(node, 'specifiers').map((one) => nameOf(nodeIn(one, 'exported')));
  }
  if (declaration.type !== 'VariableDeclaration') return [nameOf(nodeIn(declaration, 'id'))];
  return nodesIn(declaration, 'declarations').flatMap((one) => boundNames(nodeIn(one, 'id')));
}

function boundNames(pattern: SyntaxNode | undefined): readonly string[] {
  switch (pattern?.type) {
    case undefined:
      return [];
    case 'Identifier':
      return [nameOf(pattern)];
    case 'AssignmentPattern':
      return boundNames(nodeIn(pattern, 'left'));
    case 'ObjectProperty':
      return boundNames(nodeIn(pattern, 'value'));
    case 'ArrayPattern':
    case 'ObjectPattern':
    case 'RestElement':
      return childNodes(pattern).flatMap(boundNames);
    default:
      return [];
  }
}

function commonExport(target: SyntaxNode | undefined): readonly string[] {
  const name = expressionName(target);
  if (name === 'module.exports') return [name];
  const match = /^(?:module\.)?exports\.([^.]+)$/.exec(name ?? '');
  return match?.[1] === undefined ? [] : [match[1]];
}

/** The name of an identifier, or the text of a string that stands for one. */
function nameOf(node: SyntaxNode | undefined): string {
  if (node === undefined) return '';
  const value = fieldOf(node, 'value');
  return textIn(node, 'name') ?? (typeof value === 'string' ? value : '');
}
