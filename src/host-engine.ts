import { systemClock } from './actors/system-clock.ts';
import { type LocalEngine, openLocalEngine } from './local-engine.ts';
import { namedProviders } from './named-providers.ts';
import type { OwnTools } from './own-tools.ts';
import type { ResolvedConfig } from './runtime/core/config.ts';
import type { EnginePort } from './runtime/engine.ts';
import type { Journal } from './runtime/journal.ts';
import { systemRandom } from './runtime/system-random.ts';
import type { TroupeOptions } from './troupe-options.ts';

/** What a host has gathered before its threads start. */
export interface HostParts {
  readonly config: ResolvedConfig;
  readonly tools: OwnTools;
  readonly journal: Promise<Journal>;
  readonly resultsDir: string;
  readonly approve: EnginePort['approve'];
}

/** The engine that a host's options and configuration ask for. @throws as `openLocalEngine`. */
export function openHostEngine(options: TroupeOptions, parts: HostParts): Promise<LocalEngine> {
  const { config, tools, journal, resultsDir, approve } = parts;
  return openLocalEngine({
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    journal,
    resultsDir,
    providers: [...config.providers.values()],
    namedProviders: namedProviders(config),
    actorThreads: options.threads ?? config.runtime.actorThreads,
    computeThreads: options.computeThreads ?? config.runtime.computeThreads,
    tools,
    approve,
    onThreadLost: (what, detail) => options.onLog?.('warn', `a ${what} thread ended: ${detail}`),
    onTaskUnwritten: (words) => options.onLog?.('warn', words),
  });
}
