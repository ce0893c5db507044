import { serveCompute } from '../actors/compute-host.ts';
import type { ComputeJob } from '../runtime/core/agent-protocol.ts';
import { computeTools } from '../tools/compute-tools.ts';
import { invokeNamed } from '../tools/invoke-named.ts';
import { loadToolModule } from '../tools/load-tool-module.ts';

export default serveCompute((body, { signal, progress }) => {
  const { name, module, argsText, timeoutMs, ...about } = body as ComputeJob;
  const find = async () => (module === null ? computeTools.get(name) : loadToolModule(module));
  return invokeNamed(find, name, argsText, { ...about, signal, progress }, timeoutMs);
});
