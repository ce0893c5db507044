/** `{{task-id.answer}}`. The id is the longest that fits, so `{{a.answer.answer}}` is the answer of task `a.answer`. */
const PLACEHOLDER = /\{\{\s*([a-zA-Z0-9][a-zA-Z0-9._-]{0,63})\.answer\s*\}\}/g;

/** Ids of the tasks whose answers a prompt places itself, each once, in the order of their first place (SPEC P3). */
export function placedIds(prompt: string): readonly string[] {
  const ids = new Set<string>();
  for (const match of prompt.matchAll(PLACEHOLDER)) if (match[1] !== undefined) ids.add(match[1]);
  return [...ids];
}

/**
 * SPEC P3: the prompt with answers in their places, in a single pass: what an answer says is never expanded again. A
 * placeholder for which `answerOf` has nothing stays as it was written.
 */
export function placeAnswers(prompt: string, answerOf: (id: string) => string | null): string {
  return prompt.replace(PLACEHOLDER, (whole, id: string) => answerOf(id) ?? whole);
}
