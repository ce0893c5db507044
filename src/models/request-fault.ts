import { Fault, type FaultCode, type RetryAdvice } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import type { ProviderEntry } from '../runtime/core/model.ts';
import type { Stop } from './request-limits.ts';
import { tableOf } from './sdk-model.ts';
import { BODY_BYTES_MAX } from './watched-fetch.ts';

/** Where one attempt stood when it ended. */
export interface AttemptEnd {
  readonly entry: ProviderEntry;
  readonly model: string;
  /** What a limit or the caller did; looked at before anything else is. */
  readonly stop: Stop | null;
  /** The answer's headers had come. */
  readonly answered: boolean;
  /** The key in use, so that no word of the server that holds it is repeated. */
  readonly key: string | null;
  /** Now, in milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly nowMs: number;
}

/** A fault and how long the server asked to wait before the next attempt. */
export interface FailedAttempt {
  readonly fault: Fault;
  readonly retryAfterMs: number | null;
}

/**
 * What a failed attempt was, in words that hold no key, no body and no address beyond host and port. Server texts are
 * never repeated; a server's own error code (`context_length_exceeded`) is, if it has the form of one.
 */
export function judgeFailure(thrown: unknown, end: AttemptEnd): FailedAttempt {
  if (end.stop !== null) return { fault: stopFault(end, end.stop), retryAfterMs: null };
  if (thrown instanceof Fault) return { fault: reworded(thrown, end), retryAfterMs: null };
  const status = numberAt(thrown, 'statusCode');
  if (status !== null && status >= 300) return statusFailure(thrown, status, end);
  return { fault: brokenFault(thrown, end), retryAfterMs: null };
}

/** A `{type:'error'}` part inside a stream that began well. */
export function judgeErrorPart(error: unknown, end: AttemptEnd): FailedAttempt {
  if (end.stop !== null) return { fault: stopFault(end, end.stop), retryAfterMs: null };
  const name = error instanceof Error ? error.name : '';
  const code = serverCode(error, end.key);
  const what = /Parse|TypeValidation/.test(name)
    ? 'sent a piece of its answer that is not the JSON it should be'
    : name === 'AI_InvalidResponseDataError'
      ? 'ended its answer before it was complete'
      : `reported an error inside its answer${code === null ? '' : ` (${code})`}`;
  return { fault: malformed(end, what, code), retryAfterMs: null };
}

export function cutFault(end: AttemptEnd): Fault {
  return malformed(end, 'ended its answer before it was complete', null);
}

/** An answer without a word that the provider's filter emptied: no success (SPEC R13). */
export function filteredFault(end: AttemptEnd): Fault {
  return fault('model.refused', end, 'gave no answer: its content filter stopped it', 'never', {});
}

export function abortedFault(entry: ProviderEntry): Fault {
  return new Fault('model.aborted', `the request to ${entry.ref} was aborted`, {
    retry: 'never',
    detail: { provider: entry.ref },
  });
}

function stopFault(end: AttemptEnd, stop: Stop): Fault {
  const { entry } = end;
  switch (stop) {
    case 'caller':
      return abortedFault(entry);
    case 'total':
      return timeout(
        end,
        'total',
        entry.totalTimeoutMs,
        'gave no complete answer within',
        'total_timeout_secs',
      );
    case 'idle':
      return timeout(end, 'idle', entry.idleTimeoutMs, 'was silent for', 'timeout_secs');
    case 'size':
      return fault(
        'model.malformed',
        end,
        `sent more than ${BODY_BYTES_MAX / 1024 / 1024} MiB in one answer`,
        'never',
        { reason: 'too-large' },
      );
  }
}

function timeout(
  end: AttemptEnd,
  limit: 'connect' | 'idle' | 'total',
  limitMs: number,
  what: string,
  key: string,
): Fault {
  const text = `${what} ${limitMs / 1000} s (${limit} limit); raise ${tableOf(end.entry)} ${key} if it needs longer`;
  return fault('model.timeout', end, text, limit === 'total' ? 'never' : 'safe', {
    limit,
    limitMs,
  });
}

function reworded(thrown: Fault, end: AttemptEnd): Fault {
  return new Fault(
    thrown.code,
    `${nameOf(end)}: ${thrown.message}; check ${tableOf(end.entry)} base_url`,
    {
      retry: thrown.retry,
      detail: { ...thrown.detail, ...idsOf(end) },
    },
  );
}

function statusFailure(thrown: unknown, status: number, end: AttemptEnd): FailedAttempt {
  const code = serverCode(thrown, end.key);
  const retryAfterMs = retryAfter(thrown, end.nowMs);
  const detail = {
    status,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...codeDetail(code),
  };
  const said = `answered ${status}${code === null ? '' : ` (${code})`}`;
  const [kind, advice] = kindOf(status, code);
  const text = `${said}: ${nextStep(status, code, end, retryAfterMs)}`;
  return { fault: fault(kind, end, text, advice, detail), retryAfterMs };
}

function kindOf(status: number, code: string | null): [FaultCode, RetryAdvice] {
  // An empty account answers 429 like a busy one, but no wait will fill it.
  if (status === 429 && code === 'insufficient_quota') return ['model.refused', 'never'];
  if (status === 429) return ['model.rate-limited', 'safe'];
  if (status >= 500 || status === 408 || status === 425) return ['model.server-error', 'safe'];
  return ['model.refused', 'never'];
}

function nextStep(
  status: number,
  code: string | null,
  end: AttemptEnd,
  retryAfterMs: number | null,
): string {
  const { entry } = end;
  if (status < 400) return `it redirects; set ${tableOf(entry)} base_url to the final address`;
  if (code !== null && /context|too_long|too_large/.test(code)) {
    return 'the history is longer than the model can read; shorten results (max_result_chars) or choose a larger model';
  }
  if (status === 401 || status === 403) return keyStep(entry);
  if (status === 404) return `check the model name "${end.model}" and ${tableOf(entry)} base_url`;
  if (code === 'insufficient_quota' || status === 402)
    return "the provider's account has no credit left";
  if (status === 429) {
    const asked = retryAfterMs === null ? '' : `; it asks to wait ${retryAfterMs / 1000} s`;
    return `too many requests${asked}; lower the load with ${tableOf(entry)} max_concurrent_requests`;
  }
  if (kindOf(status, code)[0] === 'model.server-error')
    return "a fault on the provider's side; try again later";
  return `it does not accept the request; check that model "${end.model}" takes tools and a history of this length`;
}

function keyStep(entry: ProviderEntry): string {
  return entry.apiKeyEnv === null
    ? `the key is missing or not accepted; name its environment variable in ${tableOf(entry)} api_key_env`
    : `the key is not accepted; check the environment variable ${entry.apiKeyEnv}`;
}

/** No status: the network, or an answer that is none. */
function brokenFault(thrown: unknown, end: AttemptEnd): Fault {
  const network = networkCode(thrown);
  if (network === 'UND_ERR_CONNECT_TIMEOUT') {
    const ms = end.entry.connectTimeoutMs;
    return timeout(end, 'connect', ms, 'took no connection within', 'connect_timeout_secs');
  }
  if (end.answered) {
    if (network !== null) return cutFault(end);
    return malformed(end, 'sent an answer that is not the JSON it should be', null);
  }
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  if (network === null && /Unsupported|InvalidPrompt|InvalidArgument/.test(name)) {
    return fault('model.unsupported', end, `cannot be sent this request (${name})`, 'never', {});
  }
  const why = network ?? name;
  const text = `cannot be reached at ${hostOf(end.entry)} (${why}); check that it runs and ${tableOf(end.entry)} base_url`;
  return fault('model.unreachable', end, text, 'safe', { reason: why });
}

function malformed(end: AttemptEnd, what: string, code: string | null): Fault {
  return fault('model.malformed', end, what, 'safe', codeDetail(code));
}

function fault(
  code: FaultCode,
  end: AttemptEnd,
  what: string,
  retry: RetryAdvice,
  detail: JsonObject,
): Fault {
  return new Fault(code, `${nameOf(end)} ${what}`, { retry, detail: { ...idsOf(end), ...detail } });
}

function nameOf(end: AttemptEnd): string {
  return `${end.entry.ref}/${end.model}`;
}

function idsOf(end: AttemptEnd): JsonObject {
  return { provider: end.entry.ref, model: end.model };
}

function hostOf(entry: ProviderEntry): string {
  if (entry.baseUrl === null || !URL.canParse(entry.baseUrl)) return "the provider's own address";
  return new URL(entry.baseUrl).host;
}

function codeDetail(code: string | null): JsonObject {
  return code === null ? {} : { serverCode: code };
}

/** The code along a chain of causes: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
function networkCode(thrown: unknown): string | null {
  let here: unknown = thrown;
  for (let depth = 0; depth < 8 && here instanceof Error; depth += 1) {
    const code = (here as { code?: unknown }).code;
    if (typeof code === 'string' && /^(E[A-Z]|UND_ERR_|CERT_|DEPTH_|SELF_SIGNED)/.test(code))
      return code;
    here = here.cause;
  }
  return null;
}

/** `Retry-After` (or `retry-after-ms`) in milliseconds. */
function retryAfter(thrown: unknown, nowMs: number): number | null {
  const headers = fieldOf(thrown, 'responseHeaders');
  const ms = Number.parseFloat(String(fieldOf(headers, 'retry-after-ms') ?? ''));
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  const value = fieldOf(headers, 'retry-after');
  if (typeof value !== 'string' || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds < 0 ? null : Math.round(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** The error code a server gave, if it looks like one and holds no key. */
function serverCode(thrown: unknown, key: string | null): string | null {
  const error = errorObject(thrown);
  for (const name of ['code', 'status', 'type']) {
    const value = fieldOf(error, name);
    if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value)) continue;
    if (key === null || !value.includes(key)) return value;
  }
  return null;
}

function errorObject(thrown: unknown): unknown {
  const data = fieldOf(thrown, 'data') ?? parsed(fieldOf(thrown, 'responseBody'));
  if (data !== undefined) return fieldOf(data, 'error') ?? data;
  return thrown instanceof Error ? undefined : (fieldOf(thrown, 'error') ?? thrown);
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return undefined;
  return (value as Record<string, unknown>)[name];
}

function numberAt(value: unknown, name: string): number | null {
  const found = fieldOf(value, name);
  return typeof found === 'number' ? found : null;
}
