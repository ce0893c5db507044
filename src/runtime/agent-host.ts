import type { MessagePort } from 'node:worker_threads';
import type { Behavior } from '../actors/actor.ts';
import { type Channel, openChannel } from '../actors/channel.ts';
import { SharedOut } from '../actors/core/shared-values.ts';
import { Fault } from '../base/fault.ts';
import { AgentActor, type AgentThread } from './agent-actor.ts';
import type {
  AgentBrief,
  CallCheck,
  FromAgent,
  OnModelLine,
  ToAgent,
} from './core/agent-protocol.ts';
import type { FromModel } from './core/model.ts';
import type { ToolScope, ToolSpec } from './core/tool.ts';

/** The tools of an actor thread, as its entry wires them. */
export interface HostTools extends Pick<AgentThread, 'run'> {
  check(spec: ToolSpec, argsText: string, scope: ToolScope): CallCheck;
}

/** All agents' actors of one thread, and their one line to the model thread. */
export function openAgentHost(
  modelPort: MessagePort,
  tools: HostTools,
): Behavior<null, ToAgent, FromAgent> {
  const actors = new Map<string, AgentActor>();
  const heard = (body: FromModel) => actors.get(body.runId)?.heard(body);
  let model: Channel<OnModelLine> = openChannel<FromModel, OnModelLine>(modelPort, heard);
  let briefs = new SharedOut<AgentBrief>();
  const thread: AgentThread = {
    toModel: (body) => model.send(body),
    openModel: (runId, brief) =>
      model.send({ kind: 'open-shared', runId, brief: briefs.share(brief) }),
    check: (brief, call) => {
      const spec = brief.tools.find((each) => each.name === call.name);
      if (spec !== undefined) return tools.check(spec, call.argsText, brief.scope);
      return { ok: false, errorType: 'unknown_tool', error: `Unknown tool: ${call.name}` };
    },
    run: tools.run,
  };
  return {
    start(id, _init, ctx, brief) {
      const actor = new AgentActor(id, brief as AgentBrief, thread, ctx.tell);
      actors.set(id, actor);
      return {
        receive: (body) => actor.receive(body),
        stop: () => {
          if (actors.get(id) === actor) actors.delete(id);
          actor.stop();
        },
      };
    },
    control: {
      /** A new model thread took the place of one that died. */
      attachModel: (port: MessagePort) => {
        model.close();
        model = openChannel<FromModel, OnModelLine>(port, heard);
        briefs = new SharedOut();
        const fault = new Fault('model.unreachable', 'the model thread was restarted', {
          retry: 'safe',
        });
        for (const actor of actors.values()) actor.modelLost(fault);
      },
      /** How many actors this thread holds: what a test for leaks asks. */
      actorCount: () => actors.size,
    },
    close: () => model.close(),
  };
}
