import { expect } from 'vitest';
import { isTerminal, type JournalEvent } from '../../src/runtime/core/event.ts';
import type { PlanSpec } from '../../src/runtime/core/plan-spec.ts';
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
  auditPlans(runId, events);
  auditTime(runId, events);
  auditNotes(runId, events);
}

const ENDS_OF_CHILDREN = [
  'delegation.completed',
  'delegation.failed',
  'plan.task.completed',
  'plan.task.failed',
  'plan.task.incomplete',
  'plan.task.discarded',
];

function auditWidth(runId: string, events: readonly JournalEvent[]): void {
  const {
    width_max: width,
    depth,
    depth_max: depthMax,
  } = (events[0]?.data ?? {}) as Record<string, number>;
  const live = new Set<unknown>();
  let stopping = false;
  for (const event of events) {
    if (event.type === 'run.stopping') stopping = true;
    if (event.type === 'delegation.started' || event.type === 'plan.task.started') {
      expect(stopping, `${runId} starts nothing while it stops`).toBe(false);
      live.add(event.data['ordinal']);
      if (event.data['kind'] !== 'subagent') expect(depth).toBeLessThan(depthMax ?? 0);
    }
    if (ENDS_OF_CHILDREN.includes(event.type)) live.delete(event.data['ordinal']);
    const running = live.size;
    expect(running, `${runId} keeps its width`).toBeLessThanOrEqual(width ?? 0);
  }
  expect([...live], `${runId} leaves no orphan`).toEqual([]);
}

/** SPEC P9, P11: a plan's end names every task, nothing of it comes after, and launches keep their bound. */
function auditPlans(runId: string, events: readonly JournalEvent[]): void {
  for (const started of events.filter((event) => event.type === 'plan.started')) {
    const frame = started.frame_id;
    const own = events.filter(
      (event) => event.frame_id === frame && event.type.startsWith('plan.'),
    );
    const { tasks, max_rework: rework } = started.data as unknown as PlanSpec;
    const launches = own.filter((event) => event.type === 'plan.task.started').length;
    expect(launches, `${runId} ${frame} keeps its launches`).toBeLessThanOrEqual(
      tasks.length * (1 + rework),
    );
    const end = own.findIndex((event) => event.type === 'plan.completed');
    if (end === -1) continue; // Only in a run that was stopped.
    expect(own.length, `${runId} ${frame} ends last`).toBe(end + 1);
    const statuses = own[end]?.data['statuses'] as object;
    expect(Object.keys(statuses).sort()).toEqual(tasks.map(({ id }) => id).sort());
  }
}

/** SPEC P10. */
function auditTime(runId: string, events: readonly JournalEvent[]): void {
  const up = events.findIndex((event) => event.type === 'plan.time_limit');
  if (up === -1) return;
  const starts = events.slice(up).filter(({ type }) => type.endsWith('.started'));
  expect(starts, `${runId} starts nothing once its time is up`).toEqual([]);
}

/** SPEC N1, P8: a note goes to those that run, and not to those that a plan has dropped. */
function auditNotes(runId: string, events: readonly JournalEvent[]): void {
  const live = new Map<unknown, string>();
  for (const event of events) {
    const { ordinal, child_run_id: child } = event.data;
    if (event.type.endsWith('.started') && ordinal !== undefined) live.set(ordinal, String(child));
    if (ENDS_OF_CHILDREN.includes(event.type)) live.delete(ordinal);
    if (event.type === 'plan.task.invalidated') live.delete(ordinal);
    if (event.type === 'plan.aborted') {
      for (const [key, id] of live) if (isOfPlan(events, event, id)) live.delete(key);
    }
    if (event.type !== 'run.user_note') continue;
    const sent = [event.data['forwarded_to'], event.data['forward_failed']].flat();
    expect(sent.sort(), `${runId} notes go to those that run`).toEqual([...live.values()].sort());
  }
}

function isOfPlan(events: readonly JournalEvent[], { frame_id }: JournalEvent, id: string) {
  return events.some(
    ({ type, frame_id: frame, data }) =>
      type === 'plan.task.started' && frame === frame_id && data['child_run_id'] === id,
  );
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
