import { systemClock } from './actors/system-clock.ts';
import { MemoryDesk } from './memory-desk.ts';
import { gatherTools, type ToolCatalogue } from './tool-catalogue.ts';
import { memoryTools } from './tools/memory-tools.ts';
import { hostTools } from './tools/registry.ts';
import { Shells } from './tools/shell.ts';
import type { TroupeOptions } from './troupe-options.ts';

/** The tools of a host, and what some of them keep open while it lives. */
export interface OwnTools extends ToolCatalogue {
  /** Ends what the tools keep open; calls that are on their way fail. */
  close(): Promise<void>;
}

/** @throws as `gatherTools`. */
export async function openTools(options: TroupeOptions, memoryFile: string): Promise<OwnTools> {
  const { tools = [], hostTools: closures = [], clock = systemClock } = options;
  const shells = new Shells();
  const desk = new MemoryDesk(memoryFile);
  const memory = memoryTools(
    (request) => desk.ask(request),
    () => clock.now(),
  );
  const catalogue = await gatherTools(tools, closures, hostTools(shells, memory));
  return {
    ...catalogue,
    close: async () => {
      await Promise.all([shells.endAll(), desk.close()]);
    },
  };
}
