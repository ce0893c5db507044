// Puts the calls that wait for an approval to the person at the terminal, one after another. Owns the raw mode of stdin
// while a question stands.
// P1  One question at a time, in the order in which they were asked; an answer is for the one that is shown.
// P2  A key counts only if it came alone, and not sooner than `SETTLE_MS` after its question was shown: what was typed
//     before, pasted, or held down answers nothing.
// P3  Stdin is raw only while a question stands. Ctrl-C is then still the signal that it is otherwise.

import type { ApprovalAnswer, ApprovalRequest } from '../approval-asker.ts';
import type { Clock } from '../base/clock.ts';
import type { Context } from './context.ts';
import { askedLines, howToAnswer, questionLine } from './core/approval-words.ts';
import { safeLine } from './core/plain-text.ts';

/** Milliseconds in which nobody has read a question. */
export const SETTLE_MS = 400;
const CTRL_C = '\u0003';

/** What of stdin is used; `process.stdin` fits. */
export interface Keyboard {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'data', heard: (chunk: Buffer | string) => void): unknown;
  off(event: 'data', heard: (chunk: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

interface Question {
  readonly request: ApprovalRequest;
  readonly settle: (answer: ApprovalAnswer) => void;
}

export class ApprovalPrompt {
  readonly #context: Context;
  readonly #keyboard: Keyboard;
  readonly #clock: Clock;
  readonly #interrupt: () => void;
  #questions: readonly Question[] = [];
  #shown: Question | null = null;
  #shownAt = 0;
  readonly #heard = (chunk: Buffer | string) => this.#key(String(chunk));

  /** `interrupt` does what Ctrl-C does. */
  constructor(context: Context, keyboard: Keyboard, clock: Clock, interrupt: () => void) {
    this.#context = context;
    this.#keyboard = keyboard;
    this.#clock = clock;
    this.#interrupt = interrupt;
  }

  /** As `onApproval`. Where there is no terminal it says how to answer from another one, and waits for that. */
  readonly ask = (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> =>
    new Promise((resolve) => {
      const { terminal } = this.#context;
      const isAsked = terminal.live && this.#keyboard.isTTY === true;
      for (const line of isAsked ? [] : this.#announcement(request)) terminal.say(line);
      const question = { request, settle: resolve };
      signal.addEventListener('abort', () => this.#withdrawn(question, signal.reason));
      if (!isAsked) return;
      this.#questions = [...this.#questions, question];
      this.#next();
    });

  #announcement(request: ApprovalRequest): readonly string[] {
    const { options } = this.#context;
    return [...askedLines(request), howToAnswer(request.id, options.state)];
  }

  /** P1. */
  #next(): void {
    const [first] = this.#questions;
    const { terminal } = this.#context;
    if (first === undefined) {
      if (this.#shown !== null) this.#listen(false);
      this.#shown = null;
      terminal.ask(null);
      return;
    }
    if (first !== this.#shown) {
      if (this.#shown === null) this.#listen(true);
      this.#shown = first;
      this.#shownAt = this.#clock.now();
      for (const line of askedLines(first.request)) terminal.say(line);
    }
    terminal.ask(questionLine(first.request, this.#questions.length - 1));
  }

  /** P3. */
  #listen(on: boolean): void {
    this.#keyboard.setRawMode?.(on);
    if (on) {
      this.#keyboard.on('data', this.#heard);
      this.#keyboard.resume();
      return;
    }
    this.#keyboard.off('data', this.#heard);
    this.#keyboard.pause();
  }

  #key(text: string): void {
    if (text.includes(CTRL_C)) {
      this.#interrupt();
      return;
    }
    const question = this.#shown;
    const key = text.toLowerCase();
    if (question === null || (key !== 'y' && key !== 'n')) return; // P2
    if (this.#clock.now() - this.#shownAt < SETTLE_MS) return; // P2
    const granted = key === 'y';
    this.#remove(question);
    this.#context.terminal.say(
      `${safeLine(question.request.id)}: ${granted ? 'approved' : 'denied'}`,
    );
    question.settle({ granted, by: 'user', why: granted ? '' : 'no reason given' });
    this.#next();
  }

  #withdrawn(question: Question, reason: unknown): void {
    const words = reason instanceof Error ? reason.message : 'no longer asked for';
    this.#context.terminal.say(`${safeLine(question.request.id)}: ${words}`);
    if (!this.#questions.includes(question)) return;
    this.#remove(question);
    this.#next();
  }

  #remove(question: Question): void {
    this.#questions = this.#questions.filter((each) => each !== question);
  }
}

/** The prompt of this process's own terminal. */
export function ownPrompt(context: Context, clock: Clock): ApprovalPrompt {
  return new ApprovalPrompt(context, process.stdin, clock, () => {
    process.kill(process.pid, 'SIGINT');
  });
}
