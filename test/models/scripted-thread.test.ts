import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { entryOf, type ModelThread, startModelThread, user } from './model-client.ts';

let folder: string;
let thread: ModelThread | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-scenario-'));
});

afterEach(async () => {
  await thread?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(file: string) {
  thread = startModelThread([entryOf('scripted', { file })]);
  const client = thread.connect();
  client.open('run_1', 'scripted.local');
  return client;
}

it('a scenario file is played through the model thread, streamed and to its end', async () => {
  const file = join(folder, 'demo.yaml');
  await writeFile(
    file,
    'agents: { lead: { turns: [{ text: "You said {{ prompt }}", stream: true }] } }',
  );
  const client = start(file);
  const answer = await client.answer('run_1', 1, [user('hello')]);
  expect(answer).toMatchObject({
    text: 'You said hello',
    servedBy: 'scripted (no language model)',
  });
  expect(client.deltas('run_1').join('')).toBe(answer.text);
  const over = await client.fault('run_1', 2, [
    { role: 'assistant', text: answer.text, calls: [] },
  ]);
  expect(over).toMatchObject({ code: 'scenario.invalid' });
});

it('a scenario file that is not there is named', async () => {
  const file = join(folder, 'absent.yaml');
  const fault = await start(file).fault('run_1', 1, [user('hello')]);
  expect(fault.code).toBe('scenario.invalid');
  expect(fault.message).toContain(`scenario ${file}: cannot be read: ENOENT`);
});

it('an abort ends a scripted wait', async () => {
  const file = join(folder, 'slow.yaml');
  await writeFile(file, 'agents: { lead: { turns: [{ text: late, wait_ms: 3600000 }] } }');
  const client = start(file);
  const asked = client.fault('run_1', 1, [user('hello')]);
  client.send({ kind: 'abort', runId: 'run_1', turn: 1 });
  expect((await asked).code).toBe('model.aborted');
});
