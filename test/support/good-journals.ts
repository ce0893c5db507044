/** Sound journals of real hosts, on real threads and with real SQLite, for those who judge journals. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Troupe, type TroupeOptions } from '../../src/host.ts';
import type { Run } from '../../src/run.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import type { CancelSignal } from '../../src/runtime/core/tool.ts';
import { COLUMNS, migrate, SUM } from '../../src/runtime/journal-schema.ts';
import { sumOf } from '../../src/runtime/journal-sum.ts';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { gate } from './model-server.ts';
import { eventsIn } from './troupe-fixture.ts';

export interface GoodJournals {
  /** A plan whose reviewer sends one task back. */
  readonly plan: readonly JournalEvent[];
  /** Three specialists at once, who use real tools. */
  readonly audit: readonly JournalEvent[];
  /** Approvals, refusals, a shared delegation, a narrowed sub-agent, a note that is read, at width 2 in FIFO order. */
  readonly desk: readonly JournalEvent[];
  /** A run that is cancelled while its child and its effectful tool are at work, with a note unread. */
  readonly stopped: readonly JournalEvent[];
  /** A parallel call, a background run that its owner records, and one that outlives it. */
  readonly tasks: readonly JournalEvent[];
}

export async function goodJournals(): Promise<GoodJournals> {
  return {
    plan: await exampleJournal('plan-review', 'src/base'),
    audit: await exampleJournal('audit', 'src/base'),
    desk: await deskJournal(),
    stopped: await stoppedJournal(),
    tasks: await tasksJournal(),
  };
}

/** A folder that is gone once `work` is over. */
export async function inFolder<Value>(work: (dir: string) => Promise<Value>): Promise<Value> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-good-')));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function exampleJournal(name: string, folder: string): Promise<JournalEvent[]> {
  const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  return inFolder(async (dir) => {
    const stateDir = join(dir, 'state');
    const troupe = await Troupe.open({ config: at(`examples/${name}/troupe.toml`), stateDir });
    const run = await troupe.start({ agent: 'lead', prompt: 'Look at it.', workspace: at(folder) });
    await run.result();
    await troupe.close();
    return eventsIn(stateDir);
  });
}

const DESK = `
agents:
  lead:
    turns:
      - when: { prompt_contains: everything }
        text: All at once.
        calls:
          - { tool: delegate, args: { agent_id: worker, prompt: one } }
          - { tool: delegate, args: { agent_id: worker, prompt: one } }
          - { tool: delegate, args: { agent_id: worker, prompt: two } }
          - tool: spawn_subagent
            args: { prompt: a part of it, policy: { excluded_tools: [send], max_actions_per_hour: 5 } }
          - { tool: send, args: { to: yes } }
          - { tool: send, args: { to: no } }
          - { tool: nothing_of_that_name, args: {} }
      - when: { prompt_contains: everything }
        text: All is done.
      - when: { prompt_contains: a part of it }
        text: That part is done.
      - when: { prompt_contains: aside }
        text: Several at once.
        calls:
          - { tool: delegate, args: { parallel: [worker, helper], prompt: at once } }
          - { tool: delegate, args: { agent_id: helper, prompt: quickly, background: true } }
          - { tool: delegate, args: { agent_id: worker, prompt: later, background: true } }
      - when: { prompt_contains: aside }
        text: The rest comes later.
      - when: { prompt_contains: stop }
        text: Two things.
        calls:
          - { tool: delegate, args: { agent_id: worker, prompt: stop } }
          - { tool: send, args: { to: nobody } }
  helper:
    turns:
      - text: "I help with {{ prompt }}."
  worker:
    turns:
      - when: { prompt_contains: at once }
        text: "My part of {{ prompt }}."
      - text: I wait.
        calls:
          - { tool: pause, args: {} }
      - text: "My part of {{ prompt }}."
`;

const PAUSED = { type: 'object', properties: {} };

function optionsOf(dir: string, shut: Promise<void>): TroupeOptions {
  writeFileSync(join(dir, 'scenario.yaml'), DESK);
  const agent = { model_provider: 'scripted.desk', risk_profile: 'p', runtime_profile: 'r' };
  const untilAborted = (signal: CancelSignal) =>
    new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('aborted')));
  return {
    config: {
      providers: { models: { scripted: { desk: { file: join(dir, 'scenario.yaml') } } } },
      risk_profiles: { p: { autonomy: 'supervised', delegation_policy: { mode: 'allow' } } },
      runtime_profiles: { r: { max_delegation_width: 2 } },
      agents: { lead: agent, worker: agent, helper: agent },
    },
    stateDir: join(dir, 'state'),
    hostTools: [
      defineTool({
        name: 'pause',
        description: 'waits',
        parameters: PAUSED,
        effect: 'read',
        run: (_args, { signal }) => Promise.race([shut.then(() => 'waited'), untilAborted(signal)]),
      }),
      defineTool<{ to: string }>({
        name: 'send',
        description: 'sends',
        parameters: { type: 'object', properties: { to: { type: 'string' } } },
        effect: 'effectful',
        run: ({ to }, { signal }) => (to === 'nobody' ? untilAborted(signal) : `sent to ${to}`),
      }),
    ],
    onApproval: ({ args }) => args['to'] !== 'no',
  };
}

function deskJournal(): Promise<JournalEvent[]> {
  return inFolder(async (dir) => {
    const shut = gate();
    const troupe = await Troupe.open(optionsOf(dir, shut.opened));
    const run = await troupe.start({ agent: 'lead', prompt: 'everything', workspace: dir });
    await seen(run, (event) => event.type === 'tool.started' && event.data['name'] === 'pause');
    await run.note('also look at the tests');
    shut.open();
    await run.result();
    await troupe.close();
    return eventsIn(join(dir, 'state'));
  });
}

function tasksJournal(): Promise<JournalEvent[]> {
  return inFolder(async (dir) => {
    const shut = gate();
    const troupe = await Troupe.open(optionsOf(dir, shut.opened));
    const run = await troupe.start({ agent: 'lead', prompt: 'aside', workspace: dir });
    await run.result();
    shut.open();
    await troupe.close();
    return eventsIn(join(dir, 'state'));
  });
}

function stoppedJournal(): Promise<JournalEvent[]> {
  return inFolder(async (dir) => {
    const troupe = await Troupe.open({
      ...optionsOf(dir, new Promise(() => undefined)),
      onApproval: () => true,
    });
    const run = await troupe.start({ agent: 'lead', prompt: 'stop', workspace: dir });
    await Promise.all(
      ['pause', 'send'].map((name) =>
        seen(run, (event) => event.type === 'tool.started' && event.data['name'] === name),
      ),
    );
    await run.note('never mind');
    await run.cancel('changed my mind');
    await run.result();
    await troupe.close();
    return eventsIn(join(dir, 'state'));
  });
}

async function seen(run: Run, fits: (event: JournalEvent) => boolean): Promise<void> {
  for await (const event of run.events({ subtree: true })) if (fits(event)) return;
}

/** A journal's file with these events as they are, sums and all. */
export function writeJournal(file: string, events: readonly JournalEvent[]): void {
  const db = openSqlite(file);
  try {
    db.exec('PRAGMA synchronous = OFF');
    migrate(db, file);
    const columns = ['seq', ...COLUMNS, SUM];
    const insert = db.prepare(
      `INSERT INTO events (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    db.transaction(() => {
      for (const event of events) {
        const n = Number(event.event_id.slice(event.run_id.length + 1));
        const row = { ...event, n, data: JSON.stringify(event.data) };
        const cells = COLUMNS.map((name) => row[name]);
        insert.run(event.seq, ...cells, sumOf(event.seq, cells));
      }
    });
  } finally {
    db.close();
  }
}
