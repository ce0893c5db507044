// A process that appends once and does not close its journal. Arguments: file, thread entry.
import { writeSync } from 'node:fs';
import { openSqliteJournal } from '../../../src/runtime/sqlite-journal.ts';

const [, , file = '', entry = ''] = process.argv;
const journal = await openSqliteJournal({ file, entry: new URL(entry) });
const { durable } = journal.append([
  {
    event_id: 'run_idle#1',
    run_id: 'run_idle',
    parent_run_id: null,
    parent_event_id: null,
    frame_id: null,
    ts: '2024-01-02T03:04:05.678Z',
    type: 'run.started',
    v: 1,
    data: {},
  },
]);
durable.then(
  () => writeSync(1, 'durable'),
  (reason: unknown) => writeSync(1, String(reason)),
);
