// A small Llama checkpoint and a server that has nothing yet, for tests of what the loader may be given and what it finds there
// (checkpoint, sources, public-reports).

import { after, beforeEach } from 'node:test';
import { openCheckpoint, Runtime } from '../../src/binding/index.js';
import { FaultServer } from './fault-server.js';
import { llamaTensors, makeSafetensors } from './make-safetensors.js';

export const RETRY = { baseDelay: 1, maxDelay: 20 };
export const CONFIG = {
  model_type: 'llama',
  hidden_act: 'silu',
  hidden_size: 8,
  intermediate_size: 12,
};

/** The tensors of one layer. @param {number} n */
export const layer = (n) => llamaTensors(`model.layers.${n}.mlp`, 8, 12, n + 1);

/** A file of the first. */
export const single = makeSafetensors(layer(0), { metadata: { format: 'pt' } });

/** @param {unknown} value */
export const json = (value) => Buffer.from(JSON.stringify(value));

/** The server is empty and well-behaved again before each test, and closed after the last one of the file. */
export async function startLoading() {
  const runtime = await Runtime.create();
  const server = await FaultServer.start({});
  after(() => server.close());
  beforeEach(() => {
    server.reset();
    server.files.clear();
  });
  /** @param {import('../../src/binding/checkpoint.js').CheckpointSource} source @param {import('../../src/binding/checkpoint.js').OpenOptions} [options] */
  const open = (source, options = {}) =>
    openCheckpoint(source, { runtime, retry: RETRY, ...options });
  return { runtime, server, open };
}
