import { nearestName } from './nearest-name.ts';

/** A fault of a value against its schema, as the validator reports it. */
export interface ArgumentFault {
  readonly keyword: string;
  /** JSON pointer into the arguments. */
  readonly instancePath: string;
  readonly params: { readonly [name: string]: unknown };
  readonly message?: string;
  /** The value at `instancePath`. */
  readonly data?: unknown;
  /** The schema that holds the keyword. */
  readonly parentSchema?: unknown;
}

/** More faults than this are counted, not told. */
const FAULTS_MAX = 20;

/** Every fault on a line of its own: where, what is allowed, what was found. */
export function wordsOfFaults(faults: readonly ArgumentFault[]): string {
  const told = faults.slice(0, FAULTS_MAX).map((fault) => `- ${wordsOf(fault)}`);
  const more = faults.length - told.length;
  if (more > 0) told.push(`- and ${more} more`);
  return `${faults.length} fault${faults.length === 1 ? '' : 's'}:\n${told.join('\n')}`;
}

function wordsOf(fault: ArgumentFault): string {
  const { keyword, params } = fault;
  const at = pathOf(fault.instancePath);
  if (keyword === 'required')
    return `${joined(at, params['missingProperty'])}: required, but missing`;
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    return unknownProperty(fault, at);
  }
  return `${at === '' ? '(the arguments)' : at}: ${allowed(fault)}, found ${shown(fault.data)}`;
}

function unknownProperty(fault: ArgumentFault, at: string): string {
  const name = String(fault.params['additionalProperty'] ?? fault.params['unevaluatedProperty']);
  const schema = fault.parentSchema as { readonly properties?: object } | undefined;
  const known = Object.keys(schema?.properties ?? {});
  const near = nearestName(name, known);
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  const list = known.length === 0 ? 'none is allowed' : `allowed: ${known.slice(0, 30).join(', ')}`;
  return `${joined(at, name)}: unknown property (${list}).${hint}`;
}

function allowed({ keyword, params, message }: ArgumentFault): string {
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'enum') return `must be one of ${shown(params['allowedValues'])}`;
  if (keyword === 'const') return `must be ${shown(params['allowedValue'])}`;
  if (keyword === 'pattern') return `must match the pattern ${String(params['pattern'])}`;
  if (keyword === 'anyOf' || keyword === 'oneOf') {
    return `must fit ${keyword === 'oneOf' ? 'exactly one' : 'one'} of the allowed forms`;
  }
  return message ?? `must satisfy "${keyword}"`;
}

/** `/tasks/0/agent_id` as `tasks[0].agent_id`. */
function pathOf(pointer: string): string {
  let path = '';
  for (const raw of pointer.split('/').slice(1)) {
    const part = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    path = /^\d+$/.test(part) ? `${path}[${part}]` : joined(path, part);
  }
  return path;
}

function joined(path: string, name: unknown): string {
  return path === '' ? String(name) : `${path}.${String(name)}`;
}

/** A value as JSON, cut at 120 characters. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 120)}… (${text.length} characters)` : text;
}
