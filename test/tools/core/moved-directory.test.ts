import { describe, expect, it } from 'vitest';
import { plainScope } from '../../../src/runtime/core/tool.ts';
import { judgeCommand } from '../../../src/tools/core/command-line.ts';
import { judgePath } from '../../../src/tools/core/path-scope.ts';

const scope = {
  allowed: ['cd', 'pushd', 'echo', 'tee', 'ls', 'builtin', 'env', 'git', 'npm', 'npx'],
  envPassthrough: [],
  timeoutMs: 1000,
  blockHighRisk: true,
};

const files = plainScope('/ws', true);

describe('X1: ways round the judgement of paths and programs', () => {
  it.each([
    'cd .. && echo hacked | tee -a troupe.toml',
    'cd ..; tee x',
    'pushd .. && ls',
    'builtin cd .. && tee x',
    'ls && cd sub && ls',
  ])('a command that stands elsewhere than the workspace is refused: %s', (line) => {
    const judged = judgeCommand(scope, line);
    expect(judged.ok).toBe(false);
  });

  it('a directory changed for nobody harms nobody', () => {
    expect(judgeCommand(scope, 'cd sub').ok).toBe(true);
  });

  it.each(['npx cowsay', 'npm exec id', 'npm x id'])(
    'a runner of any program is of high risk: %s',
    (line) => {
      expect(judgeCommand(scope, line).ok).toBe(false);
    },
  );

  it.each(['/ws/.git/config', '/ws/sub/.git/hooks/pre-commit', '/ws/.git'])(
    'what decides what git runs is not written: %s',
    (path) => {
      expect(judgePath(files, path, 'write')).toMatchObject({ ok: false, reason: 'protected' });
      expect(judgePath(files, path, 'read').ok).toBe(true);
    },
  );

  it('files whose names only begin so are written', () => {
    expect(judgePath(files, '/ws/.gitignore', 'write').ok).toBe(true);
    expect(judgePath(files, '/ws/.github/x.yml', 'write').ok).toBe(true);
  });
});
