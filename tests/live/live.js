// `npm run test:live`: all 30 layers of a whole sharded checkpoint of 273 MB over HTTP, one by one out of one opening, and
// the one that lies across both shards alone. Weights are held to the files' bytes, outputs to Hugging Face's, and what was
// requested, received and kept in memory to what was wanted. Prints the figures.
//   node --expose-gc tests/live/live.js [folder]     a folder that make_checkpoint.py has made, instead of making one

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatedMLP, openCheckpoint, Runtime } from '../../src/binding/index.js';
import { readJson, readSafetensors, values, worstRowError } from '../helpers/goldens.js';
import { wholeCheckpoint } from './checkpoint.js';
import { MemoryWatch } from './memory.js';

/** @typedef {import('./range-server.js').Figures} Figures */

const NAME = 'smollm2-135m-instruct';
const [LAYERS, D, D_FF, BYTES_PER_VALUE] = [30, 576, 1536, 2];
const WANTED = 3 * D * D_FF * BYTES_PER_VALUE;
const ACROSS_SHARDS = 11;
const [KIB, MIB] = [1024, 1024 * 1024];
const PER_TOKEN = 2e-6;
const MOST_TO_OPEN = 2;
const MOST_IN_FLIGHT = 4;

const folder = process.argv[2] ? resolve(process.argv[2]) : wholeCheckpoint();
const shards = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
const headers = Object.fromEntries(shards.map((name) => [name, readHeader(name)]));
const headerBytes = Object.values(headers).reduce((sum, { dataStart }) => sum + dataStart, 0);

const server = fork(fileURLToPath(new URL('range-server.js', import.meta.url)), [folder]);
const [{ address }] = await once(server, 'message');
try {
  await warmUp();
  for (const collecting of [false, true]) {
    await loadAcrossShards(collecting);
    await loadAll(collecting);
  }
} finally {
  server.disconnect();
}

/** Whatever the first load of a process brings with it (modules, sockets) is no part of what a load needs. */
async function warmUp() {
  const runtime = await Runtime.create();
  (await GatedMLP.fromPretrained(address, { runtime, layer: 0 })).dispose();
  await takeFigures();
}

/** One layer, opened for itself alone. @param {boolean} collecting */
async function loadAcrossShards(collecting) {
  const runtime = await Runtime.create();
  const watch = await MemoryWatch.start(runtime, { collecting });
  const onProgress = () => watch.look();
  const mlp = await GatedMLP.fromPretrained(address, { runtime, layer: ACROSS_SHARDS, onProgress });
  const memory = memoryOf(watch, collecting);
  const figures = await takeFigures();
  report(`layer ${ACROSS_SHARDS} alone`, 1, figures, memory);
  for (const name of shards) assert.ok(requestsOf(figures, name) > 0, `${name} is not asked`);
  assertOutputs(ACROSS_SHARDS, mlp);
  mlp.dispose();
}

/** Every layer out of one opening, all of them kept. @param {boolean} collecting */
async function loadAll(collecting) {
  const runtime = await Runtime.create();
  const watch = await MemoryWatch.start(runtime, { collecting });
  const checkpoint = await openCheckpoint(address, { runtime });
  const opening = await takeFigures();
  for (const name of shards) assert.ok(requestsOf(opening, name) <= MOST_TO_OPEN, name);
  assert.deepEqual(
    checkpoint.mlps.map(({ layer, d, dFf, act }) => [layer, d, dFf, act]),
    Array.from({ length: LAYERS }, (_, layer) => [layer, D, D_FF, 'silu']),
  );
  /** @type {GatedMLP[]} */
  const mlps = [];
  const onProgress = () => watch.look();
  const total = opening;
  for (let layer = 0; layer < LAYERS; layer++) {
    mlps.push(await GatedMLP.fromCheckpoint(checkpoint, { layer, onProgress }));
    const figures = await takeFigures();
    assert.ok(bytesOf(figures) <= WANTED + shards.length * 64 * KIB, `layer ${layer}`);
    add(total, figures);
  }
  report(`all ${LAYERS} layers`, LAYERS, total, memoryOf(watch, collecting));
  for (const [layer, mlp] of mlps.entries()) assertWeights(layer, mlp);
  console.log(`all ${LAYERS} layers hold the bytes of the files`);
  for (const layer of readJson(`${NAME}-prompts.json`).layers) assertOutputs(layer, mlps[layer]);
}

/** @returns {Promise<Figures>} what was asked since the last time */
async function takeFigures() {
  server.send('figures');
  const [{ figures }] = await once(server, 'message');
  return figures;
}

/** @param {Figures} figures @param {string} name */
function requestsOf(figures, name) {
  return figures.files[`/${name}`]?.requests ?? 0;
}

/** Bytes of the shards. @param {Figures} figures */
function bytesOf(figures) {
  return shards.reduce((sum, name) => sum + (figures.files[`/${name}`]?.bytes ?? 0), 0);
}

/** @param {Figures} total @param {Figures} more */
function add(total, more) {
  for (const [name, { requests, bytes }] of Object.entries(more.files)) {
    total.files[name] ??= { requests: 0, bytes: 0 };
    total.files[name].requests += requests;
    total.files[name].bytes += bytes;
  }
  total.mostInFlight = Math.max(total.mostInFlight, more.mostInFlight);
  total.unexpected.push(...more.unexpected);
}

/** @param {MemoryWatch} watch @param {boolean} collecting */
function memoryOf({ rise }, collecting) {
  return collecting
    ? { kind: 'held, after collections', bytes: rise.held }
    : { kind: 'resident, garbage included', bytes: rise.resident };
}

/**
 * Prints what a load took beside what it may take, and holds it to that.
 * @param {string} what
 * @param {number} layers
 * @param {Figures} figures
 * @param {{ kind: string, bytes: number }} memory
 */
function report(what, layers, figures, memory) {
  const wanted = layers * WANTED;
  const received = bytesOf(figures);
  const mostBytes = wanted + headerBytes + shards.length * 64 * KIB;
  const mostMemory = wanted + 16 * MIB + 4 * headerBytes;
  const requests = shards.map((name) => requestsOf(figures, name)).join(' + ');
  console.log(`${what}: ${wanted} bytes wanted, in shards with ${headerBytes} bytes of headers`);
  console.log(`  received   ${received} of at most ${mostBytes}`);
  console.log(`  requests   ${requests}, at most ${figures.mostInFlight} at once`);
  console.log(`  memory     ${memory.bytes} ${memory.kind}, of at most ${mostMemory}`);
  assert.ok(received >= wanted && received <= mostBytes, 'bytes received');
  assert.ok(figures.mostInFlight <= MOST_IN_FLIGHT, 'requests at once');
  assert.ok(memory.bytes <= mostMemory, 'memory');
  assert.deepEqual(figures.unexpected, [], 'every request is a GET of a closed range');
}

/** @param {string} name of a shard */
function readHeader(name) {
  const file = openSync(`${folder}/${name}`, 'r');
  const prefix = Buffer.alloc(8);
  readSync(file, prefix, 0, 8, 0);
  const dataStart = 8 + Number(prefix.readBigUInt64LE());
  const text = Buffer.alloc(dataStart - 8);
  readSync(file, text, 0, text.length, 8);
  return { file, dataStart, tensors: JSON.parse(text.toString()) };
}

/** Reads a tensor's bytes from its shard on disk. @param {string} name */
function tensorBytes(name) {
  const shard = Object.values(headers).find(({ tensors }) => name in tensors);
  assert.ok(shard, `no shard has ${name}`);
  const [begin, end] = shard.tensors[name].data_offsets;
  const bytes = Buffer.alloc(end - begin);
  assert.equal(readSync(shard.file, bytes, 0, bytes.length, shard.dataStart + begin), bytes.length);
  return bytes;
}

/** @param {number} layer @param {GatedMLP} mlp */
function assertWeights(layer, mlp) {
  const state = [...mlp.stateDict()];
  assert.equal(state.length, 3);
  for (const [name, { dtype, data }] of state) {
    assert.equal(dtype, 'BF16');
    const { buffer, byteOffset, byteLength } = data;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const stored = tensorBytes(`model.layers.${layer}.mlp.${name}`);
    assert.equal(Buffer.compare(bytes, stored), 0, `layer ${layer}, ${name}`);
  }
}

/** @param {number} layer @param {GatedMLP} mlp */
function assertOutputs(layer, mlp) {
  const hidden = readSafetensors(`${NAME}-hidden.safetensors`);
  const checks = readSafetensors(`${NAME}-checks.safetensors`);
  for (const { name } of readJson(`${NAME}-prompts.json`).prompts) {
    const key = `layer${String(layer).padStart(2, '0')}/${name}`;
    const y = mlp.forward(values(hidden, `${key}/x`));
    const float32 = worstRowError(y, values(hidden, `${key}/y`), D);
    const float64 = worstRowError(y, values(checks, `${key}/y64`), D);
    const errors = `${float32.toExponential(2)} of float32, ${float64.toExponential(2)} of float64`;
    console.log(`layer ${layer}, ${name}: the worst token is off by ${errors}`);
    assert.ok(float32 <= PER_TOKEN && float64 <= PER_TOKEN, `layer ${layer}, ${name}`);
  }
}
