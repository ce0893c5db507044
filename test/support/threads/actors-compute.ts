import { type JobContext, Moved, serveCompute } from '../../../src/actors/compute-host.ts';
import { Fault } from '../../../src/base/fault.ts';

// A thread that starts while this is set cannot load its entry: it is how a test breaks the threads to come.
if (process.env['TROUPE_TEST_BREAK_ENTRY'] === '1') throw new Error('this entry broke');

/** What a test makes a compute thread do. Jobs that go on until they are ended report `begun` first. */
export type Job =
  | { readonly do: 'return'; readonly value: unknown }
  | { readonly do: 'mark'; readonly marks: Int32Array; readonly at: number }
  /** Raises `marks[0]` while it runs and `marks[1]` once its outcome has been reported. */
  | { readonly do: 'mark-twice'; readonly marks: Int32Array }
  /** Blocks its thread until `gate[0]` is raised. */
  | { readonly do: 'wait'; readonly gate: Int32Array }
  | { readonly do: 'throw-fault' }
  | { readonly do: 'throw' }
  | { readonly do: 'return-function' }
  | { readonly do: 'exit'; readonly code: number }
  | { readonly do: 'stray' }
  | { readonly do: 'out-of-memory' }
  | { readonly do: 'spin'; readonly cleaned: Int32Array }
  | { readonly do: 'heed'; readonly cleaned: Int32Array }
  | { readonly do: 'progress'; readonly count: number }
  | { readonly do: 'return-buffer'; readonly bytes: number };

function raise(flag: Int32Array, at = 0): void {
  Atomics.add(flag, at, 1);
  Atomics.notify(flag, at);
}

/** Blocks its thread, and means to tidy up. */
function spin(ctx: JobContext, cleaned: Int32Array): void {
  ctx.progress('begun');
  try {
    for (;;);
  } finally {
    raise(cleaned);
  }
}

/** Ends only when it is told to, and tidies up. */
async function heed(ctx: JobContext, cleaned: Int32Array): Promise<string> {
  const told = new Promise<string>((resolve) => {
    ctx.signal.addEventListener('abort', () => resolve(String(ctx.signal.reason.message)));
  });
  ctx.progress('begun');
  const reason = await told;
  raise(cleaned);
  return reason;
}

function run(job: Job, ctx: JobContext): unknown {
  switch (job.do) {
    case 'return':
      return job.value;
    case 'mark':
      raise(job.marks, job.at);
      return Atomics.load(job.marks, job.at);
    case 'mark-twice':
      raise(job.marks, 0);
      setTimeout(() => raise(job.marks, 1), 1);
      return 1;
    case 'wait':
      ctx.progress('begun');
      return Atomics.wait(job.gate, 0, 0);
    case 'throw-fault':
      throw new Fault('model.timeout', 'a fault of its own', { retry: 'safe', detail: { a: 1 } });
    case 'throw':
      throw new TypeError('thrown by the job');
    case 'return-function':
      return () => undefined;
    case 'exit':
      return process.exit(job.code);
    case 'stray':
      setImmediate(() => {
        throw new Error('stray');
      });
      return new Promise(() => undefined);
    case 'out-of-memory': {
      const hoard: unknown[][] = [];
      for (;;) hoard.push(new Array(100_000).fill(hoard.length));
    }
    case 'spin':
      return spin(ctx, job.cleaned);
    case 'heed':
      return heed(ctx, job.cleaned);
    case 'progress':
      for (let n = 0; n < job.count; n += 1) ctx.progress(n);
      return job.count;
    case 'return-buffer': {
      const bytes = new Uint8Array(job.bytes).fill(7);
      return new Moved(bytes, [bytes.buffer]);
    }
  }
}

export default serveCompute((job, ctx) => run(job as Job, ctx));
