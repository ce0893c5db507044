/** Text of models, files and people, made fit for a terminal: what could steer it is shown, never sent. */

/** Everything but printable ASCII is looked at. */
const UNUSUAL = /[^ -~]/gu;
const UNUSUAL_BUT_BREAKS = /[^ -~\n\t]/gu;
const BREAKS = /[\s\u0085]+/gu;

/** Several lines: line ends and tabs stay. */
export function safeBlock(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNUSUAL_BUT_BREAKS, shown);
}

/** One line: whatever breaks a line becomes a blank. */
export function safeLine(text: string): string {
  return text.replace(BREAKS, ' ').trim().replace(UNUSUAL, shown);
}

/** A value as JSON on one line that is safe for a terminal. */
export function jsonLine(value: unknown): string {
  return safeJson(JSON.stringify(value) ?? 'null');
}

/** What JSON leaves raw and a terminal would obey is escaped too; it reads back as the same value. */
export function safeJson(line: string): string {
  return line.replace(UNUSUAL, (character) =>
    steers(codeOf(character)) ? escaped(character) : character,
  );
}

function shown(character: string): string {
  const code = codeOf(character);
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (!steers(code)) return character;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : escaped(character);
}

function escaped(character: string): string {
  return `\\u${codeOf(character).toString(16).padStart(4, '0')}`;
}

/** C0, DEL and C1; marks that turn the direction of writing; line and paragraph separators; the byte order mark. */
function steers(code: number): boolean {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  if (code < 0x61c) return false;
  return (
    code === 0x61c ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0xfeff
  );
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
