import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Troupe } from '../../src/host.ts';
import type { JournalEvent } from '../../src/runtime/core/event.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { gate, startModelServer } from '../support/model-server.ts';
import {
  calls,
  configOf,
  delegate,
  openStage,
  PROVIDER,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;
let heldHere = 0;

const here = defineTool({
  name: 'here',
  description: 'runs in the program itself',
  parameters: { type: 'object' },
  effect: 'read',
  run: () => {
    heldHere += 1;
    return { thread: threadId };
  },
});

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, worker: { name: 'Worker' } },
    troupe: { threads: 2, tools: [STAGE_TOOLS], hostTools: [here] },
  });
});

afterAll(() => stage.close());

function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'troupe-library-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function all(events: AsyncIterable<JournalEvent>): Promise<JournalEvent[]> {
  const seen: JournalEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe('tools of the embedder', () => {
  it('L1: a module’s tools run on actor threads and compute threads, a closure on the program’s own', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1)
          return calls({ name: 'where' }, { name: 'where_compute' }, { name: 'here' });
        read = results;
        return 'done';
      },
    });
    await stage.run('lead');
    const [actor, compute, own] = read.map((text) => JSON.parse(text));
    expect(own).toEqual({ thread: threadId });
    expect(heldHere).toBe(1);
    expect(actor.thread).not.toBe(own.thread);
    expect(compute.thread).not.toBe(own.thread);
    expect(compute.thread).not.toBe(actor.thread);
  });

  it('L1: a name that is taken, a module that is none and one without a tool are refused at the start', async () => {
    const dir = temporaryDir();
    const empty = join(dir, 'empty.mjs');
    writeFileSync(empty, 'export const nothing = 1;\n');
    const config = configOf({ agents: { lead: {} } }, 'http://127.0.0.1:9/v1');
    const open = (more: object) => Troupe.open({ config, stateDir: join(dir, 'state'), ...more });
    const named = (name: string) =>
      defineTool({
        name,
        description: 'x',
        parameters: { type: 'object' },
        effect: 'read',
        run: () => '',
      });
    for (const more of [
      { hostTools: [named('file_read')] },
      { hostTools: [named('delegate')] },
      { hostTools: [here, here] },
      { tools: [new URL(`file://${empty}`)] },
      { tools: [new URL(`file://${join(dir, 'absent.mjs')}`)] },
    ]) {
      await expect(open(more)).rejects.toMatchObject({ code: 'tool.invalid' });
    }
    const troupe = await open({});
    await troupe.close();
  });
});

describe('configuration', () => {
  it('L1: a file and an object of the same tables give the same run, and agents can be given in code alone', async () => {
    const dir = temporaryDir();
    const server = await startModelServer();
    onTestFinished(() => server.close());
    server.on(() => 'the same');
    const file = join(dir, 'troupe.toml');
    writeFileSync(
      file,
      `[providers.models.openai-compatible.local]\nbase_url = "${server.url}"\nmodel = "m"\n\n[agents.lead]\nmodel_provider = "${PROVIDER}"\nsystem_prompt = "agent:lead"\n`,
    );
    const outcomeOf = async (options: object, agent: string | object) => {
      await using troupe = await Troupe.open({ stateDir: join(dir, 'state'), ...options });
      const { answer, status } = await (
        await troupe.start({ agent, prompt: 'go', workspace: dir })
      ).result();
      return { answer, status };
    };
    const expected = { answer: 'the same', status: 'completed' };
    const agent = { model_provider: PROVIDER, system_prompt: 'agent:lead' };
    const providers = {
      models: { 'openai-compatible': { local: { base_url: server.url, model: 'm' } } },
    };
    expect(await outcomeOf({ config: file }, 'lead')).toEqual(expected);
    expect(await outcomeOf({ config: { providers, agents: { lead: agent } } }, 'lead')).toEqual(
      expected,
    );
    expect(await outcomeOf({ config: { providers }, agents: { lead: agent } }, 'lead')).toEqual(
      expected,
    );
    expect(await outcomeOf({ config: { providers } }, agent)).toEqual(expected);
    expect(server.requests.map(({ system }) => system)).toEqual(Array(4).fill('agent:lead'));
  });

  it('C1: a bad configuration is refused with every fault at once and leaves no state directory', async () => {
    const dir = temporaryDir();
    const stateDir = join(dir, 'state');
    const config = { agents: { lead: { model_provider: 'openai.none', nme: 'x' } } };
    const thrown = await Troupe.open({ config, stateDir }).catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ code: 'config.invalid' });
    expect(String(thrown)).toContain('nme');
    expect(String(thrown)).toContain('openai.none');
    expect(existsSync(stateDir)).toBe(false);
  });

  it('L2: agents() gives every configured one', () => {
    expect(
      stage.troupe
        .agents()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['lead', 'worker']);
  });
});

describe('events', () => {
  it('L2: troupe.on("event") hears every journaled event once, in order, after it is durable', async () => {
    const heard: JournalEvent[] = [];
    const late: number[] = [];
    const listen = (event: JournalEvent) => {
      heard.push(event);
      if (stage.troupe.journal.lastSeq < event.seq) late.push(event.seq);
    };
    stage.troupe.on('event', listen);
    stage.play({ lead: [delegate('worker', 'x'), 'done'], worker: 'x' });
    const { events } = await stage.run('lead');
    stage.troupe.off('event', listen);
    expect(heard).toEqual(events);
    expect(late).toEqual([]);
  });

  it('L2: events({subtree}) gives the whole story from the start, during the run and afterwards, and ends with it', async () => {
    const shut = gate();
    stage.play({
      lead: [delegate('worker', 'x'), 'done'],
      worker: async () => {
        await shut.opened;
        return 'x';
      },
    });
    const run = await stage.start('lead');
    const fromStart = all(run.events({ subtree: true }));
    const ownOnly = all(run.events());
    await stage.sees(({ type, run_id }) => type === 'model.started' && run_id !== run.id, run.id);
    const fromMiddle = all(run.events({ subtree: true }));
    shut.open();
    const { events } = await stage.end(run);
    expect(await fromStart).toEqual(events);
    expect(await fromMiddle).toEqual(events);
    expect(await ownOnly).toEqual(events.filter(({ run_id }) => run_id === run.id));
    expect(await all(run.events({ subtree: true }))).toEqual(events);
    expect(await all(run.events({ subtree: true }))).toEqual(events);
  });

  it('L2: an iteration that is left early leaves the run alone', async () => {
    stage.play({ lead: [calls({ name: 'where' }), 'done'] });
    const run = await stage.start('lead');
    for await (const event of run.events()) if (event.type === 'model.started') break;
    expect((await run.result()).status).toBe('completed');
  });

  it('L2: run(id) and tree(id) find what there is, and say so of what there is not', async () => {
    stage.play({ lead: { hang: true } });
    const run = await stage.start('lead');
    expect(stage.troupe.run(run.id)?.id).toBe(run.id);
    expect(stage.troupe.run('run_none')).toBeUndefined();
    await run.cancel();
    expect(await stage.troupe.tree(run.id)).toMatchObject({ run_id: run.id, status: 'cancelled' });
    await expect(stage.troupe.tree('run_none')).rejects.toMatchObject({ code: 'run.not-found' });
  });

  it('M4: what a model writes can be followed piece by piece', async () => {
    const pieces: string[] = [];
    const listen = ({ text }: { text: string }) => pieces.push(text);
    stage.troupe.on('delta', listen);
    stage.play({ lead: { text: ['one ', 'two ', 'three'] } });
    const { outcome } = await stage.run('lead');
    stage.troupe.off('delta', listen);
    expect(pieces.join('')).toBe('one two three');
    expect(outcome.answer).toBe('one two three');
  });
});
