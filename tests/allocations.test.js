// 10,000 forwards into an array of the caller's: neither the module's memory nor the JavaScript heap grows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GatedMLP, Runtime } from '../src/binding/index.js';

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

const CALLS = 10_000;
/** What the engine may keep for itself, such as optimised code: less than 7 bytes a call. */
const ENGINE_BYTES = 64 * 1024;
/** What calls leave behind they leave behind each time; what the engine compiles, it compiles once, and when it has time. */
const MOST_TRIES = 5;

function heapBytes() {
  collect();
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

for (const dtype of /** @type {const} */ (['float32', 'bfloat16', 'float16', 'q8_0', 'q4_1'])) {
  test(`${dtype}: ${CALLS} calls with out given leave memory and heap as they were`, async (t) => {
    const runtime = await Runtime.create();
    t.after(() => runtime.dispose());
    const mlp = await GatedMLP.create(40, 70, { dtype, bias: true, runtime });
    const inputs = [1, 5].map((tokens) => new Float32Array(tokens * 40).fill(0.5));
    const outputs = inputs.map((x) => new Float32Array(x.length));
    /** @param {number} calls */
    const run = (calls) => {
      for (let i = 0; i < calls; i++) mlp.forward(inputs[i % 2], { out: outputs[i % 2] });
    };
    run(CALLS); // until the engine has compiled what it compiles
    const used = runtime.bytesUsed;
    const memory = runtime.memory.buffer.byteLength;
    let grown = Number.POSITIVE_INFINITY;
    for (let tried = 0; tried < MOST_TRIES && grown > ENGINE_BYTES; tried++) {
      const before = heapBytes();
      run(CALLS);
      grown = heapBytes() - before;
    }
    assert.equal(runtime.bytesUsed, used);
    assert.equal(runtime.memory.buffer.byteLength, memory);
    assert.ok(grown <= ENGINE_BYTES, `the heap is ${grown} bytes larger`);
    t.diagnostic(`heap: ${grown} bytes more`);
  });
}
