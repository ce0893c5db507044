/** A rule that occurs in none of the texts, so that no answer can end its own frame or open another's. */
export function ruleFor(texts: readonly string[]): string {
  let rule = '===';
  while (texts.some((text) => text.includes(rule))) rule += '=';
  return rule;
}

/** A text that somebody else wrote, so that a reader sees where it begins and ends. */
export function framed(rule: string, title: string, text: string): string {
  return `${rule} ${title} ${rule}\n${text}\n${rule} End ${rule}`;
}
