import type { MessagePort } from 'node:worker_threads';
import { type FaultWire, toWire } from '../base/fault.ts';
import type { MemoryAnswer, MemoryRequest } from './core/memory.ts';
import { openMemoryStore } from './memory-store.ts';

export interface MemoryThreadOptions {
  /** The database; its folder must exist. */
  readonly file: string;
}

export interface ToMemory {
  readonly id: number;
  readonly request: MemoryRequest;
}

export type FromMemory =
  | { readonly id: number; readonly answer: MemoryAnswer }
  | { readonly id: number; readonly fault: FaultWire };

/** Answers requests one at a time, in their order. A file that cannot be used is tried again with the next request. */
export function serveMemories({ file }: MemoryThreadOptions, port: MessagePort): () => void {
  let store: ReturnType<typeof openMemoryStore> | null = null;
  const answer = ({ id, request }: ToMemory): FromMemory => {
    try {
      store ??= openMemoryStore(file);
      return { id, answer: store.answer(request) };
    } catch (thrown) {
      return { id, fault: toWire(thrown, 'memory.unusable') };
    }
  };
  port.on('message', (asked: ToMemory) => port.postMessage(answer(asked)));
  return () => store?.close();
}
