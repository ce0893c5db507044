/**
 * The `fetch` that provider clients are given. It has no time limits of its own but the one for connecting: silence
 * and total time are the business of `request-limits.ts`, which hears of every byte from here. It follows no
 * redirect, because a key in a header of its own would follow too.
 */
import type { Agent } from 'undici';
import { Fault } from '../base/fault.ts';

/** A provider that sends more than this in one answer is cut off. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

export interface FetchWatch {
  /** The connection stands and the answer's headers are here. */
  answered(): void;
  alive(): void;
  tooLarge(): void;
}

export interface Connector {
  fetch(watch: FetchWatch): typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Loads undici on first use; one connector a provider entry, so that connections are reused. */
export async function openConnector(connectTimeoutMs: number): Promise<Connector> {
  const undici = await import('undici');
  const agent: Agent = new undici.Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
  });
  const send = undici.fetch as unknown as (url: unknown, init: object) => Promise<Response>;
  return {
    fetch: (watch) => async (url, init) => {
      const response = await send(url, { ...init, redirect: 'manual', dispatcher: agent });
      watch.answered();
      watch.alive();
      refuseNoStream(response);
      return watched(response, watch);
    },
    close: () => agent.destroy(),
  };
}

/** What may come with status 200 in place of a stream of events, and would otherwise read as one without events. */
const NO_STREAMS = [
  { type: /^\s*(text\/html|application\/xhtml)/i, what: 'a web page', reason: 'web-page' },
  { type: /^\s*application\/json/i, what: 'one JSON document', reason: 'no-stream' },
] as const;

function refuseNoStream(response: Response): void {
  const contentType = response.headers.get('content-type') ?? '';
  const found = NO_STREAMS.find(({ type }) => type.test(contentType));
  if (!response.ok || found === undefined) return;
  void response.body?.cancel().catch(() => undefined);
  throw new Fault('model.malformed', `the answer is ${found.what}, not a stream of events`, {
    retry: 'never',
    detail: { status: response.status, reason: found.reason },
  });
}

function watched(response: Response, watch: FetchWatch): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      watch.alive();
      bytes += chunk.byteLength;
      if (bytes > BODY_BYTES_MAX) watch.tooLarge();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counting), {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
  });
}
