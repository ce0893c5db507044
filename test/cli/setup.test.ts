import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCli } from '../support/cli-fixture.ts';

describe('troupe agents', () => {
  it('A1: lists the agents, and whom one of them may delegate to, without starting a host', async () => {
    const stage = await openCli();
    const all = await stage.cli('agents');
    expect(all.out.split('\n')[0]).toMatch(
      /^AGENT +NAME +MODEL +PROJECT +RISK PROFILE +DELEGATES +PURPOSE$/,
    );
    const roster = JSON.parse((await stage.cli('agents', '--from', 'lead', '--json')).out);
    expect(roster).toMatchObject([
      { agent_id: 'puppet', model: 'scripted (no language model)', can_delegate: true },
      { agent_id: 'quick', model: 'openai-compatible.local/m' },
      { agent_id: 'worker' },
    ]);
    expect(existsSync(join(stage.dir, '.troupe'))).toBe(false);
  });

  it('G2: where delegation is refused the list is empty and stderr says why', async () => {
    const stage = await openCli();
    const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
    stage.write('troupe.toml', config.replace('mode = "allow"', 'mode = "forbidden"'));
    const { code, out, err } = await stage.cli('agents', '--from', 'lead', '--json');
    expect({ code, out }).toEqual({ code: 0, out: '[]\n' });
    expect(err).toContain('delegation is forbidden for caller "lead" by risk profile "p"');
  });

  it('an unknown agent names those there are', async () => {
    const stage = await openCli();
    const { code, err } = await stage.cli('agents', '--from', 'x');
    expect({ code, err }).toMatchObject({
      code: 2,
      err: "error: Unknown agent 'x'. Available agents: lead, worker, quick, puppet\n",
    });
  });
});

describe('troupe check and init', () => {
  it('K3: init writes a configuration that check accepts, and never writes over one', async () => {
    const stage = await openCli();
    expect(await stage.cli('init', '--config', 'new.toml')).toMatchObject({ code: 0, out: '' });
    const check = await stage.cli('check', '--config', 'new.toml');
    expect(check).toEqual({ code: 0, out: 'new.toml: 0 faults, 0 warnings; 2 agents\n', err: '' });
    stage.write('new.toml', '# mine');
    const again = await stage.cli('init', '--config', 'new.toml');
    expect(again.code).toBe(2);
    expect(again.err).toContain('new.toml exists already');
    expect(readFileSync(join(stage.dir, 'new.toml'), 'utf8')).toBe('# mine');
  });

  it('C1: check prints every fault and warning with its place and exits 1 only for faults', async () => {
    const stage = await openCli();
    stage.write(
      'bad.toml',
      '[risk_profiles.p]\nautonomy = "wild"\n[runtime_profiles.r]\nmax_turn = 3\n[mcp_servers.m]\ncommand = "m"\n',
    );
    const { code, out, err } = await stage.cli('check', '--config', 'bad.toml');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^error: bad\.toml:2:\d+ risk_profiles\.p\.autonomy: .*supervised/m);
    expect(out).toMatch(/^error: bad\.toml:4:\d+ runtime_profiles\.r\.max_turn: .*max_turns/m);
    expect(out).toMatch(/^warning: bad\.toml:5:\d+ mcp_servers\.m/m);
    expect(out).toMatch(/^bad\.toml: 2 faults, 1 warning$/m);
    const json = await stage.cli('check', '--config', 'bad.toml', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ faults: [{}, {}], warnings: [{}] });
  });

  it('warnings alone exit 0', async () => {
    const stage = await openCli();
    const config = readFileSync(join(stage.dir, 'troupe.toml'), 'utf8');
    stage.write('troupe.toml', `${config}\n[mcp_servers.m]\ncommand = "m"\n`);
    expect(await stage.cli('check')).toMatchObject({ code: 0 });
  });
});

describe('commands', () => {
  it('help lists what there is and nothing that comes later', async () => {
    const stage = await openCli();
    const { code, out, err } = await stage.cli('--help');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const name of [
      'run',
      'ps',
      'tree',
      'log',
      'note',
      'cancel',
      'approvals',
      'approve',
      'deny',
      'cron',
      'agents',
      'check',
    ]) {
      expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    }
    expect(out).not.toMatch(/^ {2}serve\b/m);
  });

  it.each(['serve'])('%s comes with a later version', async (name) => {
    const stage = await openCli();
    const { code, out, err } = await stage.cli(name, 'x', '--any');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(new RegExp(`^error: \`troupe ${name}\` comes with a later version; `));
  });

  it('K1: an unknown command exits 2 and suggests the nearest one', async () => {
    const stage = await openCli();
    const { code, err } = await stage.cli('cancle', 'run_x');
    expect(code).toBe(2);
    expect(err).toContain("unknown command 'cancle'");
    expect(err).toContain('Did you mean cancel?');
  });

  it('without a command it shows its help on stderr and exits 2', async () => {
    const stage = await openCli();
    const { code, out, err } = await stage.cli();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: troupe');
  });

  it('global options stand before or behind the command', async () => {
    const stage = await openCli();
    const before = await stage.cli('--json', '--config', 'troupe.toml', 'agents');
    expect(before).toEqual(await stage.cli('agents', '--config', 'troupe.toml', '--json'));
    expect((await stage.cli('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
