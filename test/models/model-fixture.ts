import { afterEach, beforeEach } from 'vitest';
import type { ProviderEntry } from '../../src/runtime/core/model.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import { entryOf, type ModelClient, type ModelThread, startModelThread } from './model-client.ts';

export const REF = 'openai-compatible.local';
export const KEY = 'sk-test-0123456789abcdef';
export const KEY_ENV = 'TROUPE_TEST_MODEL_KEY';

export const readFile = {
  name: 'read_file',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** A model server and the product's model thread, fresh for every test of the file that calls `useModels`. */
export interface ModelFixture {
  readonly server: ModelServer;
  startThread(...entries: ProviderEntry[]): ModelThread;
  /** An entry that asks `server`. */
  entry(more?: Partial<ProviderEntry>): ProviderEntry;
  /** A thread with one such entry, and a port to it. */
  startClient(more?: Partial<ProviderEntry>): ModelClient;
}

export function useModels(): ModelFixture {
  let server: ModelServer | undefined;
  let threads: ModelThread[] = [];
  beforeEach(async () => {
    process.env[KEY_ENV] = KEY;
    server = await startModelServer();
    threads = [];
  });
  afterEach(async () => {
    delete process.env[KEY_ENV];
    await Promise.all(threads.map((thread) => thread.stop()));
    await server?.close();
  });
  const running = (): ModelServer => {
    if (server === undefined) throw new Error('the model server runs inside tests only');
    return server;
  };
  const startThread = (...entries: ProviderEntry[]) => {
    const thread = startModelThread(entries);
    threads.push(thread);
    return thread;
  };
  const entry = (more: Partial<ProviderEntry> = {}) =>
    entryOf('openai-compatible', { baseUrl: running().url, ...more });
  return {
    get server() {
      return running();
    },
    startThread,
    entry,
    startClient: (more) => startThread(entry(more)).connect(),
  };
}
