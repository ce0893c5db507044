const SCRIPTED = 'scripted (no language model)';

/**
 * A model as people read it. `provider` is a provider's type or its `<type>.<alias>`. What plays a scenario is never
 * named as if a language model had answered.
 */
export function modelWords(provider: string, model: string | null): string {
  if (provider === 'scripted' || provider.startsWith('scripted.')) return SCRIPTED;
  return model === null ? provider : `${provider}/${model}`;
}

/** The same for `<type>.<alias>/<model>` in one text. */
export function modelWordsOf(label: string): string {
  const slash = label.indexOf('/');
  return slash === -1
    ? modelWords(label, null)
    : modelWords(label.slice(0, slash), label.slice(slash + 1));
}
