import { rootOf } from './core/run-id.ts';

/** How many runs each root has launched, those included that are granted and have not begun (SPEC R11). */
export class RootLaunches {
  readonly #counts = new Map<string, number>();

  /** @returns the refusal in words where the tree has launched all it may. */
  reserve(runId: string, runs: number, runsMax: number): string | null {
    const root = rootOf(runId);
    const launched = this.#counts.get(root) ?? 0;
    if (launched + runs > runsMax) {
      const wanted = runs === 1 ? '' : `, and ${runs} more were asked for`;
      return `Limit of runs reached: ${root} has launched ${launched} of ${runsMax} runs ([runtime] max_runs_per_root)${wanted}. Finish the work without further delegation.`;
    }
    this.#counts.set(root, launched + runs);
    return null;
  }

  /** Reserved, and not to be launched after all. */
  release(runId: string, runs: number): void {
    const root = rootOf(runId);
    const launched = this.#counts.get(root);
    if (launched !== undefined) this.#counts.set(root, launched - runs);
  }

  /** What an earlier host had launched or granted. */
  recover(runId: string, runs: number): void {
    const root = rootOf(runId);
    this.#counts.set(root, (this.#counts.get(root) ?? 0) + runs);
  }

  forget(runId: string): void {
    this.#counts.delete(runId);
  }
}
