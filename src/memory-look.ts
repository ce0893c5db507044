import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Fault } from './base/fault.ts';
import type { Memory } from './runtime/core/memory.ts';
import { openMemoryStore } from './runtime/memory-store.ts';
import { stateLayout } from './runtime/state-dir.ts';

/**
 * What the agents of a state directory remember (SPEC X4), by agent and key; of one agent where one is named. Also beside
 * a live host, and without one.
 * @throws Fault `memory.unusable`.
 */
export function lookAtMemories(statePath: string, agent?: string): readonly Memory[] {
  const { memoryFile } = stateLayout(statePath);
  if (!existsSync(memoryFile)) return [];
  const store = openMemoryStore(memoryFile);
  try {
    return store.list(agent);
  } finally {
    store.close();
  }
}

/** Takes one memory away. @throws Fault `memory.not-found`, `memory.unusable`. */
export function forgetMemory(statePath: string, agent: string, key: string): void {
  const { memoryFile } = stateLayout(statePath);
  const as = { own: agent, readable: [agent] };
  const none = new Fault('memory.not-found', `agent '${agent}' has no memory '${key}'`);
  if (!existsSync(memoryFile)) throw none;
  const store = openMemoryStore(memoryFile);
  try {
    const answer = store.answer({ type: 'forget', as, callKey: `user/${randomUUID()}`, key });
    if (answer.type !== 'forgotten') throw none;
  } finally {
    store.close();
  }
}
