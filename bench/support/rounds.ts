import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Share of the machine that other processes took, 0 to 1. */
export type OtherLoad = number | null;

export interface Spent {
  readonly wallMs: number;
  /** Of all threads of this process, user and system. */
  readonly cpuMs: number;
  readonly otherLoad: OtherLoad;
}

/** Runs `work` and says what it took. */
export async function spent(work: () => Promise<unknown>): Promise<Spent> {
  const machine = busyMs();
  const cpu = process.cpuUsage();
  const from = performance.now();
  await work();
  const wallMs = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1000;
  const after = busyMs();
  const otherLoad =
    machine === null || after === null || wallMs < 50
      ? null
      : Math.max(0, (after - machine - cpuMs) / (wallMs * availableParallelism()));
  return { wallMs, cpuMs, otherLoad };
}

/** Milliseconds that all cores together have been busy since the machine started; `null` where nobody counts. */
function busyMs(): number | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = line
      .trim()
      .split(/\s+/)
      .slice(1)
      .map(Number);
    return (user + nice + system + irq + soft) * 10;
  } catch {
    return null;
  }
}

/** How long a round waits for others to leave the machine alone: `BENCH_QUIET_SECS`, else three seconds. */
const QUIET_SECS = Number(process.env['BENCH_QUIET_SECS'] ?? 3);

/** Waits until other processes leave the machine alone, but not for ever. */
export async function untilQuiet(): Promise<void> {
  const until = performance.now() + QUIET_SECS * 1000;
  while (performance.now() < until) {
    const { otherLoad } = await spent(() => pause(200));
    if (otherLoad === null || otherLoad < 0.05) return;
  }
}

/** Rounds of a measurement, after some that do not count; each begins when others leave the machine alone. */
export async function inRounds<Value>(
  { warmUps, rounds }: { readonly warmUps: number; readonly rounds: number },
  work: () => Promise<Value>,
): Promise<{ readonly values: readonly Value[]; readonly load: readonly OtherLoad[] }> {
  const values: Value[] = [];
  const load: OtherLoad[] = [];
  for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await work();
  while (values.length < rounds) {
    await untilQuiet();
    const { otherLoad } = await spent(async () => {
      values.push(await work());
    });
    load.push(otherLoad);
  }
  return { values, load };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** `count` promises of `make`, all at once. */
export function atOnce<Value>(
  count: number,
  make: (index: number) => Promise<Value>,
): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}
