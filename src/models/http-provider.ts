/**
 * One provider entry asked over HTTP. Owns the entry's permits and its connections.
 *
 * 1. A question holds one permit from its first attempt to its end, pauses between attempts included.
 * 2. Whether it was stopped is looked at before a failure is judged: what the caller aborted is never made again.
 * 3. Text is shown as it comes, by one attempt only: when an attempt fails after text was shown, the question is asked
 *    again, but later attempts show nothing; the answer alone counts. So no reader sees a sentence twice.
 * 4. Every attempt ends with its socket closed or its body read.
 */
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Random } from '../base/random.ts';
import type {
  ModelAnswer,
  ModelProvider,
  ModelRequest,
  ProviderEntry,
} from '../runtime/core/model.ts';
import type { CancelSignal } from '../runtime/core/tool.ts';
import { costCents } from './core/cost.ts';
import { decideRetry } from './core/retry.ts';
import { Permits } from './permits.ts';
import {
  type AttemptEnd,
  abortedFault,
  cutFault,
  type FailedAttempt,
  filteredFault,
  judgeErrorPart,
  judgeFailure,
} from './request-fault.ts';
import { RequestLimits } from './request-limits.ts';
import {
  type ClientParts,
  clientParts,
  type HttpType,
  isHttpType,
  loadSdk,
  openModel,
  tableOf,
} from './sdk-model.ts';
import { toCallOptions } from './sdk-prompt.ts';
import { type Folded, StreamFold } from './stream-fold.ts';
import { type Connector, openConnector } from './watched-fetch.ts';

export interface HttpProviderDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One question while it is being asked. */
interface Question {
  readonly parts: ClientParts;
  readonly model: string;
  readonly request: ModelRequest;
  readonly limits: RequestLimits;
  readonly connector: Connector;
  /** Where text goes; nowhere once an attempt that showed some has failed (3). */
  show: ((text: string) => void) | null;
}

type AttemptOutcome =
  | { readonly ok: true; readonly folded: Folded }
  | ({ readonly ok: false } & FailedAttempt);

export class HttpProvider implements ModelProvider {
  readonly #entry: ProviderEntry;
  readonly #deps: HttpProviderDeps;
  readonly #permits: Permits;
  #connector: Promise<Connector> | null = null;

  constructor(entry: ProviderEntry, deps: HttpProviderDeps) {
    this.#entry = entry;
    this.#deps = deps;
    this.#permits = new Permits(entry.maxConcurrentRequests);
  }

  async ask(
    request: ModelRequest,
    options: { readonly signal: CancelSignal; readonly onDelta: (text: string) => void },
  ): Promise<ModelAnswer> {
    const parts = clientParts(this.#entry, this.#deps.env);
    const model = this.#modelOf(request);
    this.#refuseTextTools(request);
    const release = await this.#permits.take(options.signal);
    if (release === null) throw abortedFault(this.#entry);
    const limits = new RequestLimits(this.#entry, this.#deps.clock, options.signal); // 1
    try {
      const connector = await this.#open();
      return await this.#askUntilDone({
        parts,
        model,
        request,
        limits,
        connector,
        show: options.onDelta,
      });
    } finally {
      limits.end();
      release();
    }
  }

  /** What cannot be loaded now, the first question tries again and says. */
  warm(): void {
    const { type } = this.#entry;
    void this.#open().catch(() => undefined);
    if (isHttpType(type)) void loadSdk(type).catch(() => undefined);
  }

  async close(): Promise<void> {
    const connector = await this.#connector;
    await connector?.close();
  }

  #open(): Promise<Connector> {
    this.#connector ??= openConnector(this.#entry.connectTimeoutMs);
    return this.#connector;
  }

  #modelOf(request: ModelRequest): string {
    const model = request.model.model || this.#entry.model;
    if (model) return model;
    throw new Fault(
      'model.unsupported',
      `provider ${this.#entry.ref}: no model is named; set ${tableOf(this.#entry)} model, or [agents.${request.agentId}] model`,
      { detail: { provider: this.#entry.ref } },
    );
  }

  #refuseTextTools(request: ModelRequest): void {
    if (this.#entry.nativeTools || request.tools.length === 0) return;
    throw new Fault(
      'model.unsupported',
      `provider ${this.#entry.ref}: native_tools = false is not supported together with tools yet; set ${tableOf(this.#entry)} native_tools = true if the server takes tools, or give agent ${request.agentId} none`,
      { detail: { provider: this.#entry.ref } },
    );
  }

  async #askUntilDone(question: Question): Promise<ModelAnswer> {
    const { limits } = question;
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await this.#attempt(question);
      if (outcome.ok) return this.#answer(question, outcome.folded, attempts);
      const decision = decideRetry({
        advice: outcome.fault.retry,
        attempts,
        maxRetries: this.#entry.maxRetries,
        stopped: limits.final, // 2
        remainingMs: limits.remainingMs,
        retryAfterMs: outcome.retryAfterMs,
        unit: this.#deps.random.unit(),
      });
      if (!decision.again) throw counted(outcome.fault, attempts);
      await limits.pause(decision.delayMs);
      if (limits.final) throw this.#stoppedWhileWaiting(question, outcome.fault, attempts);
    }
  }

  async #attempt(question: Question): Promise<AttemptOutcome> {
    const { limits, connector, parts, model } = question;
    let answered = false;
    let shown = false;
    const end = (): AttemptEnd => ({
      entry: this.#entry,
      model,
      stop: limits.stop,
      answered,
      key: parts.key,
      nowMs: this.#deps.clock.now(),
    });
    const fold = new StreamFold((text) => {
      if (question.show === null || text === '') return;
      shown = true;
      question.show(text);
    });
    try {
      const fetch = connector.fetch({
        answered: () => {
          answered = true;
        },
        alive: () => limits.alive(),
        tooLarge: () => limits.tooLarge(),
      });
      const client = await openModel(parts, model, fetch);
      const abortSignal = limits.begin();
      await readStream(client, { ...this.#callOptions(parts.type, question), abortSignal }, fold);
      const failed = judgeFold(fold, end());
      if (failed === null) return { ok: true, folded: fold.result() };
      return this.#failed(question, shown, failed);
    } catch (thrown) {
      return this.#failed(question, shown, judgeFailure(thrown, end()));
    } finally {
      limits.finishAttempt();
    }
  }

  #failed(question: Question, shown: boolean, failed: FailedAttempt): AttemptOutcome {
    if (shown) question.show = null; // 3
    return { ok: false, ...failed };
  }

  #callOptions(type: HttpType, question: Question): LanguageModelV3CallOptions {
    return toCallOptions(type, question.request, this.#entry.temperature);
  }

  #stoppedWhileWaiting(question: Question, last: Fault, attempts: number): Fault {
    const { fault } = judgeFailure(undefined, {
      entry: this.#entry,
      model: question.model,
      stop: question.limits.stop,
      answered: false,
      key: null,
      nowMs: this.#deps.clock.now(),
    });
    if (fault.code === 'model.aborted') return fault;
    return new Fault(fault.code, `${fault.message}; the last attempt: ${last.message}`, {
      retry: 'never',
      detail: { ...fault.detail, attempts },
    });
  }

  #answer(question: Question, folded: Folded, attempts: number): ModelAnswer {
    return {
      text: folded.text,
      calls: folded.calls,
      usage: folded.usage,
      costCents: costCents(folded.usage, this.#entry.price),
      servedBy: `${this.#entry.ref}/${question.model}`,
      finishReason: folded.finishReason,
      raw: folded.raw,
      ...(folded.providerMeta === undefined ? {} : { providerMeta: folded.providerMeta }),
      attempts,
    };
  }
}

/** Reads to the end, or leaves at the first error; the body is cancelled either way (4). */
async function readStream(
  client: LanguageModelV3,
  options: LanguageModelV3CallOptions,
  fold: StreamFold,
): Promise<void> {
  const { stream } = await client.doStream(options);
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      fold.add(value);
      if (fold.error !== null) return;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** A stream that was read to its end may still be no answer. */
function judgeFold(fold: StreamFold, end: AttemptEnd): FailedAttempt | null {
  if (end.stop !== null) return judgeFailure(undefined, end);
  if (fold.error !== null) return judgeErrorPart(fold.error.value, end);
  if (!fold.finished) return { fault: cutFault(end), retryAfterMs: null };
  if (fold.finishedByError) return judgeErrorPart(undefined, end);
  const { text, calls, finishReason } = fold.result();
  if (finishReason === 'content-filter' && text === '' && calls.length === 0) {
    return { fault: filteredFault(end), retryAfterMs: null };
  }
  return null;
}

function counted(fault: Fault, attempts: number): Fault {
  const tries = attempts === 1 ? '' : ` (${attempts} attempts)`;
  return new Fault(fault.code, `${fault.message}${tries}`, {
    retry: fault.retry,
    detail: { ...fault.detail, attempts },
  });
}
