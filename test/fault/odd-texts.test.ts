import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  calls,
  delegation,
  eventsIn,
  ofRun,
  ofType,
  openStage,
  STAGE_TOOLS,
  type Stage,
} from '../support/troupe-fixture.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    agents: { lead: {}, worker: {} },
    troupe: { threads: 1, tools: [STAGE_TOOLS] },
  });
});

afterAll(() => stage.close());

const texts: [string, string][] = [
  ['line and paragraph separators', 'a\u2028b\u2029c'],
  ['NUL and other controls', 'a\u0000b\u0001\u001f\u007fc\r\nd\te'],
  ['emoji, joined and flagged', '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 é 𝒳'],
  ['lone surrogates', 'high \ud83d low \ude00 reversed \ude00\ud83d end'],
  ['a byte order mark and non-characters', '\ufeffx\uffff\ufffe'],
  ['what looks like a prototype', '__proto__ constructor {"__proto__": {"x": 1}}'],
  ['right to left and combining', 'שלום ‮abc‬ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘'],
];

describe('texts of every kind', () => {
  it.each(texts)(
    'J3: %s go through prompt, call, result, note, child and answer, and come back from the journal as they were',
    async (_name, odd) => {
      const prompt = `go ${odd}`;
      let read: readonly string[] = [];
      stage.play({
        lead: ({ turn, results }) => {
          if (turn === 1) {
            return {
              text: odd,
              ...calls({ name: 'say', args: { text: odd } }, delegation('worker', `w ${odd}`)),
            };
          }
          read = results;
          return `end ${odd}`;
        },
        worker: ({ prompt: asked }) => `did ${asked}`,
      });
      const run = await stage.start('lead', prompt);
      const note = await run.note(`note ${odd}`);
      const { outcome, events } = await stage.end(run);
      expect(outcome.answer).toBe(`end ${odd}`);
      expect(read[0]).toBe(odd);
      expect(read[1]?.split('\n').slice(1).join('\n')).toBe(`did w ${odd}`);
      expect(stage.requestsOf('lead').at(-1)?.prompt).toBe(prompt);
      const own = ofRun(events, run.id);
      expect(own[0]?.data['prompt']).toBe(prompt);
      const [answer] = ofType(own, 'model.completed');
      expect(answer?.data['text']).toBe(odd);
      expect(ofType(own, 'tool.completed').map(({ data }) => data['text'])).toEqual(
        expect.arrayContaining([odd]),
      );
      expect(ofType(own, 'run.user_note')[0]?.data).toMatchObject({
        note_id: note.noteId,
        text: `note ${odd}`,
      });
      const reread = eventsIn(stage.troupe.stateDir).filter(
        ({ run_id }) => run_id === run.id || run_id.startsWith(`${run.id}/`),
      );
      expect(reread).toEqual(events);
    },
  );

  it('R6: arguments that are equal but for the order of keys and the way a letter is escaped are the same call', async () => {
    let read: readonly string[] = [];
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1) {
          return calls(
            { name: 'say', args: '{"text":"é"}' },
            { name: 'say', args: '{ "text" : "\\u00e9" }' },
          );
        }
        read = results;
        return 'done';
      },
    });
    await stage.run('lead');
    expect(read[0]).toBe('é');
    expect(read[1]).toContain("Skipped duplicate tool call 'say'");
  });

  it('R12: a cut parts no surrogate pair', async () => {
    const emoji = '😀'.repeat(40_000);
    let read = '';
    stage.play({
      lead: ({ turn, results }) => {
        if (turn === 1)
          return calls(delegation('worker', 'x'), { name: 'say', args: { text: `x${emoji}` } });
        read = results.join('');
        return 'done';
      },
      worker: emoji,
    });
    await stage.run('lead');
    expect(read).not.toMatch(
      /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/,
    );
  });
});
