import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../src/runtime/sqlite.ts';
import { startModelServer } from '../support/model-server.ts';
import { calls, delegation, ofType, openStage, STAGE_TOOLS } from '../support/troupe-fixture.ts';

/** One of each shape: by a vendor's prefix, plain words, with characters that are escaped in JSON, URLs and headers. */
const KEYS = {
  TROUPE_TEST_LOCAL: 'sk-live-2b7e151628aed2a6abf7',
  TROUPE_TEST_DEAD: 'correct horse battery staple',
  TROUPE_TEST_ODD: 'k"e\\y+/=&%25',
} as const;
/** In the addresses of servers; known to nobody but the configuration. */
const IN_PATH = 'path-secret-8d969eef6ecad3c2';

const shapesOf = (key: string): string[] => [
  key,
  JSON.stringify(key).slice(1, -1),
  encodeURIComponent(key),
  Buffer.from(key).toString('base64'),
];
const FORMS = [...Object.values(KEYS), IN_PATH].flatMap(shapesOf);

function leaksIn(text: string): string[] {
  return FORMS.filter((form) => text.includes(form));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Every table of a database, row by row: a value may cross a page, where a search in the bytes would miss it. */
function rowsIn(path: string): string {
  const database = openSqlite(path, { readonly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT * FROM "${String(name)}"`)
        .all()
        .map((row) => Object.values(row).map(String).join('\n')),
    );
    return rows.join('\n');
  } finally {
    database.close();
  }
}

it('C6: no key is in the journal, a log, an event, an error, a result file, a child’s environment or an answer of a whole tree', async () => {
  Object.assign(process.env, KEYS);
  onTestFinished(() => {
    for (const name of Object.keys(KEYS)) delete process.env[name];
  });
  const bad = await startModelServer();
  onTestFinished(() => bad.close());
  const said: unknown[] = [];
  const agent = (provider: string) => ({ model_provider: `openai-compatible.${provider}` });
  const entry = (url: string, key: string) => ({
    base_url: url,
    model: 'm',
    api_key_env: key,
    max_retries: 1,
  });
  const stage = await openStage({
    agents: {
      lead: {},
      worker: {},
      later: {},
      dead: agent('dead'),
      odd: agent('odd'),
      lost: agent('lost'),
    },
    provider: { api_key_env: 'TROUPE_TEST_LOCAL', max_retries: 0 },
    moreProviders: {
      dead: entry(`http://127.0.0.1:9/${IN_PATH}/v1`, 'TROUPE_TEST_DEAD'),
      odd: entry(bad.url, 'TROUPE_TEST_ODD'),
      lost: entry(`${bad.url}/${IN_PATH}`, 'TROUPE_TEST_DEAD'),
    },
    risk: { allowed_commands: ['env', 'cat', 'sh', 'ps', 'printenv'] },
    troupe: {
      threads: 1,
      tools: [STAGE_TOOLS],
      onLog: (...entry) => said.push(entry),
    },
  });
  onTestFinished(() => stage.drop());
  stage.troupe.on('event', (event) => said.push(event));
  stage.troupe.on('delta', (delta) => said.push(delta));
  const work = join(stage.dir, 'work');
  mkdirSync(work);
  const odd = KEYS.TROUPE_TEST_ODD;
  bad.on(({ index }) => {
    const echo = {
      error: { message: `no access with ${odd}`, type: odd, code: odd, url: `/?key=${odd}` },
    };
    return index % 2 === 0
      ? {
          status: 429,
          headers: { 'retry-after': '0', 'x-echo': encodeURIComponent(odd) },
          body: echo,
        }
      : { status: 500, body: `<html>${odd} ${encodeURIComponent(odd)} ${IN_PATH}</html>` };
  });
  const shell = (command: string) => ({ name: 'shell', args: { command } });
  let read: readonly string[] = [];
  stage.play({
    lead: ({ turn, results }) => {
      read = [...read, ...results];
      if (turn === 1) {
        return calls(
          delegation('worker', 'part'),
          delegation('later', 'part', { background: true }),
          ...['dead', 'odd', 'lost'].map((id) => delegation(id, 'part')),
          shell('env'),
          shell('printenv TROUPE_TEST_LOCAL'),
          shell('cat /proc/self/environ'),
          shell('cat /proc/$PPID/environ'),
          shell('ps e'),
          shell('sh -c "env; cat /proc/1/environ"'),
          { name: 'file_read', args: { path: '/proc/self/environ' } },
          { name: 'long', args: { count: 200_000 } },
          { name: 'throws_text', args: {} },
        );
      }
      return turn === 2 ? calls({ name: 'delegate', args: { action: 'list_results' } }) : 'done';
    },
    worker: [calls(shell('env'), { name: 'long', args: { count: 100_000 } }), 'worked'],
    later: [calls(shell('env')), 'worked later'],
  });
  const { run, outcome, events } = await stage.run('lead', 'go', { workspace: work });
  said.push(outcome, read, events, await stage.troupe.runs(), await stage.troupe.tree(run.id));
  const kept = (): string[] => [...filesBelow(stage.troupe.stateDir), ...filesBelow(work)];
  await stage.quiet();
  said.push(await stage.events());
  // The keys did travel, and what could show them did happen.
  const sent = [...stage.server.requests, ...bad.requests].map(
    ({ headers }) => headers.authorization,
  );
  expect(sent).toContain(`Bearer ${KEYS.TROUPE_TEST_LOCAL}`);
  expect(sent).toContain(`Bearer ${odd}`);
  expect(outcome.status).toBe('completed');
  expect(ofType(events, 'delegation.failed').length).toBe(3);
  expect(read.join('\n')).toContain('HOME=');
  expect(kept().some((file) => file.includes('results'))).toBe(true);
  expect(kept().some((file) => file.includes('delegate_results'))).toBe(true);
  expect(kept().some((file) => file.endsWith('-wal'))).toBe(true);
  const check = (): void => {
    for (const file of kept())
      expect([file, ...leaksIn(readFileSync(file, 'latin1'))]).toEqual([file]);
  };
  expect(leaksIn(JSON.stringify(said))).toEqual([]);
  check();
  const rows = rowsIn(join(stage.troupe.stateDir, 'journal.db'));
  expect(rows).toContain(run.id);
  expect(leaksIn(rows)).toEqual([]);
  await stage.troupe.close();
  check();
  expect(leaksIn(rowsIn(join(stage.troupe.stateDir, 'journal.db')))).toEqual([]);
});
