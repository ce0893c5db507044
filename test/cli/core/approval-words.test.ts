import { describe, expect, it } from 'vitest';
import { askedLines, howToAnswer, questionLine } from '../../../src/cli/core/approval-words.ts';

function asked(args: object, more: object = {}) {
  const about = { id: 'run_r#7', runId: 'run_r', agentId: 'writer', tool: 'shell' };
  return { ...about, args: args as Record<string, string>, ...more };
}

describe('a call that is put to a person', () => {
  it('X3: names who wants to do what, exactly', () => {
    expect(askedLines(asked({ command: 'touch  a', timeout_secs: 3 }))).toEqual([
      'approval run_r#7: writer (run_r) wants to call shell',
      '  command: "touch  a"',
      '  timeout_secs: 3',
    ]);
    expect(askedLines(asked({}))[1]).toBe('  without arguments');
  });

  it('X3: shows what would steer a terminal or cannot be seen, and never sends it', () => {
    const hidden = 'a\u001b[2J\u202eb\u200bc\u00a0d\u009be\r\nf\u{e0041}';
    const [, line, other] = askedLines(asked({ command: hidden, 'k\u001b\n': 1 }));
    expect(line).toBe(
      '  command: "a\\u001b[2J\\u{202e}b\\u{200b}c\\u{a0}d\\u{9b}e\\r\\nf\\u{e0041}"',
    );
    expect(other).toBe('  k\\u{1b}\\u{a}: 1');
    const [, blank] = askedLines(asked({ command: 'a\u3164b\u115fc\u2800d\ufe0f' }));
    expect(blank).toBe('  command: "a\\u{3164}b\\u{115f}c\\u{2800}d\\u{fe0f}"');
  });

  it('X3: shows the end of what is long too, and counts what is left out', () => {
    const [, line = ''] = askedLines(asked({ command: `ls ${'x'.repeat(5000)}; rm -rf here` }));
    expect(line).toContain('; rm -rf here"');
    expect(line).toMatch(
      / \[3418 characters left out here; `troupe approvals --json` shows all\] /,
    );
    expect(line.length).toBeLessThan(1800);
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`k${at}`, at]));
    expect(askedLines(asked(many)).at(-1)).toMatch(/^ {2}and 5 more arguments; /);
  });

  it('says how to answer from elsewhere, with the state directory where it is another one', () => {
    expect(howToAnswer('run_r#7', '.troupe')).toBe(
      '  to answer: troupe approve run_r#7, or troupe deny run_r#7 [reason]',
    );
    expect(howToAnswer('run_r#7', "/tmp/it's")).toContain(
      "approve run_r#7 --state '/tmp/it'\\''s'",
    );
  });

  it('says how many wait behind the one that is asked about', () => {
    expect(questionLine(asked({}), 0)).toBe('may writer call shell? y/n  run_r#7');
    expect(questionLine(asked({}), 2)).toMatch(/ \(2 more after it\)$/);
  });
});
