import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type CommandScope,
  type FileScope,
  plainScope,
  type ToolContext,
  type ToolEffect,
} from '../../src/runtime/core/tool.ts';
import type { AnyTool } from '../../src/tools/invoke-tool.ts';

/** A fresh directory with a workspace in it, and the context of a call whose scope is that workspace. */
export interface Scratch {
  readonly dir: string;
  readonly ws: string;
  readonly scope: FileScope;
  /** Writes a file below `dir`, with its directories, and gives its path. */
  file(path: string, content: string | Uint8Array): string;
  context(more?: ContextOptions): ToolContext<AbortSignal>;
  remove(): void;
}

export interface ContextOptions {
  readonly files?: Partial<FileScope>;
  readonly commands?: Partial<CommandScope>;
  readonly signal?: AbortSignal;
  readonly runId?: string;
  readonly callKey?: string;
  readonly progress?: (text: string) => void;
}

export function scratch(): Scratch {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-tools-')));
  const ws = join(dir, 'ws');
  mkdirSync(ws);
  const scope = plainScope(ws, true);
  return {
    dir,
    ws,
    scope,
    file(path, content) {
      const full = join(dir, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    context(more = {}) {
      const commands = { allowed: [], envPassthrough: [], timeoutMs: 20_000, blockHighRisk: true };
      return {
        runId: more.runId ?? 'run_test',
        agentId: 'tester',
        callKey: more.callKey ?? 'run_test/turn-1/call-1',
        signal: more.signal ?? new AbortController().signal,
        scope: {
          files: [{ ...scope, ...more.files }],
          commands: { ...commands, ...more.commands },
        },
        progress: more.progress ?? (() => undefined),
      };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

type Run = AnyTool['run'];

/** A tool of which only its code matters. */
export function toolOf(
  run: (...args: Parameters<Run>) => unknown,
  effect: ToolEffect = 'effectful',
): AnyTool {
  return {
    name: 'probe',
    description: 'A probe',
    parameters: { type: 'object' },
    effect,
    place: 'actor',
    timeoutMs: 60_000,
    run: run as Run,
  };
}
