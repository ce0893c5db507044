// Carries out what one run owes: asks its model, runs its calls, launches, awaits and cancels its children, watches its
// clock. Owned by the run's supervisor; every effect settles exactly once, also when it is taken back.
// I1  A child that is called off before it began never begins.
import { invariant } from '../base/invariant.ts';
import { assertNever } from '../base/never.ts';
import { askApproval } from './ask-approval.ts';
import { runControl } from './control-tool.ts';
import type { FromAgent } from './core/agent-protocol.ts';
import { delegateResult, subagentResult } from './core/child-result.ts';
import { clip, surelyWhole } from './core/clip.ts';
import { partRoom } from './core/parallel-result.ts';
import { wholeAnswerChars } from './core/plan-summary.ts';
import type { RunCommand } from './core/run-command.ts';
import type { RunEffect } from './core/run-due.ts';
import { type ChildOutcome, callFrame } from './core/run-event.ts';
import type { RunSpec } from './core/run-spec.ts';
import { type CallState, type ChildState, launcherOf, planOf } from './core/run-state.ts';
import type { ToolOutcome } from './core/tool.ts';
import type { EnginePort } from './engine.ts';
import { judgeAnswer } from './judge-answer.ts';
import { RunActor } from './run-actor.ts';
import { Child } from './run-child.ts';
import { stopAtDeadline } from './run-deadline.ts';
import type { RunSupervisor } from './run-supervisor.ts';
import type { RunTree } from './run-tree.ts';

export type Settle = (command: RunCommand | null) => void;

export interface EffectsOptions {
  readonly engine: EnginePort;
  readonly tree: RunTree;
  readonly stopGraceMs: number;
}

/** Between an error and what was produced before it, as the model reads them. */
const SEPARATOR_CHARS = 2;

/** So many outcomes of children are taken before others have their turn. */
const COLLECTED_AT_ONCE = 32;

type Due<Type extends RunEffect['type']> = Extract<RunEffect, { type: Type }>;

export class RunEffects {
  readonly #supervisor: RunSupervisor;
  readonly #options: EffectsOptions;
  readonly #actor: RunActor;
  #children: Map<number, Child> | null = null;
  #collected = 0;
  #stoppingSinceMs = 0;

  constructor(supervisor: RunSupervisor, options: EffectsOptions) {
    this.#supervisor = supervisor;
    this.#options = options;
    this.#actor = new RunActor(supervisor, options);
  }

  start(effect: RunEffect, settle: Settle): () => void {
    switch (effect.type) {
      case 'model.ask':
        return this.#ask(effect, settle);
      case 'tool.run':
        return this.#run(effect, settle);
      case 'approval.ask':
        return askApproval(this.#options.engine, this.#spec, this.#runId, effect, settle);
      case 'child.run':
        this.#childOf(effect.child).begin(settle);
        return () => settle(null);
      case 'child.await':
        this.#childOf(effect.child).onEnded((outcome) =>
          this.#paced(() => this.#collect(outcome, effect, settle)),
        );
        return () => settle(null);
      case 'child.cancel':
        this.#childOf(effect.child).cancel(effect.reason);
        return () => settle(null);
      case 'deadline':
        return stopAtDeadline(this.#options.engine.clock, effect, settle);
      case 'halt':
        return this.#halt(settle);
      case 'proceed':
        return this.#proceed(settle);
      default:
        return assertNever(effect);
    }
  }

  heard(body: FromAgent): void {
    if (body.kind === 'delta') {
      this.#options.tree.heardDelta(this.#runId, body.turn, body.text);
      return;
    }
    this.#actor.heard(body);
  }

  /** Nothing that was asked of the actor will be answered; the run is stopping. */
  actorLost(): void {
    this.#actor.lost();
  }

  /** SPEC J7: what may be asked again is asked of a new actor, and the machine has said what became of the rest. */
  restart(isolated: boolean): void {
    this.#actor.restart(isolated);
  }

  /** The run began to stop: its grace runs from here, on every level of the tree at once. */
  stopping(): void {
    this.#stoppingSinceMs = this.#options.engine.clock.now();
  }

  /** Lets go of the actor, whatever it is doing. */
  release(): void {
    this.#actor.release();
  }

  get #runId(): string {
    return this.#supervisor.runId;
  }

  get #spec(): RunSpec {
    const { spec } = this.#supervisor.state;
    invariant(spec !== null, 'an effect belongs to a run that has begun');
    return spec;
  }

  #ask({ key, turn }: Due<'model.ask'>, settle: Settle): () => void {
    const { engine, tree } = this.#options;
    return this.#actor.ask(key, turn, settle, (body) => {
      if (body.kind === 'answered') {
        const { answer, checks } = body;
        const { state } = this.#supervisor;
        const asked = { tree, clock: engine.clock, state, spec: this.#spec };
        judgeAnswer(asked, answer.calls, checks, (verdicts) =>
          settle({ type: 'answered', turn, answer, verdicts }),
        );
      } else if (body.kind === 'failed') {
        settle({ type: 'model-failed', turn, fault: body.fault });
      }
    });
  }

  #run({ key, turn, call }: Due<'tool.run'>, settle: Settle): () => void {
    const done = (outcome: ToolOutcome) => this.#keep(outcome, turn, call, settle);
    const { engine, tree } = this.#options;
    const definition = engine.tools().get(call.name);
    const place = call.verdict.kind === 'tool' ? call.verdict.place : 'control';
    if (place === 'control' || definition === undefined) {
      const asking = { tree, clock: engine.clock, runId: this.#runId, spec: this.#spec };
      return runControl(asking, call, done);
    }
    const callKey = `${this.#runId}/${callFrame(turn, call.index)}`;
    const { timeoutMs } = definition;
    if (place === 'actor') {
      const { name, args_text: argsText, index } = call;
      const repeatable = call.verdict.kind === 'tool' && call.verdict.effect !== 'effectful';
      const job = { kind: 'run', turn, call: index, name, argsText, callKey, timeoutMs } as const;
      return this.#actor.run(key, job, repeatable, settle, done);
    }
    return this.#runElsewhere(place, call, callKey, timeoutMs, done);
  }

  #runElsewhere(
    place: 'compute' | 'host',
    call: CallState,
    callKey: string,
    timeoutMs: number,
    done: (outcome: ToolOutcome) => void,
  ): () => void {
    const { engine } = this.#options;
    const spec = this.#spec;
    const abort = new AbortController();
    const about = { runId: this.#runId, agentId: spec.agent_id, callKey, scope: spec.scope };
    const running =
      place === 'compute'
        ? engine.compute(
            {
              ...about,
              name: call.name,
              module: engine.tools().get(call.name)?.module ?? null,
              argsText: call.args_text,
              timeoutMs,
            },
            abort.signal,
          )
        : engine.runHostTool(
            call.name,
            call.args_text,
            { ...about, memory: spec.memory, signal: abort.signal, progress: () => undefined },
            timeoutMs,
          );
    void running.then(done);
    return () => abort.abort(new Error('the run is being stopped'));
  }

  #keep(outcome: ToolOutcome, turn: number, call: CallState, settle: Settle): void {
    const text = outcome.text ?? '';
    const around = outcome.ok ? 0 : outcome.error.length + SEPARATOR_CHARS;
    const whole = this.#wholeChars - around;
    this.#kept(text, whole, callFrame(turn, call.index), (shown, fullPath) => {
      const kept = { outcome: { ...outcome, text: shown }, chars: text.length, fullPath };
      settle({ type: 'ran', turn, call: call.index, kept });
    });
  }

  #paced(collect: () => void): void {
    this.#collected += 1;
    if (this.#collected % COLLECTED_AT_ONCE > 0) collect();
    else this.#options.engine.clock.after(0, collect);
  }

  #collect(outcome: ChildOutcome, { child }: Due<'child.await'>, settle: Settle): void {
    const whole = this.#wholeAnswerChars(outcome, child);
    this.#kept(outcome.answer, whole, `child-${child.ordinal}`, (shown, fullPath) => {
      settle({
        type: 'child-ended',
        ordinal: child.ordinal,
        outcome: { ...outcome, answer: shown, full_path: fullPath },
      });
      this.#children?.delete(child.ordinal);
      this.#options.tree.forget(child.runId);
    });
  }

  /** Characters that a result of this turn may have without being cut. */
  get #wholeChars(): number {
    const { result_chars_max: resultMax, turn_result_chars_max: turnMax } = this.#spec;
    return surelyWhole(resultMax, turnMax, this.#supervisor.state.calls.length);
  }

  /** Characters that a child's answer may have without being cut, with what its result says around it. */
  #wholeAnswerChars(outcome: ChildOutcome, child: ChildState): number {
    const plan = planOf(this.#supervisor.state, child);
    if (plan !== undefined) return wholeAnswerChars(plan.tasks.length, this.#wholeChars);
    const result = child.kind === 'subagent' ? subagentResult(outcome) : delegateResult(outcome);
    const { text, partial } = result;
    const around = text.length + SEPARATOR_CHARS + partial.length - outcome.answer.length;
    const call = launcherOf(this.#supervisor.state, child);
    const whole = call === undefined ? this.#wholeChars : partRoom(call, this.#wholeChars);
    return whole - around;
  }

  /** Texts longer than `wholeChars`, which the history may not hold whole, are kept whole in a file first (SPEC R12). */
  #kept(
    text: string,
    wholeChars: number,
    frame: string,
    then: (shown: string, fullPath: string | null) => void,
  ): void {
    const { engine } = this.#options;
    const { result_chars_max: resultMax } = this.#spec;
    if (text.length <= wholeChars) {
      then(text, null);
      return;
    }
    // A disk that cannot take the whole text must not lose the part that can be shown: the mark says it was not kept.
    void engine
      .keep(this.#runId, frame, text)
      .catch(() => null)
      .then((fullPath) => then(clip(text, resultMax, fullPath), fullPath));
  }

  /** SPEC N2: bounded; what does not stop in time is cut off. */
  #halt(settle: Settle): () => void {
    const { clock } = this.#options.engine;
    const graceEnds = this.#stoppingSinceMs + this.#options.stopGraceMs;
    const done = () => {
      untime();
      settle({ type: 'halted' });
    };
    const untime = clock.after(Math.max(0, graceEnds - clock.now()), () => {
      this.release();
      done();
    });
    const { tasks } = this.#options.tree;
    this.#supervisor.whenQuiet('halt', () => tasks.whenNoneBelow(this.#runId, done));
    return () => {
      untime();
      settle(null);
    };
  }

  /** After whatever else is ready to happen. */
  #proceed(settle: Settle): () => void {
    const untime = this.#options.engine.clock.after(0, () => settle({ type: 'proceed' }));
    return () => {
      untime();
      settle(null);
    };
  }

  #childOf(child: ChildState): Child {
    this.#children ??= new Map();
    const known = this.#children.get(child.ordinal);
    if (known !== undefined) return known;
    const made = new Child(child, this.#supervisor, this.#options.tree);
    this.#children.set(child.ordinal, made);
    return made;
  }
}
