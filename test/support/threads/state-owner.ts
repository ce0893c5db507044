// A process that owns a state directory until it is killed or its input ends. Arguments: path, optional user id.
import { writeSync } from 'node:fs';
import { Fault } from '../../../src/base/fault.ts';
import { openSqlite } from '../../../src/runtime/sqlite.ts';
import { openStateDir } from '../../../src/runtime/state-dir.ts';

const [, , path = '', userId] = process.argv;
openSqlite(':memory:').close();
if (userId !== undefined) process.setuid?.(Number(userId));
try {
  openStateDir(path);
  writeSync(1, 'owner\n');
  process.stdin.resume();
} catch (error) {
  writeSync(1, error instanceof Fault ? `${error.code} ${error.message}\n` : `${error}\n`);
}
