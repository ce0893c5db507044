import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Troupe } from '../../src/host.ts';

const CONFIG = `
[providers.models.scripted.s]
file = "words.yaml"
[risk_profiles.small]
autonomy = "full"
[agents.other]
model_provider = "scripted.s"
system_prompt_file = "prompt.txt"
`;

const AGENT = `---
model_provider: scripted.s
risk_profile: small
---
I write.
`;

const WORDS = `
agents:
  writer:
    turns:
      - calls:
          - tool: file_write
            each: "{{ prompt | split: ',' }}"
            args: { path: "{{ item }}", content: mine now }
      - text: "{% for r in results %}{{ r.is_error }} {% endfor %}"
`;

describe('X1: what troupe is configured from', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'troupe-own-'));
    mkdirSync(join(dir, 'agents'));
    writeFileSync(join(dir, 'troupe.toml'), CONFIG);
    writeFileSync(join(dir, 'agents/writer.md'), AGENT);
    writeFileSync(join(dir, 'words.yaml'), WORDS);
    writeFileSync(join(dir, 'prompt.txt'), 'be kind');
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('can be written by no tool of an agent that works beside it, while other files can', async () => {
    const targets = [
      'troupe.toml',
      'agents/writer.md',
      'agents/evil.md',
      'words.yaml',
      'prompt.txt',
      'notes.md',
    ];
    await using troupe = await Troupe.open({
      config: join(dir, 'troupe.toml'),
      stateDir: join(dir, 'state'),
    });
    const run = await troupe.start({ agent: 'writer', prompt: targets.join(',') });
    const { answer } = await run.result();
    expect(answer.trim().split(' ')).toEqual(['true', 'true', 'true', 'true', 'true', 'false']);
    expect(readFileSync(join(dir, 'troupe.toml'), 'utf8')).toBe(CONFIG);
    expect(readFileSync(join(dir, 'agents/writer.md'), 'utf8')).toBe(AGENT);
    expect(existsSync(join(dir, 'agents/evil.md'))).toBe(false);
    expect(readFileSync(join(dir, 'notes.md'), 'utf8')).toBe('mine now');
  });
});
