import { expect, test } from 'vitest';
import { admitTools } from '../../../src/tools/core/admit-tools.ts';

const TOOLS = ['shell', 'file_read', 'file_write', 'delegate'].map((name) => ({ name }));
const admitted = (gate: Parameters<typeof admitTools>[1]): readonly string[] =>
  admitTools(TOOLS, gate).map(({ name }) => name);

test.each([
  [{ allowedTools: [], excludedTools: [] }, ['shell', 'file_read', 'file_write', 'delegate']],
  [{ allowedTools: ['file_read'], excludedTools: [] }, ['file_read']],
  [{ allowedTools: ['file_read', 'shell'], excludedTools: ['shell'] }, ['file_read']],
  [{ allowedTools: [], excludedTools: ['shell'] }, ['file_read', 'file_write', 'delegate']],
  [{ allowedTools: ['file_'], excludedTools: ['FILE_READ', 'file*'] }, []],
  [{ allowedTools: ['nothing'], excludedTools: [] }, []],
  [
    { allowedTools: [], excludedTools: [], ceiling: null },
    ['shell', 'file_read', 'file_write', 'delegate'],
  ],
  [{ allowedTools: [], excludedTools: [], ceiling: [] }, []],
  [{ allowedTools: [], excludedTools: [], ceiling: ['file_read', 'other'] }, ['file_read']],
  [{ allowedTools: ['shell'], excludedTools: [], ceiling: ['file_read'] }, []],
])('G2, G8: the gate %j lets through %j', (gate, expected) => {
  expect(admitted(gate)).toEqual(expected);
});
