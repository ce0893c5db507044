import { serveThread } from '../actors/serve-thread.ts';
import { type ModelThreadOptions, serveModels } from '../models/model-thread.ts';

serveThread<ModelThreadOptions>(serveModels);
