// A process that appends without end and says, a line each, which seq was acknowledged. Arguments: file, thread entry.
import { writeSync } from 'node:fs';
import { openSqliteJournal } from '../../../src/runtime/sqlite-journal.ts';

const [, , file = '', entry = ''] = process.argv;
const journal = await openSqliteJournal({ file, entry: new URL(entry) });
journal.subscribe((events) => writeSync(1, `${events.at(-1)?.seq}\n`));
const first = journal.lastSeq;
for (let n = 1; ; n += 3) {
  const { durable } = journal.append(
    [n, n + 1, n + 2].map((at) => ({
      event_id: `run_child${first}#${at}`,
      run_id: `run_child${first}`,
      parent_run_id: null,
      parent_event_id: null,
      frame_id: null,
      ts: '2024-01-02T03:04:05.678Z',
      type: 'turn.started' as const,
      v: 1,
      data: { text: 'x'.repeat(at % 5000) },
    })),
  );
  if (n % 7 === 0) await durable;
  else await new Promise((resolve) => setImmediate(resolve));
}
