// Where the tools of memory ask. Owns the thread that has the database open, and who waits for an answer of it.
// D1  The thread starts with the first request: a host whose agents remember nothing pays nothing for it.
// D2  A thread that ends takes no request along in silence: who waits is told, and the next request starts another one.
import { describeExit } from './actors/core/exit.ts';
import { openServiceThread, type ServiceThread } from './actors/service-thread.ts';
import { Fault, fromWire } from './base/fault.ts';
import type { MemoryAnswer, MemoryRequest } from './runtime/core/memory.ts';
import type { FromMemory, MemoryThreadOptions, ToMemory } from './runtime/memory-thread.ts';
import { threadEntry } from './thread-entry.ts';

interface Waiting {
  readonly resolve: (answer: MemoryAnswer) => void;
  readonly reject: (fault: Fault) => void;
}

export class MemoryDesk {
  readonly #file: string;
  readonly #entry: () => URL;
  readonly #waiting = new Map<number, Waiting>();
  #thread: ServiceThread | null = null;
  #asked = 0;
  #closed = false;

  /** `entry` = where its thread starts from. */
  constructor(file: string, entry = () => threadEntry('memory')) {
    this.#file = file;
    this.#entry = entry;
  }

  /** @throws Fault `memory.unusable`; whether the request was carried out is unknown if its `retry` says `unsafe`. */
  ask(request: MemoryRequest): Promise<MemoryAnswer> {
    if (this.#closed) {
      return Promise.reject(new Fault('memory.unusable', 'the host closes', { retry: 'safe' }));
    }
    this.#thread ??= this.#start();
    const thread = this.#thread;
    this.#asked += 1;
    const asked: ToMemory = { id: this.#asked, request };
    return new Promise((resolve, reject) => {
      this.#waiting.set(asked.id, { resolve, reject });
      thread.port.postMessage(asked);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.close();
  }

  #start(): ServiceThread {
    const data: MemoryThreadOptions = { file: this.#file };
    const thread = openServiceThread({ entry: this.#entry(), name: 'memory', data });
    thread.port.on('message', (said: FromMemory) => this.#hear(said));
    void thread.exited.then((exit) => {
      if (this.#thread === thread) this.#thread = null;
      this.#lose(describeExit(exit));
    });
    return thread;
  }

  #hear(said: FromMemory): void {
    const waiting = this.#waiting.get(said.id);
    this.#waiting.delete(said.id);
    if ('answer' in said) waiting?.resolve(said.answer);
    else waiting?.reject(fromWire(said.fault));
  }

  /** D2 */
  #lose(detail: string): void {
    const left = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of left) {
      reject(new Fault('memory.unusable', `its thread ended: ${detail}`, { retry: 'unsafe' }));
    }
  }
}
