import type { ToolDefinition } from '../runtime/core/tool.ts';

/** What is advertised of `shell`; its code is `Shells`. Its own limit is the scope's `timeoutMs`, far below a day. */
export const SHELL_DEFINITION: ToolDefinition = {
  name: 'shell',
  description:
    'Runs a command line with /bin/sh in the workspace and gives its exit code and output (the first and last 512 KiB of each). Only allowed programs start; no input, no loops, no substitutions, no here-documents. What it leaves in the background is ended with it.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1, maxLength: 32_768 },
      timeout_secs: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: 86_400,
        description: 'Ends the command sooner than the configured limit.',
      },
    },
    required: ['command'],
    additionalProperties: false,
  },
  effect: 'effectful',
  place: 'host',
  timeoutMs: 86_400_000,
};
