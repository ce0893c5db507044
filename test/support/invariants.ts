import { auditJournal } from '../../src/runtime/core/audit.ts';
import { budgetsHold } from './sim-check-budget.ts';
import {
  actsFollowRecords,
  cutIsKept,
  effectsAreTold,
  effectsHappenOnce,
  finishedIsNotRepeated,
  historiesOnlyGrow,
  resultsAreTrue,
  stopsAreBounded,
} from './sim-check-calls.ts';
import {
  causesAreUnbroken,
  childrenEndFirst,
  comesToRest,
  endsOnce,
  idsAreUnbroken,
  launchesAreBounded,
  replayIsLive,
  resultsAreSingle,
  usageIsConserved,
  widthAndDepthHold,
} from './sim-check-life.ts';
import {
  fifoFollowsCalls,
  notesAreReceived,
  nothingStartsAfterCancel,
  plansKeepTheirRules,
} from './sim-check-order.ts';
import { rightsOnlyGoDown } from './sim-check-rights.ts';
import { tasksEndAsTheirRuns } from './sim-check-tasks.ts';
import { Story, type Told } from './sim-story.ts';

/** What must hold of every story, whatever happened in it. Each throws at the first place where it does not. */
export const INVARIANTS = {
  'comes to rest without orphans': comesToRest,
  'every run ends exactly once': endsOnce,
  'event ids have no gap': idsAreUnbroken,
  'causality is unbroken': causesAreUnbroken,
  'children end before their parents': childrenEndFirst,
  'width and depth are never exceeded': widthAndDepthHold,
  'launches of a root are bounded': launchesAreBounded,
  'budgets hold': budgetsHold,
  'usage is conserved': usageIsConserved,
  'replay equals live': replayIsLive,
  'one result a call': resultsAreSingle,
  'results are what was said': resultsAreTrue,
  'no effectful call twice': effectsHappenOnce,
  'an effect is told': effectsAreTold,
  'recorded and approved before acted on': actsFollowRecords,
  'what is finished is not repeated': finishedIsNotRepeated,
  'what is cut is kept whole': cutIsKept,
  'a history only grows': historiesOnlyGrow,
  'a stop is bounded': stopsAreBounded,
  'nothing starts after a cancel': nothingStartsAfterCancel,
  'fifo order follows from the calls': fifoFollowsCalls,
  'a note has one receipt': notesAreReceived,
  'plans keep their rules': plansKeepTheirRules,
  'background tasks end as their runs do': tasksEndAsTheirRuns,
  'rights only go down': rightsOnlyGoDown,
  'the doctor finds nothing': nothingIsFound,
} satisfies Record<string, (story: Story) => void>;

/** Two observers that share no code with each other must agree that a journal is sound. */
function nothingIsFound({ events }: Story): void {
  // A story may be one tree's part of a longer journal.
  const [first] = auditJournal(events).filter(
    ({ severity, code }) => severity === 'error' && code !== 'seq-gap',
  );
  if (first !== undefined) throw new Error(`${first.code}: ${first.words} (seq ${first.seq})`);
}

export type InvariantName = keyof typeof INVARIANTS;

export interface Violation {
  readonly invariant: InvariantName;
  readonly words: string;
}

/** Every invariant that a story breaks, with the first place where it does. */
export function violationsOf(told: Told): readonly Violation[] {
  const story = new Story(told);
  return Object.entries(INVARIANTS).flatMap(([name, check]) => {
    try {
      check(story);
      return [];
    } catch (thrown) {
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      return [{ invariant: name as InvariantName, words }];
    }
  });
}
