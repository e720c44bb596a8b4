// The gates: the wasm builds against native ones bit for bit, and a sample of the exhaustive run against long double.
// The whole of it is `npm run test:exhaustive`; what a gate owes is tested in tests/native/test_activation.c.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Runtime, wasmOf } from '../src/binding/runtime.js';
import { float64Runtime } from './helpers/numbers.js';
import { findSanitizingCompilers } from './helpers/tools.js';
import { buildNative, output } from './native/run.js';

const VALUES = 1_000_000;
/** A prime, so that its multiples go through all mantissas and exponents alike. */
const STRIDE = 4099;

const [compiler] = findSanitizingCompilers();
const runtime = await Runtime.create();
const float64 = await float64Runtime();
after(() => {
  runtime.dispose();
  float64.dispose();
});

/** The values of tests/native/activation_bits.c. */
function drawValues() {
  const bits = new Uint32Array(VALUES);
  for (let i = 0, x = 1; i < VALUES; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    const exponent = 119 + ((x >>> 23) % 16);
    bits[i] = i % 2 === 0 ? x : (x & 0x807fffff) | (exponent << 23);
  }
  return new Float32Array(bits.buffer);
}

/**
 * FNV-1a over 32-bit words, any NaN as one and the same.
 * @param {Float32Array | Float64Array} values
 */
function hash(values) {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.byteLength / 4);
  const width = values.BYTES_PER_ELEMENT / 4;
  let h = 2166136261;
  for (let i = 0; i < words.length; i++) {
    let word = words[i];
    if (Number.isNaN(values[Math.floor(i / width)])) word = i % width === 0 ? 0x7fc00000 : 0;
    h = Math.imul(h ^ word, 16777619);
  }
  return (h >>> 0).toString(16).padStart(8, '0');
}

/**
 * What activation_bits prints, from a runtime's module.
 * @param {Runtime} owner
 */
function wasmBits(owner) {
  const wasm = wasmOf(owner);
  const bytes = VALUES * wasm.Real.BYTES_PER_ELEMENT;
  const z = wasm.alloc(bytes, 'values');
  const out = wasm.alloc(bytes, 'results');
  wasm.putReals(drawValues(), z);
  let lines = '';
  for (const [name, code] of wasm.activations) {
    wasm.done(wasm.exports.act(out, z, code, VALUES), name);
    const act = hash(wasm.realsAt(out, VALUES));
    wasm.done(wasm.exports.act_derivative(out, z, code, VALUES), name);
    lines += `${name} ${act} ${hash(wasm.realsAt(out, VALUES))}\n`;
  }
  wasm.free(z);
  wasm.free(out);
  return lines;
}

test('every gate and derivative has the bits of the native build on a million values', (t) => {
  const native = output(buildNative(compiler, 'tests/native/activation_bits.c', 'fast'), []);
  assert.equal(wasmBits(runtime), native);
  t.diagnostic(native.trimEnd().split('\n').join('; '));
});

test('so it is in float64', () => {
  const program = buildNative(compiler, 'tests/native/activation_bits.c', 'fast', [
    '-DGATED_MLP_FLOAT64',
  ]);
  assert.equal(wasmBits(float64), output(program, []));
});

test('silu, gelu_tanh, gelu and their derivatives keep their bounds on every 4099th float32', (t) => {
  const program = buildNative(compiler, 'tests/native/exhaustive_activation.c', 'fast');
  for (const line of output(program, [String(STRIDE)])
    .trimEnd()
    .split('\n'))
    t.diagnostic(line);
});
