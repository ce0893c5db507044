import { randomUUID } from 'node:crypto';
import { nanoid } from 'nanoid';
import type { Random } from '../base/random.ts';

/** The operating system's chance. */
export const systemRandom: Random = {
  id: (length = 12) => nanoid(length),
  uuid: () => randomUUID(),
  unit: () => Math.random(),
};
