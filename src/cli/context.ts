import type { Terminal } from './terminal.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export const LOG_LEVELS: readonly LogLevel[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
];

/** The options that every command has. */
export interface GlobalOptions {
  readonly config: string;
  readonly state: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly logLevel: LogLevel;
}

/** What a command works with; it returns the process's exit code (SPEC K1). */
export interface Context {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
}
