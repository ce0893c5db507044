import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Reply } from '../support/model-server.ts';
import { calls, openStage, STAGE_TOOLS } from '../support/troupe-fixture.ts';

const KEY = 'sk-live-4f9a0c27d1e84b6c9d2a';

/** Every file below a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('secrets', () => {
  it('C6: a key from the environment reaches its server and nothing else: no journal, event, error, log or result file', async () => {
    process.env['TROUPE_TEST_KEY'] = KEY;
    onTestFinished(() => {
      delete process.env['TROUPE_TEST_KEY'];
    });
    const said: unknown[] = [];
    const stage = await openStage({
      agents: { lead: {} },
      provider: { api_key_env: 'TROUPE_TEST_KEY', max_retries: 0 },
      troupe: { threads: 1, tools: [STAGE_TOOLS], onLog: (level, text) => said.push(level, text) },
    });
    onTestFinished(() => stage.drop());
    stage.troupe.on('event', (event) => said.push(event));
    stage.troupe.on('delta', (delta) => said.push(delta));
    const echo = { message: `bad key ${KEY}`, type: KEY, code: KEY, param: KEY };
    const replies: Reply[] = [
      { status: 401, body: { error: echo } },
      { status: 400, body: { error: echo } },
      { status: 500, body: `<html>${KEY}</html>` },
      { status: 302, headers: { location: `http://127.0.0.1:9/?key=${KEY}` }, body: '' },
      { status: 200, body: { error: echo } },
      { text: 'so far', errorFrame: { error: echo } },
      { text: 'so far', rawFrame: `{"error": "${KEY}"` },
      { drop: true },
    ];
    for (const reply of replies) {
      stage.play({ lead: reply });
      const { outcome } = await stage.run('lead');
      said.push(outcome);
      expect(outcome.status).toBe('failed');
    }
    stage.play({ lead: [calls({ name: 'long', args: { count: 100_000 } }), 'done'] });
    const { outcome } = await stage.run('lead');
    said.push(outcome, await stage.troupe.runs());
    expect(stage.server.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(said)).not.toContain(KEY);
    const files = filesBelow(stage.troupe.stateDir);
    expect(files.some((file) => file.endsWith('journal.db'))).toBe(true);
    expect(files.some((file) => file.includes('results'))).toBe(true);
    for (const file of files) expect(readFileSync(file).includes(KEY), file).toBe(false);
    await stage.troupe.close();
    for (const file of filesBelow(stage.troupe.stateDir)) {
      expect(readFileSync(file).includes(KEY), file).toBe(false);
    }
  });

  it('C6: a key in the configuration is refused without being repeated', async () => {
    const open = openStage({ agents: { lead: {} }, provider: { api_key: KEY } });
    const thrown = await open.then(
      () => null,
      (fault: unknown) => fault,
    );
    expect(thrown).toMatchObject({ code: 'config.invalid' });
    expect(`${thrown} ${JSON.stringify(thrown)}`).not.toContain(KEY);
  });
});
