import type { Clock } from '../base/clock.ts';

/** Resolves once `work` has settled, at the latest after `ms`; says whether it had. Never rejects. */
export function settledWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const takeBack = clock.after(ms, () => resolve(false));
    const settled = (): void => {
      takeBack();
      resolve(true);
    };
    work.then(settled, settled);
  });
}
