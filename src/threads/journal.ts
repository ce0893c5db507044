import { workerData } from 'node:worker_threads';
import { type JournalWriterOptions, startJournalWriter } from '../runtime/journal-writer.ts';

startJournalWriter(workerData as JournalWriterOptions);
