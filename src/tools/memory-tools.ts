import { Fault, messageOf } from '../base/fault.ts';
import type { Json } from '../base/json.ts';
import {
  CONTENT_CHARS_MAX,
  KEY_CHARS_MAX,
  MEMORIES_MAX,
  type MemoryAnswer,
  type MemoryIdentity,
  type MemoryRequest,
  RECALLED_DEFAULT,
  RECALLED_MAX,
  textFault,
} from '../runtime/core/memory.ts';
import type { ToolContext, ToolDefinition, ToolOutcome } from '../runtime/core/tool.ts';
import { failed } from './core/failure.ts';
import type { AnyTool } from './invoke-tool.ts';

type Ask = (request: MemoryRequest) => Promise<MemoryAnswer>;

const key = { type: 'string', minLength: 1, maxLength: KEY_CHARS_MAX } as const;
const place = { place: 'host', timeoutMs: 30_000 } as const;

const STORE: ToolDefinition = {
  name: 'memory_store',
  description:
    'Remembers a text under a key, for later runs of this agent too; the same key replaces what it held. ' +
    `At most ${CONTENT_CHARS_MAX} characters a memory, ${MEMORIES_MAX} memories an agent.`,
  parameters: {
    type: 'object',
    properties: {
      key: { ...key, description: 'What it is about, in a few words.' },
      content: { type: 'string', minLength: 1, maxLength: CONTENT_CHARS_MAX },
    },
    required: ['key', 'content'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  ...place,
};

const RECALL: ToolDefinition = {
  name: 'memory_recall',
  description:
    'Searches what was remembered, by words: any of them, also as the beginning of a longer word; the best matches ' +
    'first. Without a query it gives what was remembered last.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', maxLength: 10_000 },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: RECALLED_MAX,
        description: `Default: ${RECALLED_DEFAULT}.`,
      },
      agents: {
        type: 'array',
        maxItems: 100,
        items: { type: 'string', maxLength: 64 },
        description: 'Only memories of these agents. Default: of all that may be read.',
      },
    },
    additionalProperties: false,
  },
  effect: 'read',
  ...place,
};

const FORGET: ToolDefinition = {
  name: 'memory_forget',
  description: 'Forgets what this agent remembered under a key.',
  parameters: {
    type: 'object',
    properties: { key },
    required: ['key'],
    additionalProperties: false,
  },
  effect: 'idempotent',
  ...place,
};

/** What the host knows of them: name, schema, effect. */
export const MEMORY_DEFINITIONS: readonly ToolDefinition[] = [STORE, RECALL, FORGET];

interface StoreArguments {
  readonly key: string;
  readonly content: string;
}

interface RecallArguments {
  readonly query?: string;
  readonly limit?: number;
  readonly agents?: readonly string[];
}

type Context = ToolContext<AbortSignal>;

/** The tools of memory (SPEC X4). `ask` reaches the database; whose memory it is comes with each call's context. */
export function memoryTools(ask: Ask, nowMs: () => number): readonly AnyTool[] {
  const tools = [
    {
      ...STORE,
      run: (args: StoreArguments, context: Context) =>
        answered(context, ask, (as) => {
          const fault = textFault('key', args.key) ?? textFault('content', args.content);
          if (fault !== null) return fault;
          const now = new Date(nowMs()).toISOString();
          return { type: 'store', as, callKey: context.callKey, ...args, now };
        }),
    },
    {
      ...RECALL,
      run: ({ query = '', limit = RECALLED_DEFAULT, agents }: RecallArguments, context: Context) =>
        answered(context, ask, (as) => ({
          type: 'recall',
          as,
          query,
          limit,
          agents: agents ?? null,
        })),
    },
    {
      ...FORGET,
      run: ({ key: asked }: { readonly key: string }, context: Context) =>
        answered(context, ask, (as) => {
          const fault = textFault('key', asked);
          return fault ?? { type: 'forget', as, callKey: context.callKey, key: asked };
        }),
    },
  ];
  return tools as unknown as readonly AnyTool[];
}

/** `make` gives the request, or what is wrong with the arguments. */
async function answered(
  { memory }: Context,
  ask: Ask,
  make: (as: MemoryIdentity) => MemoryRequest | string,
): Promise<ToolOutcome> {
  if (memory === undefined) return failed('no_memory', 'this run has no memory of its own');
  const request = make(memory);
  if (typeof request === 'string') return failed('invalid_arguments', request);
  try {
    return outcomeOf(request, await ask(request));
  } catch (thrown) {
    const isUnsafe = thrown instanceof Fault && thrown.retry === 'unsafe';
    const effect = isUnsafe && request.type !== 'recall' ? 'uncertain' : 'none';
    return { ok: false, errorType: 'memory_unusable', error: messageOf(thrown), effect };
  }
}

function outcomeOf(request: MemoryRequest, answer: MemoryAnswer): ToolOutcome {
  switch (answer.type) {
    case 'refused':
      return failed(answer.errorType, answer.error);
    case 'recalled': {
      const data = answer.memories as unknown as Json;
      const text =
        answer.memories.length === 0 ? 'Nothing found.' : JSON.stringify(answer.memories, null, 2);
      return { ok: true, text, data };
    }
    case 'stored':
      return { ok: true, text: `${answer.replaced ? 'Replaced' : 'Stored'} ${named(request)}.` };
    case 'forgotten':
      return { ok: true, text: `Forgot ${named(request)}.` };
  }
}

function named(request: MemoryRequest): string {
  return request.type === 'recall' ? '' : JSON.stringify(request.key);
}
