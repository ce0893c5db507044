import { createHash } from 'node:crypto';
import { systemClock } from './actors/system-clock.ts';
import { MemoryDesk } from './memory-desk.ts';
import type { StateLayout } from './runtime/state-dir.ts';
import { gatherTools, type ToolCatalogue } from './tool-catalogue.ts';
import { memoryTools } from './tools/memory-tools.ts';
import { endOrphans } from './tools/process-group.ts';
import { hostTools } from './tools/registry.ts';
import { Shells } from './tools/shell.ts';
import type { TroupeOptions } from './troupe-options.ts';

/** The tools of a host, and what some of them keep open while it lives. */
export interface OwnTools extends ToolCatalogue {
  /** Ends the commands of a host of this state directory that is gone; none outlives the next one (SPEC N2). */
  endOrphans(): Promise<void>;
  /** Ends what the tools keep open; calls that are on their way fail. */
  close(): Promise<void>;
}

/** @throws as `gatherTools`. */
export async function openTools(
  options: TroupeOptions,
  { path, memoryFile }: StateLayout,
): Promise<OwnTools> {
  const { tools = [], hostTools: closures = [], clock = systemClock } = options;
  const owner = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const shells = new Shells(owner);
  const desk = new MemoryDesk(memoryFile);
  const memory = memoryTools(
    (request) => desk.ask(request),
    () => clock.now(),
  );
  const catalogue = await gatherTools(tools, closures, hostTools(shells, memory));
  return {
    ...catalogue,
    endOrphans: async () => {
      await endOrphans(`${owner}-`);
    },
    close: async () => {
      await Promise.all([shells.endAll(), desk.close()]);
    },
  };
}
