import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Troupe } from '../../src/host.ts';
import { type BuiltPackage, buildPackage } from '../support/built-package.ts';
import {
  MORTAL_TOOLS,
  type Model,
  openSite,
  type Script,
  type Site,
  STAGE_TOOLS,
} from '../support/crash-host.ts';
import type { SeenRequest } from '../support/model-server.ts';
import { audit } from '../support/sim-world.ts';
import {
  calls,
  delegation,
  eventually,
  ofRun,
  ofType,
  type StageOptions,
} from '../support/troupe-fixture.ts';

let built: BuiltPackage;

beforeAll(async () => {
  built = await buildPackage();
}, 120_000);

afterAll(() => built.remove());

const TOOLS = [MORTAL_TOOLS, STAGE_TOOLS];

/** A host that was killed as its script says. */
async function killed(
  options: StageOptions,
  model: (moment: Parameters<Model>[0], site: Site) => ReturnType<Model>,
  script: Script,
): Promise<Site> {
  const site: Site = await openSite(built, options, (moment) => model(moment, site), TOOLS);
  expect(await site.play(script)).toBe('killed');
  site.isDead = true;
  return site;
}

/** Takes a site up in this process until every run has ended. */
async function finish(site: Site, options: Parameters<Site['open']>[0] = {}): Promise<void> {
  const troupe = await site.open({ ...options, resume: true });
  await drained(troupe);
  audit(site.events());
}

async function drained(troupe: Troupe): Promise<void> {
  try {
    const ids = (await troupe.runs()).filter(({ ended_at }) => ended_at === null);
    await Promise.all(ids.map(({ run_id }) => troupe.run(run_id)?.result()));
  } finally {
    await troupe.close();
  }
}

const GO = { start: [{ agent: 'lead', prompt: 'go' }] };

describe('a run that is taken up again', () => {
  it('G3, J5: at the depth limit is still not offered to delegate, and is refused when it tries', async () => {
    const asked: SeenRequest[] = [];
    let told = '';
    const site = await killed(
      { agents: { lead: {}, worker: {} }, runtime: { max_delegation_depth: 1 } },
      ({ agent, turn, results, request }, here) => {
        if (agent === 'lead') return turn === 1 ? calls(delegation('worker', 'dig')) : 'done';
        if (!here.isDead) return { hang: true };
        asked.push(request);
        if (turn === 1) return calls(delegation('worker', 'deeper'));
        told = results[0] ?? '';
        return 'dug';
      },
      { ...GO, when: [{ type: 'model.started', has: '/delegate/01', do: 'die' }] },
    );
    await finish(site);
    expect(told).toBe('Delegation depth limit reached (1/1)');
    expect(asked.at(-1)?.tools).not.toContain('delegate');
    expect(ofType(site.events(), 'run.started')).toHaveLength(2);
  });

  it('R11, J5: has launched what it had launched, queued delegations of the lost host included', async () => {
    let refused = '';
    const site = await killed(
      {
        agents: { lead: {}, worker: {} },
        runtime: { max_delegation_width: 1 },
        blocks: { runtime: { max_runs_per_root: 2 } },
      },
      ({ agent, turn, results }) => {
        if (agent === 'worker') return 'my part';
        if (turn === 1) return calls(delegation('worker', 'one'), delegation('worker', 'two'));
        if (turn === 2) return calls(delegation('worker', 'three'));
        refused = results[0] ?? '';
        return 'done';
      },
      { ...GO, when: [{ type: 'delegation.started', do: 'die' }] },
    );
    await finish(site);
    expect(refused).toContain('has launched 2 of 2 runs');
    const children = ofType(site.events(), 'run.started').map(({ run_id }) => run_id.slice(-2));
    expect(children.slice(1)).toEqual(['01', '02']);
  });

  it('X2, J5: an action that was in flight when its host died stays charged, once', async () => {
    let read: readonly string[] = [];
    const site = await killed(
      { agents: { lead: {} }, risk: { max_actions_per_hour: 2 } },
      ({ turn, results }, here) => {
        const dies = { log: here.file('log'), how: 'host', times: '1' };
        if (turn > 1) read = [...read, ...results];
        return turn <= 3 ? calls({ name: 'dies_acting', args: dies }) : 'done';
      },
      GO,
    );
    await finish(site);
    const results = new Set(read);
    expect([...results].map((text) => text.split(/[.:]/)[0])).toEqual([
      'Interrupted',
      'survived after 1',
      'Rate limit exceeded',
    ]);
  });

  it('X3, J5: asks again, under the same id, for an approval that nobody had given, and acts once', async () => {
    const site = await killed(
      { agents: { lead: {} }, risk: { autonomy: 'supervised' } },
      ({ turn, results }, here) => {
        const file = here.file('began');
        const act = { name: 'waits_acting', args: { began: file, until: file } };
        return turn === 1 ? calls(act) : `then: ${results[0]}`;
      },
      { ...GO, when: [{ type: 'approval.requested', do: 'die' }] },
    );
    const asked: string[] = [];
    await finish(site, {
      onApproval: (request) => {
        asked.push(`${request.tool} ${request.id}`);
        return true;
      },
    });
    const events = site.events();
    const [requested, ...more] = ofType(events, 'approval.requested');
    expect(more).toEqual([]);
    expect(asked).toEqual([`waits_acting ${requested?.event_id}`]);
    expect(ofType(events, 'approval.granted')).toHaveLength(1);
    expect(ofType(events, 'run.completed')[0]?.data).toMatchObject({ answer: 'then: waited' });
  });

  it('X3, J5: does not ask again for an approval that was given and not yet acted on', async () => {
    const act = (here: Site, name: string) => ({
      name: 'waits_acting',
      args: { began: here.file(`began-${name}`), until: here.file(`began-second`) },
    });
    const approve = { type: 'approval.requested', do: 'approve' } as const;
    let told: readonly string[] = [];
    const site = await killed(
      {
        agents: { lead: {} },
        risk: { autonomy: 'supervised' },
        runtime: { parallel_tools: false },
      },
      ({ turn, results }, here) => {
        if (turn === 1) return calls(act(here, 'first'), act(here, 'second'));
        told = results;
        return 'done';
      },
      {
        ...GO,
        when: [approve, approve, { type: 'approval.granted', has: 'turn-1/call-2', do: 'die' }],
      },
    );
    const begun = ofType(site.events(), 'tool.started').map(({ frame_id }) => frame_id);
    expect(begun).toEqual(['turn-1/call-1']);
    await finish(site, {
      onApproval: () => {
        throw new Error('it was asked again');
      },
    });
    expect(told[0]).toContain('Interrupted: the host was lost');
    expect(told[1]).toBe('waited');
    expect(ofType(site.events(), 'approval.requested')).toHaveLength(2);
  });

  it('N1, J5: reads a note that it had got and not read', async () => {
    let heard: readonly unknown[] = [];
    const site = await killed(
      { agents: { lead: {} } },
      ({ turn, request }, here) => {
        if (!here.isDead) return { hang: true };
        if (turn === 1) return calls({ name: 'say', args: { text: 'x' } });
        heard = request.messages.map(({ content }) => content);
        return 'heard';
      },
      {
        ...GO,
        when: [
          { type: 'model.started', do: 'note', words: 'mind the gap' },
          { type: 'run.user_note', do: 'die' },
        ],
      },
    );
    await finish(site);
    expect(heard).toContain('mind the gap');
    expect(ofType(site.events(), 'note.read')[0]?.data).toMatchObject({ turn: 2 });
  });

  it('N2, J5: that was being cancelled ends cancelled, with all below it, and nobody is asked anything', async () => {
    const site = await killed(
      { agents: { lead: {}, worker: {} } },
      ({ agent, turn }, here) =>
        agent === 'lead' && turn === 1
          ? calls(delegation('worker', 'dig'))
          : calls({ name: 'deaf', args: { mark: here.file('mark') } }),
      {
        ...GO,
        when: [
          { type: 'tool.started', has: '"deaf"', do: 'cancel', words: 'changed my mind' },
          { type: 'run.stopping', has: 'changed my mind', do: 'die' },
        ],
      },
    );
    const asked = site.server.requests.length;
    await finish(site);
    expect(site.server.requests).toHaveLength(asked);
    const ends = ofType(site.events(), 'run.cancelled');
    expect(ends).toHaveLength(2);
    expect(ends.at(-1)?.data).toMatchObject({ reason: 'changed my mind', effect: 'uncertain' });
  });
});

describe('a recovery', () => {
  it('L2, J5: asked for twice at once takes each run up once', async () => {
    const site = await killed(
      { agents: { lead: {} } },
      (_moment, here) => (here.isDead ? 'done' : { hang: true }),
      { ...GO, when: [{ type: 'model.started', do: 'die' }] },
    );
    const troupe = await site.open();
    const [first, second] = await Promise.all([troupe.resume(), troupe.resume()]);
    expect(first).toHaveLength(1);
    expect(second).toEqual([]);
    expect(await first[0]?.result()).toMatchObject({ status: 'completed', answer: 'done' });
    expect(await troupe.resume()).toEqual([]);
    await troupe.close();
    expect(ofType(site.events(), 'run.resumed')).toHaveLength(1);
    audit(site.events());
  });
});

describe('a recovery that is killed itself', () => {
  it('J5: and repeated doubles nothing, for many runs at once', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const actsIn = (site: Site) => readFileSync(site.file('began'), 'utf8').trim().split('\n');
    const site = await killed(
      { agents: { lead: {} } },
      async ({ turn, results, prompt }, here) => {
        if (turn > 1) return `${prompt}: ${results[0]?.slice(0, 11)}`;
        if (prompt !== 'last') {
          const args = { began: here.file('began'), until: here.file('never') };
          return calls({ name: 'waits_acting', args });
        }
        await eventually(() => expect(actsIn(here)).toHaveLength(names.length));
        return calls({ name: 'say', args: { text: 'at it all' } });
      },
      {
        start: [...names, 'last'].map((prompt) => ({ agent: 'lead', prompt })),
        when: [{ type: 'tool.started', has: '"say"', do: 'die' }],
      },
    );
    expect(await site.play({ dieAfter: 1 })).toBe('killed');
    expect(await site.play({ dieAfter: 4 })).toBe('killed');
    await finish(site);
    const events = site.events();
    expect(ofType(events, 'run.started')).toHaveLength(names.length + 1);
    const answers = ofType(events, 'run.completed').map(({ data }) => data['answer']);
    const expected = [...names.map((name) => `${name}: Interrupted`), 'last: at it all'];
    expect(answers.sort()).toEqual(expected);
    expect(new Set(actsIn(site)).size, 'each acted once').toBe(names.length);
    expect(actsIn(site)).toHaveLength(names.length);
  });
});

describe('a run whose work ends the host each time', () => {
  /** Hosts until one ends by itself; `untilFile` is there from the third recovery on. @returns how many were killed. */
  async function playOut(site: Site, start: Script['start'], untilFile: string): Promise<number> {
    let deaths = 0;
    for (;;) {
      if (deaths === 3) writeFileSync(untilFile, '');
      const script = deaths === 0 && start !== undefined ? { start } : {};
      if ((await site.play(script)) === 'ended') return deaths;
      deaths += 1;
    }
  }

  it.each([
    ['a tool that reads', 'dies', 1],
    ['a tool that acts, in a new turn each time', 'dies_acting', 4],
    ['a tool that computes', 'dies_computing', 1],
  ])(
    'J5: %s: it is parked as poisoned after three recoveries, and its neighbours go on',
    async (_title, tool, turns) => {
      const options = { agents: { lead: {}, calm: {} } };
      const until = () => site.file('until');
      const site: Site = await openSite(
        built,
        options,
        ({ agent, turn, prompt }) => {
          if (agent === 'lead') {
            const args = { log: site.file('starts'), how: 'host', times: '99' };
            return calls({ name: tool, args });
          }
          if (turn > 1) return `${prompt}: unharmed`;
          return calls({ name: 'waits', args: { began: site.file('began'), until: until() } });
        },
        TOOLS,
      );
      const start = [
        { agent: 'calm', prompt: 'first' },
        { agent: 'lead', prompt: 'poison' },
        { agent: 'calm', prompt: 'last' },
      ];
      expect(await playOut(site, start, until())).toBe(4);
      const events = site.events();
      audit(events);
      const [failed, ...more] = ofType(events, 'run.failed');
      expect(more).toEqual([]);
      expect(failed?.data).toMatchObject({ error_type: 'poisoned', by: 'runtime', turns });
      expect(ofType(ofRun(events, failed?.run_id ?? ''), 'run.resumed')).toHaveLength(3);
      const answers = ofType(events, 'run.completed').map(({ data }) => data['answer']);
      expect(answers.sort()).toEqual(['first: unharmed', 'last: unharmed']);
      const starts = readFileSync(site.file('starts'), 'utf8').trim().split('\n');
      expect(starts).toHaveLength(4);
    },
    120_000,
  );

  it('J5: below a parent, fails alone, and its parent reads that and goes on', async () => {
    let read = '';
    const site: Site = await openSite(
      built,
      { agents: { lead: {}, worker: {} } },
      ({ agent, turn, results }) => {
        if (agent === 'worker') {
          return calls({
            name: 'dies',
            args: { log: site.file('starts'), how: 'host', times: '99' },
          });
        }
        read = results[0] ?? '';
        return turn === 1 ? calls(delegation('worker', 'die')) : 'went on';
      },
      TOOLS,
    );
    expect(await playOut(site, GO.start, site.file('until'))).toBe(4);
    expect(read).toMatch(/^Agent 'worker' failed: its host ended under its work 4 times/);
    const events = site.events();
    audit(events);
    expect(ofType(events, 'run.completed')[0]?.data).toMatchObject({ answer: 'went on' });
  }, 120_000);
});
