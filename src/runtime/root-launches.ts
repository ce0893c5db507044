import { Fault } from '../base/fault.ts';
import { rootOf } from './core/run-id.ts';

/** How many runs each root has launched, those included that are granted and have not begun (SPEC R11). */
export class RootLaunches {
  readonly #counts = new Map<string, number>();
  readonly #runsMax: () => number;

  /** `runsMax` = `[runtime] max_runs_per_root` as it is now. */
  constructor(runsMax: () => number) {
    this.#runsMax = runsMax;
  }

  /** @returns the refusal in words where the tree has launched all it may. */
  reserve(runId: string, runs = 1): string | null {
    const root = rootOf(runId);
    const launched = this.#counts.get(root) ?? 0;
    const runsMax = this.#runsMax();
    if (launched + runs > runsMax) {
      const wanted = runs === 1 ? '' : `, and ${runs} more were asked for`;
      return `Limit of runs reached: ${root} has launched ${launched} of ${runsMax} runs ([runtime] max_runs_per_root)${wanted}. Finish the work without further delegation.`;
    }
    this.#counts.set(root, launched + runs);
    return null;
  }

  /**
   * The first run of each task was reserved with its plan; what a reviewer sends back is one more.
   * @throws Fault `run.limit`.
   */
  reserveRework(runId: string): void {
    const full = this.reserve(runId);
    if (full !== null) throw new Fault('run.limit', full);
  }

  /** Reserved, and not to be launched after all. */
  release(runId: string, runs: number): void {
    if (runs === 0) return;
    const root = rootOf(runId);
    const launched = this.#counts.get(root);
    if (launched !== undefined) this.#counts.set(root, launched - runs);
  }

  /** What an earlier host had launched or granted. */
  recover(runId: string, runs: number): void {
    const root = rootOf(runId);
    this.#counts.set(root, (this.#counts.get(root) ?? 0) + runs);
  }

  forget(root: string): void {
    this.#counts.delete(root);
  }
}
