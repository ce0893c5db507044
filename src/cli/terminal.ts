// The two output streams of the command: results on stdout, everything else on stderr.
// T1  Text that came from elsewhere is made safe before it gets here; what is printed here is sent as it is.
// T2  A reader that went away (`| head`) is no error: writing stops, `outGone` says so. A full disk is one.
import { inColour, type Paint, plain } from './core/paint.ts';

/** What a terminal or a pipe has, as far as it matters here. */
export type OutStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Something that is redrawn in place at the foot of stderr. */
export interface Foot {
  /** Puts a line above it. */
  above(line: string): void;
  changed(): void;
}

export class Terminal {
  readonly paintOut: Paint;
  readonly paintErr: Paint;
  /** May stderr be redrawn in place? */
  readonly live: boolean;
  readonly #out: OutStream;
  readonly #err: OutStream;
  readonly #gone = new AbortController();
  #fault: Error | null = null;
  #foot: Foot | null = null;
  #question: string | null = null;

  constructor(out: OutStream, err: OutStream, env: Environment) {
    this.#out = out;
    this.#err = err;
    const colours = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
    this.paintOut = colours && out.isTTY === true ? inColour : plain;
    this.paintErr = colours && err.isTTY === true ? inColour : plain;
    this.live = err.isTTY === true && env['TERM'] !== 'dumb';
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') this.#fault ??= error; // T2
      this.#gone.abort();
    });
    err.on('error', () => undefined);
  }

  /** Aborts once nobody reads stdout any more. */
  get outGone(): AbortSignal {
    return this.#gone.signal;
  }

  get outIsTerminal(): boolean {
    return this.#out.isTTY === true;
  }

  /** Columns of stdout; `null` where it is no terminal. */
  get outWidth(): number | null {
    return this.#out.isTTY === true ? (this.#out.columns ?? 80) : null;
  }

  get errWidth(): number | null {
    return this.#err.isTTY === true ? (this.#err.columns ?? 80) : null;
  }

  /** For what redraws it; everything else says lines. */
  get errStream(): NodeJS.WritableStream {
    return this.#err;
  }

  get errRows(): number {
    return this.#err.rows ?? 24;
  }

  /** A result: whole lines on stdout. */
  print(text: string): void {
    if (this.#gone.signal.aborted) return;
    this.#out.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Resolves once all that was printed is out: with what was lost, or `null`. */
  async flushed(): Promise<Error | null> {
    await new Promise<void>((resolve) => {
      this.#out.write('', () => resolve());
    });
    return this.#fault;
  }

  /** Anything else: a line on stderr, above what is being redrawn there. */
  say(line: string): void {
    if (this.#foot === null) this.#err.write(`${line}\n`);
    else this.#foot.above(line);
  }

  /** While something is redrawn at the foot of stderr, lines go through it. */
  drawBelow(foot: Foot | null): void {
    this.#foot = foot;
  }

  /** What a person is asked now, below everything else; whoever redraws the foot of stderr shows it there. */
  get question(): string | null {
    return this.#question;
  }

  ask(question: string | null): void {
    this.#question = question;
    if (this.#foot !== null) this.#foot.changed();
    else if (question !== null) this.#err.write(`${question}\n`);
  }
}
