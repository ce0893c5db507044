// The journal's thread, but it dies: at once where the file is named so, else when it is woken the second time.
import { workerData } from 'node:worker_threads';
import {
  type JournalWriterOptions,
  startJournalWriter,
} from '../../../src/runtime/journal-writer.ts';

const options = workerData as JournalWriterOptions;
if (options.file.endsWith('dies-at-once.db')) throw new Error('no heart to begin');
let woken = 0;
options.port.on('message', () => {
  woken += 1;
  if (woken === 2) process.exit(3);
});
startJournalWriter(options);
