import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';

const PATH = "split: 'the full text is in ' | last | split: ' ...]' | first";

const WORDS = `
agents:
  lead:
    turns:
      - calls: [{ tool: file_read, args: { path: big.txt } }]
      - calls: [{ tool: file_read, args: { path: "{{ results[0].text | ${PATH} }}", offset_lines: 2999, limit_lines: 1 } }]
      - calls: [{ tool: delegate, args: { agent_id: other, prompt: "{{ calls['turn-1/call-1'].text | ${PATH} }}" } }]
      - text: "{{ calls['turn-2/call-1'].is_error }} {{ calls['turn-2/call-1'].text }} / {{ results[0].text }}"
  other:
    turns:
      - calls: [{ tool: file_read, args: { path: "{{ prompt }}" } }]
      - text: "other read it: {% if results[0].is_error %}no{% else %}yes{% endif %}"
`;

describe('R12: a result that is cut', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'troupe-results-'));
    mkdirSync(join(dir, 'work'));
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at + 1} of the big file`);
    writeFileSync(join(dir, 'work/big.txt'), lines.join('\n'));
    writeFileSync(join(dir, 'words.yaml'), WORDS);
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('can be read whole by its own run from where the mark says, and by no other run', async () => {
    const agent = { model_provider: 'scripted.s', risk_profile: 'p' };
    await using troupe = await Troupe.open({
      config: {
        providers: { models: { scripted: { s: { file: join(dir, 'words.yaml') } } } },
        risk_profiles: { p: { autonomy: 'read_only', delegation_policy: { mode: 'allow' } } },
        agents: { lead: agent, other: agent },
      },
      stateDir: join(dir, 'state'),
    });
    const workspace = join(dir, 'work');
    const outcome = await (await troupe.start({ agent: 'lead', prompt: 'go', workspace })).result();
    expect(outcome.error).toBeUndefined();
    expect(outcome.answer).toContain('false ');
    expect(outcome.answer).toContain('line 3000 of the big file');
    expect(outcome.answer).toContain('other read it: no');
  });
});
