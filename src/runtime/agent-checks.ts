import { agentIds, type ConfigLook, providerRefs } from './config-look.ts';
import type { AgentTable, ProviderTable, Unchecked } from './config-table.ts';
import {
  type ConfigFault,
  configFault,
  describeValue,
  type FaultWords,
} from './core/config-fault.ts';
import { formatPath, type KeyPath } from './core/key-path.ts';
import { nearest } from './core/nearest.ts';
import { listOf, tableOf, tablesOf, textOf } from './raw-config.ts';

/** What the schema cannot see in `[agents.*]`: names that must exist elsewhere, and keys that exclude each other. */
export function agentFaults(look: ConfigLook): readonly ConfigFault[] {
  const known: Known = {
    agents: agentIds(look),
    providers: providerRefs(look.raw),
    riskProfiles: Object.keys(tableOf(look.raw.risk_profiles)),
    runtimeProfiles: Object.keys(tableOf(look.raw.runtime_profiles)),
    projects: Object.keys(tableOf(look.raw.projects)),
    mcpServers: Object.keys(tableOf(look.raw.mcp_servers)),
  };
  return tablesOf(look.raw.agents).flatMap(([id, agent]) =>
    new AgentCheck(look, known, id, agent).faults(),
  );
}

interface Known {
  readonly agents: readonly string[];
  readonly providers: readonly string[];
  readonly riskProfiles: readonly string[];
  readonly runtimeProfiles: readonly string[];
  readonly projects: readonly string[];
  readonly mcpServers: readonly string[];
}

class AgentCheck {
  readonly #look: ConfigLook;
  readonly #known: Known;
  readonly #id: string;
  readonly #agent: Unchecked<AgentTable>;
  readonly #faults: ConfigFault[] = [];

  constructor(look: ConfigLook, known: Known, id: string, agent: Unchecked<AgentTable>) {
    this.#look = look;
    this.#known = known;
    this.#id = id;
    this.#agent = agent;
  }

  faults(): readonly ConfigFault[] {
    const { model_provider, risk_profile, runtime_profile, project } = this.#agent;
    const { providers, riskProfiles, runtimeProfiles, projects } = this.#known;
    this.#mustExist(['model_provider'], model_provider, 'a provider entry', providers);
    this.#mustExist(['risk_profile'], risk_profile, 'a risk profile', riskProfiles);
    this.#mustExist(['runtime_profile'], runtime_profile, 'a runtime profile', runtimeProfiles);
    this.#mustExist(['project'], project, 'a project', projects);
    for (const [index, name] of listOf(this.#agent.mcp_servers).entries()) {
      this.#mustExist(['mcp_servers', index], name, 'an MCP server', this.#known.mcpServers);
    }
    this.#delegates();
    this.#memorySources();
    this.#prompt();
    this.#model();
    return this.#faults;
  }

  #report(key: KeyPath, words: FaultWords): void {
    const path = ['agents', this.#id, ...key];
    this.#faults.push(configFault(this.#look.where(path), path, words));
  }

  #mustExist(key: KeyPath, value: unknown, noun: string, known: readonly string[]): void {
    const name = textOf(value);
    if (name === null || name.trim() === '' || known.includes(name)) return;
    const close = nearest(name, known);
    this.#report(key, {
      found: describeValue(name),
      expected:
        known.length === 0 ? `${noun}, but none is configured` : `${noun}: ${known.join(', ')}`,
      ...(close === null ? {} : { hint: `did you mean "${close}"?` }),
    });
  }

  #delegates(): void {
    const seen = new Set<string>();
    for (const [index, entry] of listOf(this.#agent.delegates).entries()) {
      const { agent = entry }: { readonly agent?: unknown } = tableOf(entry);
      const target = textOf(agent)?.trim();
      if (target === undefined) continue;
      const key = ['delegates', index, 'agent'];
      const problem = this.#delegateProblem(target, formatPath(['agents', this.#id, ...key]), seen);
      if (problem !== null) this.#report(key, problem);
      seen.add(target);
    }
  }

  #delegateProblem(target: string, at: string, seen: ReadonlySet<string>): FaultWords | null {
    const found = describeValue(target);
    const expected = 'the id of another configured agent, once';
    if (target === '') {
      return { found, expected, message: `${at} is empty; remove it or name a configured agent` };
    }
    if (target === this.#id) {
      return {
        found,
        expected,
        message: `${at} = ${found} names this agent itself; an agent cannot delegate to itself`,
      };
    }
    if (!this.#known.agents.includes(target)) {
      const close = nearest(target, this.#known.agents);
      return {
        found,
        expected,
        ...(close === null ? {} : { hint: `did you mean "${close}"?` }),
        message: `${at} = ${found} but ${formatPath(['agents', target])} is not configured`,
      };
    }
    if (!seen.has(target)) return null;
    return { found, expected, message: `${at} = ${found} duplicates an earlier delegate target` };
  }

  #memorySources(): void {
    const { read_memory_from }: { readonly read_memory_from?: unknown } = tableOf(
      this.#agent.workspace,
    );
    for (const [index, source] of listOf(read_memory_from).entries()) {
      const key = ['workspace', 'read_memory_from', index];
      this.#mustExist(key, source, 'an agent', this.#known.agents);
      if (source !== this.#id) continue;
      this.#report(key, {
        found: `${describeValue(source)}, the agent itself`,
        expected: 'another agent',
        hint: 'an agent always reads its own memory; remove the entry',
      });
    }
  }

  #prompt(): void {
    const file = textOf(this.#agent.system_prompt_file);
    if (file === null || file.trim() === '') return;
    if (this.#agent.system_prompt !== undefined) {
      this.#report(['system_prompt_file'], {
        found: 'system_prompt_file beside system_prompt',
        expected: 'one of the two',
        hint: 'remove one',
      });
    }
    const read = this.#look.files.read(file);
    if (read.ok) return;
    this.#report(['system_prompt_file'], {
      found: `${describeValue(file)}, which is ${this.#look.files.absolute(file)}: ${read.why}`,
      expected: 'a file that can be read',
    });
  }

  /** A model of the vendors needs a name, from the agent or from the entry; a scenario or a recording needs none. */
  #model(): void {
    const ref = textOf(this.#agent.model_provider);
    if (ref === null || !this.#known.providers.includes(ref) || this.#agent.model !== undefined) {
      return;
    }
    const [type = '', ...alias] = ref.split('.');
    if (type === 'scripted' || type === 'replay') return;
    const { models }: { readonly models?: unknown } = tableOf(this.#look.raw.providers);
    const entries = tableOf(tableOf(models)[type]);
    const entry: Unchecked<ProviderTable> = tableOf(entries[alias.join('.')]);
    if (entry.model !== undefined) return;
    this.#report(['model'], {
      found: 'nothing',
      expected: `the name of a model, here or as ${formatPath(['providers', 'models', type, alias.join('.'), 'model'])}`,
    });
  }
}
