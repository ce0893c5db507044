import { fieldOf, nodeIn, type SyntaxNode, textIn } from './syntax-node.ts';

export const ANONYMOUS = '(anonymous)';

/** Expressions that only wrap: the name of the whole is the name of the inside. */
const wrappers: ReadonlySet<string> = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSInstantiationExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);

const classFields: ReadonlySet<string> = new Set([
  'ClassAccessorProperty',
  'ClassPrivateProperty',
  'ClassProperty',
]);

const methods: ReadonlySet<string> = new Set(['ClassMethod', 'ClassPrivateMethod', 'ObjectMethod']);

/** What a function or class is called that stands at `child`: the name it is assigned to, or whose argument it is. */
export function nameGivenTo(
  child: SyntaxNode,
  parent: SyntaxNode,
  outerName: string | undefined,
  owner: string | undefined,
): string | undefined {
  if (wrappers.has(parent.type)) return outerName;
  if (classFields.has(parent.type)) {
    return child === nodeIn(parent, 'value') ? memberName(parent, owner) : undefined;
  }
  switch (parent.type) {
    case 'VariableDeclarator':
      return child === nodeIn(parent, 'init') ? expressionName(nodeIn(parent, 'id')) : undefined;
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return child === nodeIn(parent, 'right') ? expressionName(nodeIn(parent, 'left')) : undefined;
    case 'ObjectProperty':
      return child === nodeIn(parent, 'value') ? keyName(parent) : undefined;
    case 'ExportDefaultDeclaration':
      return 'default';
    case 'CallExpression':
    case 'NewExpression':
    case 'OptionalCallExpression':
      return child === nodeIn(parent, 'callee') ? undefined : callbackName(parent);
    default:
      return undefined;
  }
}

/** `owner.key` of a method of a class, `key` of an object's, else its own name, else the given one. */
export function functionName(
  node: SyntaxNode,
  given: string | undefined,
  owner: string | undefined,
): string {
  if (methods.has(node.type)) {
    return memberName(node, node.type === 'ObjectMethod' ? undefined : owner);
  }
  return ownName(node) ?? given ?? ANONYMOUS;
}

export function ownName(node: SyntaxNode): string | undefined {
  const id = nodeIn(node, 'id');
  return id === undefined ? undefined : textIn(id, 'name');
}

/** `a.b.c` for a plain chain of members; undefined for what has no such name. */
export function expressionName(node: SyntaxNode | undefined): string | undefined {
  const parts: string[] = [];
  let rest = node;
  while (rest?.type === 'MemberExpression' || rest?.type === 'OptionalMemberExpression') {
    parts.unshift(keyName(rest, 'property'));
    rest = nodeIn(rest, 'object');
  }
  const head = headName(rest);
  if (head === undefined && parts.length === 0) return undefined;
  return [head ?? '…', ...parts].join('.');
}

function headName(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'Identifier') return textIn(node, 'name');
  if (node?.type === 'ThisExpression') return 'this';
  return node?.type === 'Super' ? 'super' : undefined;
}

function callbackName(call: SyntaxNode): string {
  const callee = expressionName(nodeIn(call, 'callee'));
  return callee === undefined ? ANONYMOUS : `${callee}() callback`;
}

function memberName(member: SyntaxNode, owner: string | undefined): string {
  const key = keyName(member);
  return owner === undefined ? key : `${owner}.${key}`;
}

function keyName(member: SyntaxNode, field = 'key'): string {
  const key = nodeIn(member, field);
  if (key === undefined) return ANONYMOUS;
  if (key.type === 'PrivateName') return `#${ownName(key) ?? ''}`;
  if (fieldOf(member, 'computed') === true) {
    return `[${expressionName(key) ?? literalName(key) ?? '…'}]`;
  }
  return textIn(key, 'name') ?? literalName(key) ?? ANONYMOUS;
}

function literalName(key: SyntaxNode): string | undefined {
  const value = fieldOf(key, 'value');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
