/**
 * Every alternative of a text with `{a,b}` in it, in order; nested ones too. `null` where there are more than `max`. A
 * brace that is never closed, and braces without a comma, are taken as they are; `\\` protects the next character.
 */
export function expandBraces(text: string, max: number): readonly string[] | null {
  const done: string[] = [];
  const todo = [text];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const group = firstGroup(next);
    if (group === null) done.push(next);
    else todo.push(...alternativesOf(next, group).reverse());
    if (done.length + todo.length > max) return null;
  }
  return done;
}

interface Group {
  readonly open: number;
  /** Where each option ends: the commas and the closing brace. */
  readonly ends: number[];
}

function firstGroup(text: string): Group | null {
  const open: Group[] = [];
  let first: Group | null = null;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    const inner = open.at(-1);
    if (char === '\\') i += 1;
    else if (char === '{') open.push({ open: i, ends: [] });
    else if (char === ',') inner?.ends.push(i);
    else if (char === '}' && inner !== undefined) {
      open.pop();
      if (isFirst(inner, first)) first = { open: inner.open, ends: [...inner.ends, i] };
    }
  }
  return first;
}

function isFirst(group: Group, first: Group | null): boolean {
  return group.ends.length > 0 && (first === null || group.open < first.open);
}

function alternativesOf(text: string, { open, ends }: Group): string[] {
  const before = text.slice(0, open);
  const after = text.slice((ends.at(-1) ?? open) + 1);
  let start = open + 1;
  return ends.map((end) => {
    const option = text.slice(start, end);
    start = end + 1;
    return `${before}${option}${after}`;
  });
}
