// Result files of background tasks (SPEC D9): an export for people and other programs, never read as the truth.
// I1  A file is replaced in one step, in a directory that is opened as what it is: no symlink is followed, so nothing is
//     written outside of the workspace whatever was swapped meanwhile.
// I2  A state that is a last one stays.
import { join } from 'node:path';
import type { TaskRecord } from './runtime/core/task-record.ts';
import { plainScope } from './runtime/core/tool.ts';
import { openRealFile } from './tools/open-real.ts';
import { writeRealFile } from './tools/write-real.ts';

/** @returns why it could not be written; `null` where it was, or had not to be. */
export async function writeTaskFile(
  resultsDir: string,
  record: TaskRecord,
  how: 'make' | 'amend',
): Promise<string | null> {
  const real = join(resultsDir, `${record.task_id}.json`);
  const written = await statusIn(real);
  if (written === null ? how === 'amend' : written !== 'running') return null; // I2
  const content = new TextEncoder().encode(`${JSON.stringify(record, null, 2)}\n`);
  const target = { path: real, real, exists: written !== null };
  // The one directory that may be made on the way.
  const within = plainScope(resultsDir, true);
  const done = await writeRealFile([within], target, real, content, record.task_id);
  return done.ok ? null : done.error;
}

/** What the file says now; `null` where there is none, `running` where it says nothing that could be understood. */
async function statusIn(real: string): Promise<string | null> {
  const opened = await openRealFile(real, real, null);
  if (!opened.ok) return opened.errorType === 'not_found' ? null : 'running';
  const { handle } = opened.value;
  try {
    const { status } = JSON.parse(await handle.readFile('utf8')) as { readonly status?: unknown };
    return typeof status === 'string' ? status : 'running';
  } catch {
    return 'running';
  } finally {
    await handle.close();
  }
}
