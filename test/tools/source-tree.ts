import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Json } from '../../src/base/json.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../src/runtime/core/tool.ts';

/** A folder with source files, made by a test and gone after it. */
export interface SourceTree {
  readonly dir: string;
  /** What the tools reported as progress. */
  readonly progress: readonly string[];
  readonly context: ToolContext;
  write(name: string, text: string): void;
  run(tool: Tool, args: object, context?: ToolContext): Promise<ToolOutcome>;
  /** Runs a tool that must succeed. */
  data(tool: Tool, args: object): Promise<Record<string, Json>>;
  remove(): void;
}

export function makeSourceTree(files: Readonly<Record<string, string>> = {}): SourceTree {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'source-tree-')));
  const progress: string[] = [];
  const context = contextFor(dir, progress);
  const tree: SourceTree = {
    dir,
    progress,
    context,
    write(name, text) {
      fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
      fs.writeFileSync(path.join(dir, name), text);
    },
    async run(tool, args, other = context) {
      return (await tool.run(args as never, other)) as ToolOutcome;
    },
    async data(tool, args) {
      const outcome = await tree.run(tool, args);
      if (!outcome.ok) throw new Error(`${outcome.errorType}: ${outcome.error}`);
      if (JSON.stringify(outcome.data) !== outcome.text) throw new Error('text is not the data');
      return outcome.data as Record<string, Json>;
    },
    remove: () => fs.rmSync(dir, { recursive: true }),
  };
  for (const [name, text] of Object.entries(files)) tree.write(name, text);
  return tree;
}

function contextFor(dir: string, progress: string[]): ToolContext {
  return {
    runId: 'run_1',
    agentId: 'a',
    callKey: 'run_1/turn-1/call-1',
    signal: new AbortController().signal,
    scope: {
      files: [
        {
          workspaceDir: dir,
          workspaceOnly: true,
          roots: [],
          readRoots: [],
          writeRoots: [],
          forbidden: [path.join(dir, 'secret')],
          protected: [],
        },
      ],
      commands: { allowed: [], envPassthrough: [], timeoutMs: 1000, blockHighRisk: true },
    },
    progress: (text) => {
      progress.push(text);
    },
  };
}
