import { expect } from 'vitest';
import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import { loadConfig } from '../../src/runtime/load-config.ts';
import { freezeSecurity } from '../../src/runtime/resolve-run.ts';
import type { RunSupervisor } from '../../src/runtime/run-supervisor.ts';
import { RunTree } from '../../src/runtime/run-tree.ts';
import { SimEngine, type SimOptions } from './sim-engine.ts';

export interface WorldOptions extends SimOptions {
  readonly config: object;
}

/** A whole tree of runs in simulation. */
export class SimWorld {
  readonly engine: SimEngine;
  readonly tree: RunTree;

  constructor(options: WorldOptions) {
    this.engine = new SimEngine(options);
    this.tree = new RunTree({
      engine: this.engine,
      config: loadConfig(options.config, { baseDir: '/' }),
      protectedPaths: [],
      onDelta: () => undefined,
    });
    this.engine.journal.onFailure((fault) => this.tree.perish(fault));
  }

  start(agentId: string, prompt = 'go', calledOff: string | null = null): RunSupervisor {
    const agent = this.tree.config.agents.get(agentId);
    if (agent === undefined) throw new Error(`no agent ${agentId}`);
    const files = {
      workspaceDir: '/',
      workspaceOnly: false,
      roots: [],
      readRoots: [],
      writeRoots: [],
      forbidden: [],
      protected: [],
    };
    return this.tree.startRoot({
      agent,
      raw: false,
      prompt,
      origin: 'user',
      project: agent.project,
      security: freezeSecurity('tester', null, files),
      workspaceDir: '/',
      maxTurns: null,
      calledOff,
    });
  }

  get events(): readonly JournalEvent[] {
    return this.engine.journal.committed;
  }

  eventsOf(runId: string): readonly JournalEvent[] {
    return this.events.filter((event) => event.run_id === runId);
  }
}

/** A provider that is never asked: the simulation answers in its place. */
export const PROVIDERS = {
  models: { 'openai-compatible': { sim: { base_url: 'http://127.0.0.1:9/v1', model: 'm' } } },
};

/** What must hold of every journal, whatever happened: SPEC J1, R12, R13, N4, D3, G3. */
export function audit(events: readonly JournalEvent[]): void {
  const ids = new Set<string>();
  const byRun = new Map<string, JournalEvent[]>();
  for (const event of events) {
    const root = event.parent_run_id === null && event.type === 'run.started';
    expect(root || ids.has(event.parent_event_id ?? ''), `cause of ${event.event_id}`).toBe(true);
    ids.add(event.event_id);
    byRun.set(event.run_id, [...(byRun.get(event.run_id) ?? []), event]);
  }
  for (const [runId, own] of byRun) auditRun(runId, own);
}

function auditRun(runId: string, events: readonly JournalEvent[]): void {
  expect(events[0]?.type, `${runId} begins`).toBe('run.started');
  expect(events.filter((event) => isTerminal(event.type)).length, `${runId} ends once`).toBe(1);
  expect(isTerminal(events.at(-1)?.type ?? ''), `${runId} ends last`).toBe(true);
  events.forEach((event, at) => {
    expect(event.event_id).toBe(`${runId}#${at + 1}`);
  });
  auditWidth(runId, events);
  auditResults(runId, events);
}

function auditWidth(runId: string, events: readonly JournalEvent[]): void {
  const {
    width_max: width,
    depth,
    depth_max: depthMax,
  } = events[0]?.data as Record<string, number>;
  let running = 0;
  let stopping = false;
  for (const event of events) {
    if (event.type === 'run.stopping') stopping = true;
    if (event.type === 'delegation.started') {
      expect(stopping, `${runId} starts nothing while it stops`).toBe(false);
      running += 1;
      if (event.data['kind'] === 'delegate') expect(depth).toBeLessThan(depthMax ?? 0);
    }
    if (event.type === 'delegation.completed' || event.type === 'delegation.failed') running -= 1;
    expect(running, `${runId} keeps its width`).toBeLessThanOrEqual(width ?? 0);
  }
  expect(running, `${runId} leaves no orphan`).toBe(0);
}

function auditResults(runId: string, events: readonly JournalEvent[]): void {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'model.completed') {
      expect(open.size, `${runId} answers every call before the next turn`).toBe(0);
      for (const call of event.data['calls'] as { id: string }[]) open.add(call.id);
    }
    if (event.type === 'tool.completed' || event.type === 'tool.failed') {
      expect(open.delete(String(event.data['call_id'])), `${runId} one result a call`).toBe(true);
    }
  }
  expect(open.size, `${runId} leaves no call open`).toBe(0);
}
