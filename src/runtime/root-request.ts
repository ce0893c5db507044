import type { AgentConfig } from './core/config.ts';
import type { CronOrigin } from './core/cron.ts';
import type { RunOrigin, SecurityContext } from './core/run-spec.ts';

/** What starts a root run. */
export interface RootRequest {
  readonly agent: AgentConfig;
  readonly raw: boolean;
  readonly prompt: string;
  readonly origin: Extract<RunOrigin, 'user' | 'cron'>;
  /** The job that is due; `null` where a person or a program started the run. */
  readonly cron: CronOrigin | null;
  readonly security: SecurityContext;
  readonly project: string | null;
  readonly workspaceDir: string;
  readonly maxTurns: number | null;
  /** Already called off: the run is recorded and ends as cancelled without a request (SPEC N2). */
  readonly calledOff: string | null;
}
