/** What a state directory is found to be, by looking alone: beside a host or without one (SPEC J6, J8, K2). */
import { Fault } from './base/fault.ts';
import { JournalAudit } from './runtime/core/audit.ts';
import { type Finding, finding } from './runtime/core/audit-finding.ts';
import type { JournalEvent } from './runtime/core/event.ts';
import { type JournalReader, openJournalReader } from './runtime/journal-reader.ts';
import { readHostRecord, type StateLayout, stateLayout } from './runtime/state-dir.ts';
import {
  type LockStanding,
  listResults,
  lookAtLock,
  type ResultFile,
  resultName,
} from './runtime/state-look.ts';
import { walFault } from './runtime/wal-fault.ts';

export type { Finding };

export interface Examination {
  readonly state: string;
  /** Events that were read, up to the first damage. */
  readonly events: number;
  readonly runs: number;
  /** Whether a host owns the directory. */
  readonly host: LockStanding;
  readonly findings: readonly Finding[];
}

/** Places of damage that are looked for; whoever has more needs a copy. */
const DAMAGE_MAX = 100;

/**
 * Changes nothing. What precedes the first damage is audited, what follows is only counted: of a part that lost its
 * beginning nothing can be judged.
 * @throws Fault `argument.invalid` if there is no journal, or it cannot be opened; `sqlite.absent`.
 */
export function examineState(stateDir: string): Examination {
  const layout = stateLayout(stateDir);
  const host = lookAtLock(layout);
  const reader = openJournalReader(layout.journalFile);
  try {
    // First, so that a result which comes while the journal is read is not taken for one that no event names.
    const results = listResults(layout);
    const told = readThrough(reader);
    const damage = damageOf(layout, reader, told);
    const findings =
      damage.length > 0
        ? // What has not ended before the damage may have ended after it.
          [...damage, ...told.findings.filter(({ severity }) => severity !== 'info')]
        : [...told.findings, ...auditResults(results, told)];
    return {
      state: layout.path,
      events: told.events,
      runs: told.audit.runs,
      host,
      findings: [...auditHost(stateDir, host), ...findings],
    };
  } finally {
    reader.close();
  }
}

interface Told {
  readonly audit: JournalAudit;
  readonly findings: readonly Finding[];
  readonly events: number;
  /** Names of result files, with the event that names each. */
  readonly named: ReadonlyMap<string, JournalEvent>;
  readonly fault: Fault | null;
}

function readThrough(reader: JournalReader): Told {
  const audit = new JournalAudit();
  const named = new Map<string, JournalEvent>();
  let events = 0;
  const fault = faultOf(() => {
    for (const event of reader.read()) {
      events += 1;
      audit.see(event);
      const path = event.data['full_path'];
      if (typeof path === 'string') named.set(resultName(path), { ...event, data: {} });
    }
  });
  return { audit, findings: audit.finish(), events, named, fault };
}

/** @returns the fault that ended the work, if it says that the file is damaged. */
function faultOf(work: () => void): Fault | null {
  try {
    work();
    return null;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'journal.corrupt') return thrown;
    throw thrown;
  }
}

/** SPEC J8: where the damage is, and what could be read before it and after it. */
function damageOf({ journalFile }: StateLayout, reader: JournalReader, told: Told): Finding[] {
  const log = walFault(journalFile);
  if (log !== null) return [finding('journal-damaged', null, log.message)];
  const integrity = reader.integrity();
  if (told.fault === null) {
    if (integrity.ok) return [];
    const words = `${integrity.place}; all ${told.events} events could be read nevertheless`;
    return [finding('journal-damaged', null, words)];
  }
  const place = String(told.fault.detail['place'] ?? journalFile);
  const rest = countAfter(reader, told.events);
  const isSaid = integrity.ok || seqIn(integrity.place) === seqIn(place);
  const where = isSaid ? '' : ` (SQLite: ${integrity.place})`;
  const words = `${place}${where}; ${told.events} events before it could be read, ${rest} after it`;
  return [finding('journal-damaged', null, words)];
}

/** `seq 17` of the words for a place; `undefined` where they name none. */
function seqIn(place: string): string | undefined {
  return /seq \d+/.exec(place)?.[0];
}

/** How many events can still be read past the damage, wherever it is. */
function countAfter(reader: JournalReader, readTo: number): string {
  let seq = readTo + 1;
  let count = 0;
  for (let tries = 0; tries < DAMAGE_MAX; tries += 1) {
    const from = seq;
    const fault = faultOf(() => {
      for (const event of reader.read({ afterSeq: from })) {
        count += 1;
        seq = event.seq;
      }
    });
    if (fault === null) return String(count);
    seq += 1;
  }
  return count === 0 ? 'none' : `at least ${count}`;
}

function auditHost(stateDir: string, host: LockStanding): Finding[] {
  const record = readHostRecord(stateDir);
  if (host === 'held') {
    if (record === null) {
      return [
        finding(
          'host-record-missing',
          null,
          'a host owns the directory, but host.json does not say which',
        ),
      ];
    }
    const words = `process ${record.pid}, started ${record.startedAt}, owns the directory`;
    return [finding('lock-held', null, words)];
  }
  if (record === null || host === 'unknown') return [];
  const words = `host.json names process ${record.pid}, started ${record.startedAt}, which ended without closing`;
  return [finding('host-record-stale', null, words)];
}

function auditResults(results: readonly ResultFile[], { audit, named }: Told): Finding[] {
  const found: Finding[] = [];
  const kept = new Set(results.map(({ name }) => name));
  for (const { name, runId } of results) {
    // A run that goes on writes the file first and its event after.
    if (named.has(name) || audit.isOpen(runId)) continue;
    found.push(finding('result-orphaned', null, `results/${name} belongs to no event`));
  }
  for (const [name, event] of named) {
    if (kept.has(name) || audit.isOpen(event.run_id)) continue;
    found.push(finding('result-missing', event, `results/${name}, which it names, is not there`));
  }
  return found;
}
