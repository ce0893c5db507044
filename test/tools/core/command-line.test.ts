import { describe, expect, test } from 'vitest';
import { judgeCommand } from '../../../src/tools/core/command-line.ts';
import { SAFE } from '../../support/command-scope.ts';

describe('X1: what an allowed list of programs lets run', () => {
  test.each([
    ['ls', 'low'],
    ['ls -la src', 'low'],
    ['  ls\t-l  ', 'low'],
    ['echo \'a; rm -rf /\' "b && c" d\\;e', 'low'],
    ['ls; cat x && echo y || echo z | grep q', 'low'],
    ['(ls; echo a) | { cat; }', 'low'],
    ['! grep -q x file', 'low'],
    ['ls & echo done', 'low'],
    ['ls\necho b', 'low'],
    ['echo a \\\n b', 'low'],
    ['echo $HOME \u0024{USER} $? "$x"', 'low'],
    ['echo {a,b} *.txt', 'low'],
    ['X=1 Y="a b" ls', 'low'],
    ['ls > out.txt 2>&1', 'medium'],
    ['ls >> out.txt', 'medium'],
    ['ls > /dev/null 2>&1', 'low'],
    ['sort < in.txt', 'low'],
    ['ls 2>/dev/null # rm -rf /', 'low'],
    ['echo a#b', 'low'],
    ['/opt/bin/tool x', 'medium'],
    ['timeout 5 ls', 'low'],
    ['timeout -s KILL -k 1 5 ls', 'low'],
    ['nice -n 10 ls', 'low'],
    ['nice -10 ls', 'low'],
    ['env A=1 ls', 'low'],
    ['env -i ls', 'low'],
    ['command -v rm', 'low'],
    ['nohup ls', 'low'],
    ["find . -name '*.ts' -exec grep -l x {} \\;", 'low'],
    ['find . -type f -exec cat {} +', 'low'],
    ['ls | xargs grep foo', 'low'],
    ['ls | xargs -0 -n 1 cat', 'low'],
    ["sh -c 'ls | cat'", 'low'],
    ["bash -eo pipefail -c 'ls && cat x'", 'low'],
    ["timeout 5 sh -c 'timeout 3 ls'", 'low'],
    ['python3 script.py -c x', 'medium'],
    ['python3 -m pytest -q', 'medium'],
    ['python3 --version', 'low'],
    ['node build.js', 'medium'],
    ['node --test', 'medium'],
    ['sh script.sh', 'medium'],
    ['git status', 'low'],
    ['git -C sub log --oneline', 'low'],
    ['git commit -m "x; rm -rf /"', 'medium'],
    ['git switch -c new', 'medium'],
    ['git push origin main', 'medium'],
    ['rm a.txt', 'medium'],
    ['rm -f a.txt', 'medium'],
    ['rm -- *.o', 'medium'],
    ['chmod 644 a', 'medium'],
    ['tar -xzf a.tgz', 'medium'],
    ["sed -n '1,20p' file", 'low'],
    ["sed 's/a/b/g; /x/d' file", 'low'],
    ["sed -i 's/a/b/' file", 'medium'],
    ["awk '{ print $1 }' file", 'low'],
    ['curl -s https://example.org', 'medium'],
    ['npm test', 'medium'],
    ['sort -u file', 'low'],
    ['export A=1; ls', 'low'],
    ["printf '%s\\n' a", 'low'],
  ])('%j runs, risk %s', (line, risk) => {
    const verdict = judgeCommand(SAFE, line);
    expect(verdict.ok ? verdict.risk.risk : verdict.words).toBe(risk);
  });
});

test('an empty list of programs allows nothing and says so', () => {
  const verdict = judgeCommand({ ...SAFE, allowed: [] }, 'ls');
  expect(verdict).toMatchObject({
    ok: false,
    words: expect.stringContaining('allowed_commands is empty'),
  });
});

test('redirects are returned to be judged by the file scope, descriptors are not', () => {
  const verdict = judgeCommand(SAFE, 'cat <in 2>&1 >>"a b" 3<&- >|c <>d | (ls) > e');
  expect(verdict.ok && verdict.redirects).toEqual([
    { mode: 'read', target: 'in' },
    { mode: 'write', target: 'a b' },
    { mode: 'write', target: 'c' },
    { mode: 'write', target: 'd' },
    { mode: 'write', target: 'e' },
  ]);
});
