const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Milliseconds in words as short as they stay clear: `0.4s`, `42s`, `3m07s`, `2h05m`, `3d04h`. */
export function formatElapsed(ms: number): string {
  const spent = Math.max(0, ms);
  if (spent < 9950) return `${(spent / SECOND).toFixed(1)}s`;
  if (spent < MINUTE) return `${Math.floor(spent / SECOND)}s`;
  if (spent < HOUR) return twoParts(spent, MINUTE, 'm', SECOND, 's');
  if (spent < DAY) return twoParts(spent, HOUR, 'h', MINUTE, 'm');
  return twoParts(spent, DAY, 'd', HOUR, 'h');
}

function twoParts(ms: number, big: number, bigName: string, small: number, smallName: string) {
  const rest = String(Math.floor((ms % big) / small)).padStart(2, '0');
  return `${Math.floor(ms / big)}${bigName}${rest}${smallName}`;
}

/** Cents. Unknown is `-`, never nothing (SPEC M4); what is less than a hundredth of a cent says so. */
export function formatCost(cents: number | null): string {
  if (cents === null) return '-';
  if (cents > 0 && cents < 0.01) return '<0.01¢';
  return `${Number(cents.toFixed(2))}¢`;
}

/** Tokens; unknown is `?`. */
export function formatTokens(tokens: number | null): string {
  return tokens === null ? '?' : String(tokens);
}

/** `12:00:01.123Z` of an RFC 3339 time. */
export function timeOfDay(ts: string): string {
  return ts.slice(11);
}

/** `2026-03-01 12:00:01Z` of an RFC 3339 time; `-` for none. */
export function dayAndTime(ts: string | null): string {
  return ts === null ? '-' : `${ts.slice(0, 10)} ${ts.slice(11, 19)}Z`;
}

/** `1 turn`, `3 turns`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
