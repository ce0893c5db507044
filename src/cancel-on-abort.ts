import type { RunSupervisor } from './runtime/run-supervisor.ts';

/** Aborting the signal cancels the run; the listener goes with the run. A signal that is aborted already does nothing. */
export function cancelOnAbort(signal: AbortSignal | undefined, supervisor: RunSupervisor): void {
  if (signal === undefined || signal.aborted) return;
  const cancel = () => {
    supervisor.cancel(abortWords(signal), 'user');
  };
  signal.addEventListener('abort', cancel, { once: true });
  supervisor.onEnded(() => signal.removeEventListener('abort', cancel));
}

/** The reason of an aborted signal, for people. */
export function abortWords({ reason }: AbortSignal): string {
  if (reason instanceof Error && reason.name !== 'AbortError') return reason.message;
  return typeof reason === 'string' ? reason : 'cancelled by the caller';
}
