import type { LanguageModelV3 } from '@ai-sdk/provider';
import { Fault, type FaultCode } from '../base/fault.ts';
import { type ProviderEntry, VENDOR_KEY_ENV } from '../runtime/core/model.ts';

/** The entry types that are asked over HTTP, with the variable that holds the key where the entry names none. */
const DEFAULT_KEY_ENV = {
  ...VENDOR_KEY_ENV,
  'openai-compatible': null,
} as const satisfies Partial<Record<ProviderEntry['type'], string | null>>;

export type HttpType = keyof typeof DEFAULT_KEY_ENV;

/** What a client for one entry is made of. `key` is `null` only where the server wants none. */
export interface ClientParts {
  readonly type: HttpType;
  readonly baseUrl: string | null;
  readonly key: string | null;
}

export function isHttpType(type: ProviderEntry['type']): type is HttpType {
  return Object.hasOwn(DEFAULT_KEY_ENV, type);
}

/** Reads the entry's address and key. Throws `model.unsupported` with the name of what is missing, never its value. */
export function clientParts(
  entry: ProviderEntry,
  env: Readonly<Record<string, string | undefined>>,
): ClientParts {
  if (!isHttpType(entry.type)) throw unsupported(entry, `type "${entry.type}" has no client`);
  return { type: entry.type, baseUrl: baseUrlOf(entry), key: keyOf(entry, entry.type, env) };
}

function baseUrlOf(entry: ProviderEntry): string | null {
  if (entry.baseUrl === null) {
    if (entry.type !== 'openai-compatible') return null;
    throw unsupported(entry, `base_url is missing; set ${tableOf(entry)} base_url`);
  }
  const url = URL.canParse(entry.baseUrl) ? new URL(entry.baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw unsupported(
      entry,
      `base_url is not an http(s) address; correct ${tableOf(entry)} base_url`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw unsupported(
      entry,
      `base_url holds credentials; take them out of ${tableOf(entry)} base_url and use api_key_env`,
    );
  }
  return entry.baseUrl;
}

function keyOf(
  entry: ProviderEntry,
  type: HttpType,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const name = entry.apiKeyEnv ?? DEFAULT_KEY_ENV[type];
  if (name === null) return null;
  const key = env[name]?.trim() ?? '';
  if (key !== '') return key;
  throw unsupported(
    entry,
    `the environment variable ${name} is not set; set it to the provider's key, or name another in ${tableOf(entry)} api_key_env`,
  );
}

export function tableOf(entry: ProviderEntry): string {
  return `[providers.models.${entry.ref}]`;
}

function unsupported(entry: ProviderEntry, why: string): Fault {
  const code: FaultCode = 'model.unsupported';
  return new Fault(code, `provider ${entry.ref}: ${why}`, { detail: { provider: entry.ref } });
}

/** Loads a type's package, which takes a tenth of a second. */
const LOAD = {
  openai: () => import('@ai-sdk/openai'),
  anthropic: () => import('@ai-sdk/anthropic'),
  google: () => import('@ai-sdk/google'),
  'openai-compatible': () => import('@ai-sdk/openai-compatible'),
} as const satisfies Record<HttpType, () => Promise<unknown>>;

/** Loads what `openModel` needs for this type. */
export function loadSdk(type: HttpType): Promise<unknown> {
  return LOAD[type]();
}

/** The provider library's model, its package loaded on first use. `fetch` belongs to one attempt. */
export async function openModel(
  parts: ClientParts,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV3> {
  const common = {
    fetch,
    ...(parts.baseUrl === null ? {} : { baseURL: parts.baseUrl }),
    ...(parts.key === null ? {} : { apiKey: parts.key }),
  };
  switch (parts.type) {
    case 'openai':
      return (await LOAD.openai()).createOpenAI(common)(model);
    case 'anthropic':
      return (await LOAD.anthropic()).createAnthropic(common)(model);
    case 'google':
      return (await LOAD.google()).createGoogleGenerativeAI(common)(model);
    case 'openai-compatible': {
      const { createOpenAICompatible } = await LOAD['openai-compatible']();
      return createOpenAICompatible({
        ...common,
        baseURL: parts.baseUrl ?? '',
        name: 'compatible',
        includeUsage: true,
      })(model);
    }
  }
}
