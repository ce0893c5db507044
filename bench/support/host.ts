import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Troupe, type TroupeOptions } from '../../src/index.ts';

export interface HostOptions extends Omit<TroupeOptions, 'config' | 'stateDir'> {
  /** The turns of each agent: a scenario's `agents`, one key an agent. Every one of them becomes a configured agent. */
  readonly agents: Readonly<Record<string, readonly object[]>>;
  readonly width?: number;
  readonly depth?: number;
  readonly order?: 'fifo' | 'eager';
}

export interface Host {
  readonly troupe: Troupe;
  close(): Promise<void>;
  /** Takes its folder away and leaves the rest to the end of the process: for a host with too many runs to stop. */
  abandon(): void;
}

/** Where a bundled file of `bench/tools` lies, for a thread to import. */
export function toolUrl(name: string): string {
  return new URL(`./tools/${name}.js`, import.meta.url).href;
}

/** No run's tree comes near it. */
const RUNS_MAX = 1_000_000;
/** Nor any hour. */
const ACTIONS_MAX = 1_000_000_000;
/** A turn of 4096 calls must not be cut: that would write a file for each of them. */
const TURN_RESULT_CHARS_MAX = 1_000_000;

/** A host in a folder of its own. Everything is as by default (SQLite, `sync = "full"`) but the limits named here. */
export async function openHost(options: HostOptions): Promise<Host> {
  const { agents, width = 1024, depth = 2, order = 'fifo', ...rest } = options;
  const dir = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  const scenario = join(dir, 'scenario.yaml');
  const scripts = Object.entries(agents).map(([id, turns]) => [id, { turns }]);
  writeFileSync(scenario, JSON.stringify({ agents: Object.fromEntries(scripts) }));
  const agent = {
    model_provider: 'scripted.bench',
    risk_profile: 'bench',
    runtime_profile: 'bench',
    system_prompt: 'You are one of many workers that do the same work. Answer in one word.',
  };
  const config = {
    providers: { models: { scripted: { bench: { file: scenario } } } },
    agents: Object.fromEntries(Object.keys(agents).map((id) => [id, agent])),
    risk_profiles: {
      bench: {
        autonomy: 'full',
        delegation_policy: { mode: 'allow' },
        max_actions_per_hour: ACTIONS_MAX,
      },
    },
    runtime_profiles: {
      bench: {
        max_delegation_width: width,
        max_delegation_depth: depth,
        delegation_order: order,
        identical_delegations: 'run',
        max_turn_result_chars: TURN_RESULT_CHARS_MAX,
      },
    },
    runtime: { max_runs_per_root: RUNS_MAX },
  };
  try {
    const troupe = await Troupe.open({ ...rest, config, stateDir: join(dir, 'state') });
    return {
      troupe,
      close: async () => {
        await troupe.close({ cancel: 'the measurement is over' });
        rmSync(dir, { recursive: true, force: true });
      },
      abandon: () => {
        rmSync(dir, { recursive: true, force: true });
        process.exit();
      },
    };
  } catch (thrown) {
    rmSync(dir, { recursive: true, force: true });
    throw thrown;
  }
}

/** Delegates to `worker` as often as the prompt's number says, in one answer; then says that it is done. */
export function fanOutTurns(counts: readonly number[], then: object = {}): readonly object[] {
  return [
    ...counts.map((count) => ({
      when: { prompt_contains: `fan ${count};` },
      calls: [
        {
          tool: 'delegate',
          each: `{{ (1..${count}) }}`,
          args: { agent_id: 'worker', prompt: 'go' },
        },
      ],
    })),
    { text: 'done', ...then },
  ];
}
