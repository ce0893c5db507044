import type { MessagePort } from 'node:worker_threads';
import { serveActors } from '../actors/actor-host.ts';
import { openAgentHost } from '../runtime/agent-host.ts';
import { resultsFolderOf, withOwnResults } from '../runtime/core/own-results.ts';
import { actorTools } from '../tools/actor-tools.ts';
import { riskOfCall } from '../tools/call-risk.ts';
import { checkArguments } from '../tools/check-arguments.ts';
import { invokeNamed } from '../tools/invoke-named.ts';
import { loadToolModule } from '../tools/load-tool-module.ts';

/** What the host's thread gives to each actor thread. */
export interface ActorHostSetup {
  readonly modelPort: MessagePort;
  /** Where results that a history may not hold whole are kept, each run's in a folder of its own. */
  readonly resultsDir: string;
  /** Tools of the embedder that run on actor threads, by name. */
  readonly modules: Readonly<Record<string, { readonly url: string; readonly exportName: string }>>;
}

export default serveActors((setup: ActorHostSetup) =>
  openAgentHost(setup.modelPort, {
    check: (spec, argsText, scope) => {
      const checked = checkArguments(spec, argsText);
      if (!checked.ok) return checked;
      const risk = riskOfCall(spec.name, checked.args, scope);
      return risk === null ? { ok: true } : { ok: true, risk };
    },
    run: (name, argsText, context, timeoutMs) => {
      const find = async () => {
        const module = setup.modules[name];
        return module === undefined ? actorTools.get(name) : loadToolModule(module);
      };
      const results = resultsFolderOf(setup.resultsDir, context.runId);
      const scope = withOwnResults(context.scope, results);
      return invokeNamed(find, name, argsText, { ...context, scope }, timeoutMs);
    },
  }),
);
