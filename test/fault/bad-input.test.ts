import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/start-request.ts';
import { calls, ofType, openStage, type Stage } from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: {
      lead: { name: 'The Lead' },
      off: { enabled: false },
      red: { project: 'red' },
      twin1: { name: 'Twin' },
      twin2: { name: 'twin' },
    },
    blocks: { projects: { red: {}, blue: {} } },
    troupe: { threads: 1 },
  });
});

afterAll(() => stage.close());

describe('a start that asks for what cannot be', () => {
  const cases: [string, object, string, RegExp][] = [
    ['no agent', { prompt: 'go' }, 'argument.invalid', /'agent'/],
    ['an unknown agent', { agent: 'nobody', prompt: 'go' }, 'agent.not-found', /lead.*red|lead/],
    [
      'an agent of another project',
      { agent: 'red', prompt: 'go', project: 'blue' },
      'agent.not-found',
      /Unknown agent 'red'/,
    ],
    [
      'an unknown project',
      { agent: 'lead', prompt: 'go', project: 'none' },
      'argument.invalid',
      /none.*red, blue/,
    ],
    ['a disabled agent', { agent: 'off', prompt: 'go' }, 'agent.unusable', /disabled/],
    ['an empty prompt', { agent: 'lead', prompt: ' \n\t' }, 'argument.invalid', /prompt/],
    ['no prompt', { agent: 'lead' }, 'argument.invalid', /prompt/],
    ['a number for a prompt', { agent: 'lead', prompt: 5 }, 'argument.invalid', /prompt.*5/],
    ['a number for an agent', { agent: 5, prompt: 'go' }, 'argument.invalid', /agent.*5/],
    ['null for an agent', { agent: null, prompt: 'go' }, 'argument.invalid', /agent.*null/],
    ['no turns', { agent: 'lead', prompt: 'go', maxTurns: 0 }, 'argument.invalid', /maxTurns/],
    ['half a turn', { agent: 'lead', prompt: 'go', maxTurns: 1.5 }, 'argument.invalid', /maxTurns/],
    [
      'no number of turns',
      { agent: 'lead', prompt: 'go', maxTurns: Number.NaN },
      'argument.invalid',
      /maxTurns/,
    ],
    [
      'a signal that is none',
      { agent: 'lead', prompt: 'go', signal: {} },
      'argument.invalid',
      /signal/,
    ],
    [
      'an unknown key',
      { agent: 'lead', prompt: 'go', promt: 'x' },
      'argument.invalid',
      /promt.*prompt/,
    ],
    [
      'an absent workspace',
      { agent: 'lead', prompt: 'go', workspace: '/no/such/place' },
      'argument.invalid',
      /does not exist/,
    ],
    [
      'an inline agent without a model',
      { agent: {}, prompt: 'go' },
      'config.invalid',
      /model_provider/,
    ],
    [
      'an inline agent with a bad key',
      { agent: { model_provider: 'openai-compatible.local', nme: 'x' }, prompt: 'go' },
      'config.invalid',
      /nme.*name/,
    ],
    [
      'a list of rules for files',
      { agent: 'lead', prompt: 'go', files: [] },
      'argument.invalid',
      /files/,
    ],
    [
      'rules for files of a wrong type',
      { agent: 'lead', prompt: 'go', files: { forbidden: 'x' } },
      'argument.invalid',
      /forbidden/,
    ],
    [
      'an unknown rule for files',
      { agent: 'lead', prompt: 'go', files: { forbiden: [] } },
      'argument.invalid',
      /forbiden/,
    ],
    [
      'an ambiguous display name',
      { agent: 'TWIN', prompt: 'go' },
      'agent.not-found',
      /ambiguous.*twin1, twin2/,
    ],
  ];

  it.each(cases)(
    '%s: is refused in words, and nothing is journaled',
    async (_name, request, code, words) => {
      const before = (await stage.events()).length;
      const thrown = await stage.troupe.start(request as StartRequest).then(
        () => null,
        (fault: unknown) => fault,
      );
      expect(thrown).toMatchObject({ code });
      expect(String(thrown)).toMatch(words);
      expect((await stage.events()).length).toBe(before);
    },
  );

  it('G5: a display name starts its agent whatever its case', async () => {
    stage.play({ lead: 'hello' });
    expect((await stage.run('the LEAD')).outcome.answer).toBe('hello');
  });

  it('an object of another making, with only the known keys, is taken', async () => {
    stage.play({ lead: 'hello' });
    const request = Object.assign(Object.create(null), { agent: 'lead', prompt: 'go' });
    const run = await stage.troupe.start({ ...request, workspace: stage.dir });
    expect((await run.result()).status).toBe('completed');
  });
});

describe('paths', () => {
  it('X1: neither a symlink nor dots nor an absolute path lead a tool out of the workspace or to the state directory', async () => {
    const work = join(stage.dir, 'work');
    mkdirSync(work);
    writeFileSync(join(stage.dir, 'outside.txt'), 'SECRET');
    writeFileSync(join(work, 'inside.txt'), 'fine');
    symlinkSync(stage.dir, join(work, 'up'));
    symlinkSync(join(stage.dir, 'new.txt'), join(work, 'leaf'));
    let read: readonly string[] = [];
    const paths = [
      'up/outside.txt',
      '../outside.txt',
      join(stage.dir, 'outside.txt'),
      'inside.txt',
    ];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            ...paths.map((path) => ({ name: 'file_read', args: { path } })),
            { name: 'file_write', args: { path: 'leaf', content: 'x' } },
            { name: 'file_write', args: { path: 'up/state/journal.db', content: 'x' } },
          );
        }
        read = results;
        return 'done';
      },
    });
    const { outcome, events } = await stage.run('lead', 'go', { workspace: work });
    expect(outcome).toMatchObject({ status: 'completed', effect: 'none' });
    expect(read.join()).not.toContain('SECRET');
    expect(read[3]).toContain('fine');
    const types = ofType(events, 'tool.failed').map(({ data }) => data['error_type']);
    expect(types.sort()).toEqual([...Array(4).fill('outside_scope'), 'protected_path']);
  });

  it('X1: a workspace given through a symlink is the folder that it leads to, and still a wall', async () => {
    const real = join(stage.dir, 'real');
    mkdirSync(real);
    writeFileSync(join(real, 'inside.txt'), 'fine');
    writeFileSync(join(stage.dir, 'beside.txt'), 'SECRET');
    symlinkSync(real, join(stage.dir, 'link'));
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            { name: 'file_read', args: { path: 'inside.txt' } },
            { name: 'file_read', args: { path: '../beside.txt' } },
          );
        }
        read = results;
        return 'done';
      },
    });
    await stage.run('lead', 'go', { workspace: join(stage.dir, 'link') });
    expect(read[0]).toContain('fine');
    expect(read[1]).not.toContain('SECRET');
  });

  it('X1, R9: rules that name a symlink hold for what it leads to: forbidden paths, allowed roots, the initiator’s own', async () => {
    const folders = ['vault', 'attic', 'cellar', 'home'].map((name) =>
      join(stage.dir, 'rules', name),
    );
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'file.txt'), `text of ${folder}`);
      symlinkSync(folder, `${folder}-link`);
    }
    const [vault = '', attic = '', cellar = '', home = ''] = folders;
    const agent = (risk: object) =>
      openStage({ agents: { lead: {} }, risk, troupe: { threads: 1 } });
    const ruled = await agent({
      allowed_roots: [join(stage.dir, 'rules')],
      forbidden_paths: [`${vault}-link`],
    });
    const rooted = await agent({ allowed_roots: [`${attic}-link`] });
    const readOf = async (on: Stage, path: string, files: object = {}): Promise<string> => {
      let read = '';
      on.play({
        lead: ({ turn, results }) => {
          if (turn === 1) return calls({ name: 'file_read', args: { path } });
          read = results[0] ?? '';
          return 'done';
        },
      });
      await on.run('lead', 'go', { workspace: home, files });
      return read;
    };
    const words = (folder: string) => `text of ${folder}`;
    expect(await readOf(ruled, `${vault}-link/file.txt`)).not.toContain(words(vault));
    expect(await readOf(ruled, `${vault}/file.txt`)).not.toContain(words(vault));
    expect(await readOf(ruled, `${cellar}/file.txt`)).toContain(words(cellar));
    const files = { forbidden: [`${cellar}-link`] };
    expect(await readOf(ruled, `${cellar}/file.txt`, files)).not.toContain(words(cellar));
    expect(await readOf(ruled, `${cellar}-link/file.txt`, files)).not.toContain(words(cellar));
    expect(await readOf(rooted, `${attic}-link/file.txt`)).toContain(words(attic));
    expect(await readOf(rooted, `${cellar}/file.txt`)).not.toContain(words(cellar));
    await ruled.close();
    await rooted.close();
  });
});
