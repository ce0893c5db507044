import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { planFaultWords, readPlanCall } from '../../../src/runtime/core/plan-call.ts';
import { cyclesOf } from '../../../src/runtime/core/plan-graph.ts';
import { placeAnswers, placedIds } from '../../../src/runtime/core/plan-placeholder.ts';
import { type PlanSpec, planSpecTool } from '../../../src/runtime/core/plan-spec.ts';

function read(args: JsonObject, answered: readonly string[] = []) {
  return readPlanCall(args, {
    answered: new Set(answered),
    resolveAgent: (asked) =>
      asked === 'Writer' || asked === 'writer'
        ? { ok: true, agentId: 'writer' }
        : { ok: false, words: `Unknown agent '${asked}'. Available agents: writer` },
  });
}

function one(id: string, change: JsonObject = {}): JsonObject {
  return { id, agent_id: 'writer', prompt: `do ${id}`, ...change };
}

function faultsOf(args: JsonObject, answered: readonly string[] = []): readonly string[] {
  const said = read(args, answered);
  return said.ok ? [] : said.faults;
}

function specOf(args: JsonObject, answered: readonly string[] = []): PlanSpec {
  const said = read(args, answered);
  if (!said.ok) throw new Error(said.faults.join('\n'));
  return said.spec;
}

describe('a call of plan', () => {
  it('P1: a valid call becomes a plan with every default filled in and every agent resolved', () => {
    const spec = specOf({
      goal: ' ship it ',
      tasks: [one('a', { agent_id: 'Writer', max_turns: 3 }), one('b', { review_of: ['a'] })],
    });
    expect(spec).toEqual({
      goal: 'ship it',
      max_rework: 2,
      on_failure: 'continue',
      mode: 'full',
      tasks: [
        {
          id: 'a',
          agent_id: 'writer',
          prompt: 'do a',
          depends_on: [],
          review_of: [],
          max_turns: 24,
        },
        {
          id: 'b',
          agent_id: 'writer',
          prompt: 'do b',
          depends_on: ['a'],
          review_of: ['a'],
          max_turns: null,
        },
      ],
    });
  });

  it('P7: review_of implies depends_on, and a task that is in both counts once', () => {
    const tasks = [one('a'), one('b'), one('r', { depends_on: ['a', 'a'], review_of: ['a', 'b'] })];
    expect(specOf({ tasks }).tasks[2]?.depends_on).toEqual(['a', 'b']);
  });

  it.each([
    [1, 24],
    [24, 24],
    [60, 60],
    [101, 100],
  ])('D2: max_turns %d becomes %d', (asked, given) => {
    expect(specOf({ tasks: [one('a', { max_turns: asked })] }).tasks[0]?.max_turns).toBe(given);
  });

  it('P1: a null is a field that was left out, wherever it stands', () => {
    const nothing = { depends_on: null, review_of: null, max_turns: null };
    const spec = specOf({
      goal: null,
      max_rework: null,
      on_failure: null,
      mode: null,
      tasks: [one('a', nothing)],
    });
    expect(spec).toMatchObject({ goal: null, max_rework: 2, on_failure: 'continue', mode: 'full' });
  });

  it('P1: all faults are reported together, each with its task and field', () => {
    const faults = faultsOf({
      goal: 7,
      max_rework: 5,
      on_failure: 'panic',
      mode: 'waves',
      tasc: [],
      tasks: [
        one('a', { depends_on: ['a', 'ghost'] }),
        one('a', { depend_on: ['a'] }),
        one('b b'),
        { agent_id: 'nobody', prompt: ' ' },
        one('c', { review_of: ['c', 'spirit'], max_turns: 1.5, depends_on: 'a' }),
        one('d', { prompt: 'use {{c.answer}}', depends_on: ['a', 3] }),
        'e',
      ],
    });
    expect(faults).toEqual([
      "plan: unknown field 'tasc'; did you mean 'tasks'?",
      'goal: must be a text, found a number',
      'max_rework: must be a whole number from 0 to 4, found 5',
      "on_failure: must be one of continue, stop, abort; found 'panic'",
      "mode: must be one of full, wave; found 'waves'",
      "task 'a' (tasks[1]): unknown field 'depend_on'; did you mean 'depends_on'?",
      "task 'b b' (tasks[2]), id: must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit",
      'tasks[3], id: missing',
      "tasks[3], agent_id: Unknown agent 'nobody'. Available agents: writer",
      'tasks[3], prompt: must not be empty',
      "task 'c' (tasks[4]), depends_on: must be a list of task ids, found a text",
      "task 'c' (tasks[4]), max_turns: must be a whole number, found 1.5",
      "task 'd' (tasks[5]), depends_on: must hold task ids only, found a number",
      'tasks[6]: must be an object, found a text',
      "task 'a' (tasks[1]), id: already the id of tasks[0]",
      "task 'a' (tasks[0]), depends_on: a task cannot depend on itself",
      "task 'a' (tasks[0]), depends_on: unknown task 'ghost'",
      "task 'c' (tasks[4]), review_of: a task cannot review itself",
      "task 'c' (tasks[4]), review_of: unknown task 'spirit'",
      "task 'd' (tasks[5]), prompt: {{c.answer}} is neither upstream of this task in the plan nor answered earlier in this run; add 'c' to its depends_on or leave it out",
    ]);
  });

  it.each([
    ['a -> b -> a', { a: ['b'], b: ['a'] }],
    ['a -> c -> b -> a', { a: ['c'], b: ['a'], c: ['b'] }],
    ['b -> c -> b', { a: ['b'], b: ['c'], c: ['b'], d: ['a'] }],
  ])('P1: the cycle %s is printed', (cycle, graph: Record<string, string[]>) => {
    const tasks = Object.entries(graph).map(([id, needs]) => one(id, { depends_on: needs }));
    expect(faultsOf({ tasks })).toEqual([`tasks: dependency cycle ${cycle}`]);
  });

  it('P1: two cycles that have nothing to do with each other are both printed', () => {
    const graph = [
      { id: 'a', depends_on: ['b'] },
      { id: 'b', depends_on: ['a'] },
      { id: 'c', depends_on: ['d', 'a'] },
      { id: 'd', depends_on: ['c'] },
    ];
    expect(cyclesOf(graph)).toEqual(['a -> b -> a', 'c -> d -> c']);
  });

  it('P1: two reviewers of each other are a cycle', () => {
    const tasks = [one('a', { review_of: ['b'] }), one('b', { review_of: ['a'] })];
    expect(faultsOf({ tasks })).toEqual(['tasks: dependency cycle a -> b -> a']);
  });

  it.each([
    [0, 'tasks: there must be at least 1 task'],
    [17, 'tasks: 17 tasks are given, at most 16 are allowed'],
    [5000, 'tasks: 5000 tasks are given, at most 16 are allowed'],
  ])('P1: %d tasks are refused', (count, words) => {
    const tasks = Array.from({ length: count }, (_, at) => one(`t${at}`));
    expect(faultsOf({ tasks })).toEqual([words]);
  });

  it('P1: 16 tasks pass, and tasks that are no list do not', () => {
    const tasks = Array.from({ length: 16 }, (_, at) => one(`t${at}`));
    expect(specOf({ tasks }).tasks).toHaveLength(16);
    expect(faultsOf({ tasks: { a: 1 } })).toEqual([
      'tasks: must be a list of 1 to 16 tasks, found an object',
    ]);
    expect(faultsOf({})).toEqual(['tasks: must be a list of 1 to 16 tasks, found nothing']);
  });

  it.each(['', '.a', '-a', 'a b', 'é', 'a'.repeat(65)])('C7: the id %j is refused', (id) => {
    expect(faultsOf({ tasks: [one(id)] })).toHaveLength(1);
  });

  it.each(['a', '0', 'a.b_c-d', 'a.answer', 'constructor', 'a'.repeat(64)])(
    'C7: the id %j passes',
    (id) => {
      expect(specOf({ tasks: [one(id)] }).tasks[0]?.id).toBe(id);
    },
  );

  it('P1: names that every object has are unknown tasks like any other', () => {
    const tasks = [one('a', { depends_on: ['constructor'], prompt: '{{toString.answer}}' })];
    expect(faultsOf({ tasks })).toEqual([
      "task 'a' (tasks[0]), depends_on: unknown task 'constructor'",
      "task 'a' (tasks[0]), prompt: {{toString.answer}} is neither upstream of this task in the plan nor answered earlier in this run",
    ]);
  });

  it('P1: a placeholder may name any task upstream, however far, and any earlier answer', () => {
    const tasks = [
      one('a'),
      one('b', { depends_on: ['a'] }),
      one('c', { depends_on: ['b'], prompt: '{{a.answer}} {{b.answer}} {{old.answer}}' }),
    ];
    expect(faultsOf({ tasks }, ['old'])).toEqual([]);
    expect(faultsOf({ tasks })).toHaveLength(1);
  });

  it('P1: a task may place its own earlier answer, but not the one it is about to give', () => {
    const tasks = [one('a', { prompt: 'better than {{a.answer}}' })];
    expect(faultsOf({ tasks }, ['a'])).toEqual([]);
    expect(faultsOf({ tasks })).toHaveLength(1);
  });

  it('P1: a dependency on an earlier plan is refused with the way to say it', () => {
    const tasks = [one('b', { depends_on: ['a'] })];
    expect(faultsOf({ tasks }, ['a'])).toEqual([
      "task 'b' (tasks[0]), depends_on: unknown task 'a'; it was answered in an earlier plan, so place {{a.answer}} in the prompt instead",
    ]);
  });

  it('P1: the words of a refusal count the faults and list at most 40', () => {
    expect(planFaultWords(['x: odd'])).toContain('(1 fault):\n- x: odd\n');
    const words = planFaultWords(Array.from({ length: 50 }, (_, at) => `fault ${at}`));
    expect(words).toContain('(50 faults)');
    expect(words).toContain('- fault 39\n- and 10 more\n');
  });
});

describe('placeholders', () => {
  it('P3: ids with dots are read whole: {{a.answer.answer}} is the answer of task a.answer', () => {
    expect(placedIds('{{a.answer.answer}} {{a.answer}} {{ x.y-z_1.answer }}')).toEqual([
      'a.answer',
      'a',
      'x.y-z_1',
    ]);
  });

  it('P3: braces that are no placeholder stay as they are', () => {
    const prompt = '{{answer}} {{a}} {{a.anwser}} {a.answer} {{.answer}} {{a b.answer}} {{a.answer';
    expect(placedIds(prompt)).toEqual([]);
    expect(placeAnswers(prompt, () => 'X')).toBe(prompt);
  });

  it('P3: an answer is put in as it is, dollar signs, placeholders and all', () => {
    const placed = placeAnswers('<{{a.answer}}|{{b.answer}}>', (id) =>
      id === 'a' ? '$& $1 {{b.answer}}' : 'B',
    );
    expect(placed).toBe('<$& $1 {{b.answer}}|B>');
    expect(placeAnswers('{{ ghost.answer }}', () => null)).toBe('{{ ghost.answer }}');
  });
});

describe('the tool as it is advertised', () => {
  it('P13, A1: the description warns of the shared workspace, says to call agents first, and lists the ids', () => {
    const spec = planSpecTool(['qa', 'writer']);
    expect(spec.description).toMatch(/shared workspace/);
    expect(spec.description).toMatch(/Only read-only work or work on disjoint files/);
    expect(spec.description).toMatch(/Call the tool agents first/);
    expect(JSON.stringify(spec.parameters)).toContain('Available: qa, writer');
    expect(JSON.stringify(planSpecTool([]).parameters)).toContain('Available: (none)');
  });

  it('P1: its schema is strict, and takes a call of every field', () => {
    const check = new Ajv({ strict: true }).compile(planSpecTool(['writer']).parameters);
    const full = one('a', { depends_on: ['b'], review_of: ['b'], max_turns: 30 });
    const call = { goal: 'g', tasks: [full], max_rework: 4, on_failure: 'abort', mode: 'wave' };
    expect(check(call)).toBe(true);
    expect(check({ tasks: [] })).toBe(false);
    expect(check({ tasks: [full], max_rework: 5 })).toBe(false);
    expect(check({ tasks: [{ ...full, agent: 'x' }] })).toBe(false);
  });
});
