import type { MessagePort } from 'node:worker_threads';
import { nanoid } from 'nanoid';
import { systemClock } from '../actors/system-clock.ts';
import type { ProviderEntry } from '../runtime/core/model.ts';
import { ModelDesk } from './model-desk.ts';

/** What the model thread is started with. Keys are read from its environment, by the names in the entries. */
export interface ModelThreadOptions {
  readonly providers: readonly ProviderEntry[];
  /** Entries that will be asked, as far as anybody knows: what they need is loaded meanwhile. */
  readonly warm?: readonly string[];
}

/** What its main port takes. `port` belongs to one actor host and travels in the transfer list. */
export interface AttachModelPort {
  readonly kind: 'attach';
  readonly port: MessagePort;
}

/** The body of the model thread. Returns what ends it: every request aborted, every port and connection closed. */
export function serveModels(options: ModelThreadOptions, port: MessagePort): () => Promise<void> {
  const desk = new ModelDesk(options.providers, {
    clock: systemClock,
    random: {
      id: (length = 12) => nanoid(length),
      uuid: () => crypto.randomUUID(),
      unit: () => Math.random(),
    },
    env: process.env,
  });
  desk.warm(options.warm ?? []);
  port.on('message', (message: AttachModelPort) => desk.attach(message.port));
  return () => desk.close();
}
