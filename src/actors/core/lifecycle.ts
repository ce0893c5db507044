/** `starting`: not yet able to receive; `running`; `draining`: asked to stop; `stopped`: its exit has been reported. */
export type Lifecycle = 'starting' | 'running' | 'draining' | 'stopped';

const order: Readonly<Record<Lifecycle, number>> = {
  starting: 0,
  running: 1,
  draining: 2,
  stopped: 3,
};

/** The later of the two: a life only moves forward, whatever order its causes arrive in. */
export function advance(from: Lifecycle, to: Lifecycle): Lifecycle {
  return order[to] > order[from] ? to : from;
}
