import { describe, expect, test } from 'vitest';
import { type ApprovalNeed, approvalNeed } from '../../../src/runtime/core/approval.ts';

type Policy = Parameters<typeof approvalNeed>[0];

const policy = (more: Partial<Policy> = {}): Policy => ({
  autonomy: 'supervised',
  always_ask: [],
  auto_approve: [],
  require_tool_approval: false,
  require_approval_for_medium_risk: true,
  ...more,
});

const CALLS = [
  ['reader', 'read'],
  ['setter', 'idempotent'],
  ['doer', 'effectful'],
  ['delegate', 'delegation'],
] as const;

describe('X3: before a call', () => {
  test.each<[string, Partial<Policy>, readonly ApprovalNeed[]]>([
    ['full runs everything', { autonomy: 'full' }, ['run', 'run', 'run', 'run']],
    ['supervised asks before what acts', {}, ['run', 'ask', 'ask', 'run']],
    ['read-only refuses what acts', { autonomy: 'read_only' }, ['run', 'refuse', 'refuse', 'run']],
    ['auto_approve spares the question', { auto_approve: ['doer'] }, ['run', 'ask', 'run', 'run']],
    ['* stands for all tools', { auto_approve: ['*'] }, ['run', 'run', 'run', 'run']],
    [
      'always_ask beats auto_approve',
      { auto_approve: ['*'], always_ask: ['reader', 'doer'] },
      ['ask', 'run', 'ask', 'run'],
    ],
    [
      'always_ask beats full autonomy',
      { autonomy: 'full', always_ask: ['*'] },
      ['ask', 'ask', 'ask', 'ask'],
    ],
    [
      'nothing makes a read-only run act',
      { autonomy: 'read_only', auto_approve: ['*'], always_ask: ['doer'] },
      ['run', 'refuse', 'refuse', 'run'],
    ],
    [
      'require_tool_approval asks before every tool, delegation too',
      { autonomy: 'full', require_tool_approval: true, auto_approve: ['*'] },
      ['ask', 'ask', 'ask', 'ask'],
    ],
  ])('%s', (_what, more, needs) => {
    expect(CALLS.map(([tool, effect]) => approvalNeed(policy(more), tool, effect))).toEqual(needs);
  });

  test.each<[Partial<Policy>, readonly ApprovalNeed[]]>([
    [{ auto_approve: ['shell'] }, ['run', 'ask', 'ask', 'run']],
    [
      { auto_approve: ['*'], require_approval_for_medium_risk: false },
      ['run', 'run', 'run', 'run'],
    ],
    [
      { auto_approve: ['shell'], require_approval_for_medium_risk: undefined },
      ['run', 'ask', 'ask', 'run'],
    ],
    [{}, ['ask', 'ask', 'ask', 'ask']],
    [{ autonomy: 'full' }, ['run', 'run', 'run', 'run']],
    [{ autonomy: 'full', always_ask: ['shell'] }, ['ask', 'ask', 'ask', 'ask']],
  ])('auto_approve stands for command lines of low risk alone, under %j', (more, needs) => {
    const risks = ['low', 'medium', 'high', null] as const;
    expect(risks.map((risk) => approvalNeed(policy(more), 'shell', 'effectful', risk))).toEqual(
      needs,
    );
  });
});
