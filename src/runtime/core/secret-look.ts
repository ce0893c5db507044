const KEY_PREFIX =
  /^(?:sk|pk|rk)[-_][A-Za-z0-9]|^(?:gsk|hf|r8|ghp|gho|glpat|xai|github_pat|xox[abp])[-_]|^AIza|^AKIA|^ya29\.|^eyJ|^Bearer\b/;
/** Shorter runs of letters and digits are words, not keys. */
const RANDOM_CHARS_MIN = 32;

/**
 * Does a text look like a secret rather than like a name (SPEC C6)? By the prefixes that vendors give their keys, or by
 * being long and random. It may err; whoever asks refuses to show the text, nothing worse.
 */
export function looksLikeKey(text: string): boolean {
  const word = text.trim();
  if (KEY_PREFIX.test(word)) return true;
  if (word.length < RANDOM_CHARS_MIN || /[\s/]/.test(word)) return false;
  if (/^[0-9a-fA-F]+$/.test(word)) return true;
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /[0-9]/.test(word);
}

/** The same text with every word that looks like a key taken out, for messages made by others. */
export function withoutKeys(text: string): string {
  return text.replace(/[A-Za-z0-9_\-.]{8,}/g, (word) =>
    looksLikeKey(word) ? '(not shown)' : word,
  );
}

/** A key path whose value may be a secret by its name alone. */
export function namesSecret(key: string): boolean {
  return /key|token|secret|password|credential|authorization/i.test(key);
}
