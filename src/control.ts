/** What other processes of the same user may ask a host about its live runs (SPEC K2): both ends of it. */
import { Fault, messageOf } from './base/fault.ts';
import type { Json, JsonObject } from './base/json.ts';
import type { ApprovalDecision } from './give-approval.ts';
import type { CancelAnswer, Run } from './run.ts';
import { endsRun } from './run.ts';
import { isTerminal, type JournalEvent, TERMINAL_TYPES } from './runtime/core/event.ts';
import type { ApprovalRequest } from './runtime/engine.ts';
import { followEvents } from './runtime/follow-events.ts';
import type { Journal } from './runtime/journal.ts';
import {
  type CallContext,
  callSocket,
  type SocketHandler,
  serveSocket,
  streamSocket,
} from './runtime/local-socket.ts';
import type { NoteReceipt } from './runtime/note-receipts.ts';
import { stateLayout } from './runtime/state-dir.ts';

/** The part of a host that is spoken to. */
export interface ControlledHost {
  readonly socketFile: string;
  readonly journal: Journal;
  /** A run that has not ended. */
  run(runId: string): Run | undefined;
  liveRunIds(): readonly string[];
  stats(): JsonObject;
  approvals(): readonly ApprovalRequest[];
  approve(id: string, decision: ApprovalDecision): Promise<void>;
  /** The socket could not be made: why, and what that means. */
  onUnreachable(text: string): void;
}

/**
 * Answers on the host's socket until closed. Requests: `note {run_id, text, wait?}`, `cancel {run_id, reason?}`,
 * `follow {run_id, subtree?, after_seq?}` (a stream of events, each after it is committed, to the run's end), `live`,
 * `stats`, `approvals` (ids), `approve {approval_id, granted, why?}`. For a run that is not live here the journal decides between `run.ended` and `run.not-found`.
 * A host whose socket cannot be made still runs (some file systems have none); it is told, and nobody can reach it.
 */
export async function serveControl(host: ControlledHost): Promise<{ close(): Promise<void> }> {
  const handlers: readonly (readonly [string, SocketHandler])[] = [
    ['note', (params) => note(host, params)],
    ['cancel', (params) => cancel(host, params)],
    ['follow', (params, call) => follow(host, params, call)],
    ['live', async () => [...host.liveRunIds()]],
    ['stats', async () => host.stats()],
    ['approvals', async () => host.approvals().map(({ id }) => id)],
    ['approve', (params) => approve(host, params)],
  ];
  try {
    return await serveSocket(host.socketFile, new Map(handlers));
  } catch (thrown) {
    const lost = 'troupe note, cancel, approve, deny and log --follow cannot reach this host';
    host.onUnreachable(`${messageOf(thrown)}; ${lost}`);
    return { close: async () => undefined };
  }
}

async function note(host: ControlledHost, params: JsonObject): Promise<Json> {
  const run = await liveRun(host, textIn(params, 'run_id'));
  const sent = await run.note(textIn(params, 'text'));
  if (params['wait'] === false) return { note_id: sent.noteId, receipts: null };
  return { note_id: sent.noteId, receipts: (await sent.receipts).map((each) => ({ ...each })) };
}

async function cancel(host: ControlledHost, params: JsonObject): Promise<Json> {
  const run = await liveRun(host, textIn(params, 'run_id'));
  const reason = params['reason'] === undefined ? undefined : textIn(params, 'reason');
  return { run_id: run.id, answer: await run.cancel(reason) };
}

async function approve(host: ControlledHost, params: JsonObject): Promise<Json> {
  const granted = params['granted'];
  if (typeof granted !== 'boolean') {
    throw new Fault('argument.invalid', '"granted" must be true or false');
  }
  const why = params['why'] === undefined ? {} : { why: textIn(params, 'why') };
  const id = textIn(params, 'approval_id');
  await host.approve(id, { granted, ...why });
  return { approval_id: id, granted };
}

async function follow(
  host: ControlledHost,
  params: JsonObject,
  { signal, emit }: CallContext,
): Promise<Json> {
  const runId = textIn(params, 'run_id');
  const afterSeq = params['after_seq'] ?? 0;
  if (typeof afterSeq !== 'number') throw new Fault('argument.invalid', '"after_seq" is a number');
  const filter = params['subtree'] === true ? { subtreeOf: runId } : { runId };
  if (host.run(runId) === undefined) {
    await statusOf(host.journal, runId); // a run that never was is a fault
    for await (const event of host.journal.read({ ...filter, afterSeq })) await emit(asJson(event));
    return null;
  }
  const events = followEvents(host.journal, { ...filter, afterSeq }, endsRun(runId), signal);
  for await (const event of events) await emit(asJson(event));
  return null;
}

async function liveRun(host: ControlledHost, runId: string): Promise<Run> {
  const run = host.run(runId);
  if (run !== undefined) return run;
  throw notLive(runId, await statusOf(host.journal, runId));
}

/** How the journal says a run ended; `running` if it does not. @throws Fault `run.not-found`. */
async function statusOf(journal: Journal, runId: string): Promise<string> {
  let status: string | null = null;
  for await (const { type } of journal.read({ runId, types: ['run.started', ...TERMINAL_TYPES] })) {
    status = isTerminal(type) ? type.slice('run.'.length) : (status ?? 'running');
  }
  if (status !== null) return status;
  throw new Fault('run.not-found', `no run '${runId}' in this journal; \`troupe ps\` lists them`);
}

/** What to say of a run that nobody carries on; `status` as the journal has it. */
export function notLive(runId: string, status: string): Fault {
  const ended = status !== 'running' && status !== 'pending';
  return new Fault(
    'run.ended',
    ended
      ? `run ${runId} has already ended: ${status}`
      : `run ${runId} is not going on: the host that ran it stopped before it ended`,
    { detail: { run_id: runId, status } },
  );
}

function textIn(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new Fault('argument.invalid', `"${key}" must be a text that is not empty`);
}

/** Events are plain JSON by contract (SPEC J1). */
function asJson(event: JournalEvent): Json {
  return event as unknown as Json;
}

/** A note that was handed over; `receipts` is null where nobody waited for them. */
export interface HandedNote {
  readonly note_id: string;
  readonly receipts: readonly NoteReceipt[] | null;
}

/** The host of a state directory, as other processes see it. Every call throws Fault `host.absent` if there is none. */
export interface HostClient {
  note(runId: string, text: string, options?: { readonly wait?: boolean }): Promise<HandedNote>;
  cancel(runId: string, reason?: string): Promise<CancelAnswer>;
  /** Every event of the run after `afterSeq`, as it is committed, until the run ends. */
  follow(
    runId: string,
    options: { readonly subtree: boolean; readonly afterSeq: number },
  ): AsyncIterable<JournalEvent>;
  live(): Promise<readonly string[]>;
  stats(): Promise<JsonObject>;
  /** Ids of the requests that it waits for. */
  approvals(): Promise<readonly string[]>;
  /** Resolves once the answer is on its disk. @throws Fault as `Troupe.approve`. */
  approve(id: string, granted: boolean, why?: string): Promise<void>;
}

/** `signal` hangs up on whatever is being waited for. */
export function hostClient(stateDir: string, signal?: AbortSignal): HostClient {
  const { path, socketFile } = stateLayout(stateDir);
  const options = { stateDir: path, ...(signal === undefined ? {} : { signal }) };
  const call = (method: string, params: JsonObject = {}): Promise<unknown> =>
    callSocket(socketFile, method, params, options);
  return {
    note: async (runId, text, { wait = true } = {}) =>
      (await call('note', { run_id: runId, text, wait })) as HandedNote,
    cancel: async (runId, reason) => {
      const params = reason === undefined ? { run_id: runId } : { run_id: runId, reason };
      const { answer } = (await call('cancel', params)) as { readonly answer: CancelAnswer };
      return answer;
    },
    follow: (runId, { subtree, afterSeq }) => {
      const params = { run_id: runId, subtree, after_seq: afterSeq };
      const events: AsyncIterable<unknown> = streamSocket(socketFile, 'follow', params, options);
      return events as AsyncIterable<JournalEvent>;
    },
    live: async () => (await call('live')) as readonly string[],
    stats: async () => (await call('stats')) as JsonObject,
    approvals: async () => (await call('approvals')) as readonly string[],
    approve: async (approval_id, granted, why) => {
      await call('approve', { approval_id, granted, ...(why === undefined ? {} : { why }) });
    },
  };
}
