import { Fault } from './base/fault.ts';
import { nearest } from './runtime/core/nearest.ts';
import type { TroupeOptions } from './troupe-options.ts';

/** Threads of one kind that a host may have: more than any machine this is meant for has cores. */
export const THREADS_MAX = 64;

interface Expectation {
  readonly words: string;
  readonly fits: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isThreads = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= THREADS_MAX;

function isTool(value: unknown): boolean {
  if (!isTable(value)) return false;
  const { name, description, parameters, effect, run } = value as Record<string, unknown>;
  return (
    isText(name) && isText(description) && isTable(parameters) && isText(effect) && isFunction(run)
  );
}

const threads: Expectation = { words: `a whole number from 1 to ${THREADS_MAX}`, fits: isThreads };
const callback: Expectation = { words: 'a function', fits: isFunction };
const table: Expectation = { words: 'an object', fits: isTable };

const OPTIONS: ReadonlyMap<string, Expectation> = new Map([
  ['config', { words: 'a path or an object', fits: (value) => isText(value) || isTable(value) }],
  ['agents', table],
  ['stateDir', { words: 'a path', fits: isText }],
  ['threads', threads],
  ['computeThreads', threads],
  ['cron', { words: 'true or false', fits: (value) => typeof value === 'boolean' }],
  ['resume', { words: 'true or false', fits: (value) => typeof value === 'boolean' }],
  [
    'tools',
    {
      words: 'a list of module URLs',
      fits: (value) =>
        Array.isArray(value) && value.every((each) => isText(each) || each instanceof URL),
    },
  ],
  [
    'hostTools',
    {
      words: 'a list of tools made by defineTool',
      fits: (value) => Array.isArray(value) && value.every(isTool),
    },
  ],
  ['onApproval', callback],
  [
    'approvals',
    { words: "'wait' or 'deny'", fits: (value) => value === 'wait' || value === 'deny' },
  ],
  ['onLog', callback],
  ['clock', table],
  ['random', table],
]);

/** @throws Fault `argument.invalid` naming the option, what was found and what is expected. */
export function checkOpenOptions(options: TroupeOptions): void {
  if (!isTable(options)) {
    throw new Fault('argument.invalid', `open: expected an object, found ${describe(options)}`);
  }
  for (const [key, value] of Object.entries(options)) {
    const expected = OPTIONS.get(key);
    if (expected === undefined) {
      const near = nearest(key, [...OPTIONS.keys()]);
      const hint = near === null ? '' : ` (did you mean '${near}'?)`;
      throw new Fault('argument.invalid', `open: unknown option '${key}'${hint}`);
    }
    if (value !== undefined && !expected.fits(value)) {
      throw new Fault(
        'argument.invalid',
        `open: '${key}' must be ${expected.words}, found ${describe(value)}`,
      );
    }
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'an object' : `${typeof value} ${String(value)}`;
}
