import type { Liquid, Template as LiquidNode } from 'liquidjs';
import type { Json } from '../base/json.ts';
import { FILTERS, REMOVED_FILTERS, REMOVED_TAGS } from './template-filters.ts';

/** Longest time one template may take; a loop over too much ends with a fault. */
const RENDER_LIMIT_MS = 5000;
const MEMORY_LIMIT = 20_000_000;

/** Something of a scenario that becomes a value. `render` throws with the reason in words. */
export interface Template {
  /** The value is the file's own: `scope` is never called. */
  readonly constant: boolean;
  render(scope: () => object): Json;
}

export interface TemplateEngine {
  /** Always a text. */
  text(source: string): Template;
  /** A source that is exactly one `{{ … }}` keeps the type of its value. */
  value(source: string): Template;
  /** Any JSON; each string in it as `value`. */
  tree(value: Json): Template;
}

/** Loads LiquidJS on first use. Templates reach no file, no code, no clock and no chance. */
export async function openTemplateEngine(): Promise<TemplateEngine> {
  const { Liquid, Output, Context, toValueSync, toValue } = await import('liquidjs');
  const texts = restricted(new Liquid({ ...OPTIONS, outputEscape: printable }));
  const values = restricted(new Liquid(OPTIONS));

  const text = (source: string): Template => {
    if (isPlain(source)) return constant(source);
    const nodes = texts.parse(source);
    return { constant: false, render: (scope) => String(texts.renderSync(nodes, scope())) };
  };
  const value = (source: string): Template => {
    if (isPlain(source)) return constant(source);
    const [node, ...more]: LiquidNode[] = values.parse(source);
    if (more.length > 0 || !(node instanceof Output)) return text(source);
    return {
      constant: false,
      render: (scope) => {
        const context = new Context(scope(), values.options, { sync: true }, { liquid: values });
        return plain(toValue(toValueSync(node.value.value(context, false))));
      },
    };
  };
  return { text, value, tree: (json) => compileTree(json, value) };
}

const OPTIONS = {
  strictVariables: true,
  strictFilters: true,
  ownPropertyOnly: true,
  lenientIf: true,
  renderLimit: RENDER_LIMIT_MS,
  memoryLimit: MEMORY_LIMIT,
  templates: {},
};

function restricted(liquid: Liquid): Liquid {
  for (const tag of REMOVED_TAGS) delete liquid.tags[tag];
  for (const filter of REMOVED_FILTERS) delete liquid.filters[filter];
  for (const [name, filter] of Object.entries(FILTERS)) liquid.registerFilter(name, filter);
  return liquid;
}

function isPlain(source: string): boolean {
  return !source.includes('{{') && !source.includes('{%');
}

function constant(value: Json): Template {
  return { constant: true, render: () => value };
}

function compileTree(value: Json, compile: (source: string) => Template): Template {
  if (typeof value === 'string') return compile(value);
  if (value === null || typeof value !== 'object') return constant(value);
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => compileTree(item, compile));
    if (items.every((item) => item.constant)) return constant(value);
    return { constant: false, render: (scope) => items.map((item) => item.render(scope)) };
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [key, compileTree(item as Json, compile)] as const,
  );
  if (entries.every(([, item]) => item.constant)) return constant(value);
  return {
    constant: false,
    render: (scope) => Object.fromEntries(entries.map(([key, item]) => [key, item.render(scope)])),
  };
}

/** What an output prints: never `[object Object]`, never a missing value, never a number that is none. */
function printable(value: unknown): string {
  if (value === null || value === undefined) throw new TypeError('the value is null');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('not a number');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function plain(value: unknown): Json {
  if (value === undefined) throw new TypeError('the value is missing');
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return JSON.parse(
    JSON.stringify(value, (_, inner) => {
      if (typeof inner === 'number' && !Number.isFinite(inner)) throw new TypeError('not a number');
      return inner;
    }),
  );
}
