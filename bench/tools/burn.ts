import { defineTool } from '../../src/tools/define-tool.ts';
import { burn } from '../support/burn.ts';

const number = { type: 'number', minimum: 0 };

/** Computes for as many steps as it is told: the same work however crowded the machine is. */
export const burnTool = defineTool<{ readonly steps: number }>({
  name: 'burn',
  description: 'Computes.',
  parameters: {
    type: 'object',
    properties: { steps: number, n: number },
    required: ['steps'],
    additionalProperties: false,
  },
  effect: 'read',
  cpu: true,
  run: ({ steps }) => ({ left: burn(steps) }),
});

/** The same work as a bare task of a thread pool. */
export function burnTask(steps: number): number {
  return burn(steps);
}

/** Never yields and never ends. */
export const spinTool = defineTool({
  name: 'spin',
  description: 'Computes for ever.',
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
  effect: 'read',
  cpu: true,
  run: () => {
    for (;;) burn(1000);
  },
});

/** On the run's own actor thread, at once. */
export const noopTool = defineTool({
  name: 'noop',
  description: 'Does nothing.',
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
  effect: 'read',
  run: () => 'ok',
});
