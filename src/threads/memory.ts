import { serveThread } from '../actors/serve-thread.ts';
import { type MemoryThreadOptions, serveMemories } from '../runtime/memory-thread.ts';

serveThread<MemoryThreadOptions>(serveMemories);
