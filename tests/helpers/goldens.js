// Reads the golden files of fixtures/ and compares results with them.
// The safetensors reader here is the tests' own and deliberately shares nothing with src: it trusts its files.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { GatedMLP } from '../../src/binding/index.js';

/**
 * @typedef {{ dtype: string, shape: number[], data: Float32Array | Float64Array | Uint16Array | BigInt64Array }} Tensor
 * @typedef {{ case: string, kind: string, act: string, d: number, f: number, bias?: boolean, parameters: string[],
 *   activation_sparsity?: number, norm_eps?: number }} GoldenCase
 */

/** How far a float32 result may be from float64, relative to the tensor's largest value: fixtures/README.md says why. */
export const TOLERANCE = 2e-6;
/** The same for a float64 result: sums in another order, another exp. */
export const FLOAT64_TOLERANCE = 1e-12;
/** Below this float32 underflows. */
export const UNDERFLOW = 1e-37;

const arrays = {
  F32: Float32Array,
  F64: Float64Array,
  F16: Uint16Array,
  BF16: Uint16Array,
  I64: BigInt64Array,
};

/** @param {string} name a path in fixtures/ */
export function fixture(name) {
  return new URL(`../../fixtures/${name}`, import.meta.url);
}

/**
 * @param {string} name a path in fixtures/
 * @returns {Map<string, Tensor>}
 */
export function readSafetensors(name) {
  return parseSafetensors(readFileSync(fixture(name)));
}

/**
 * @param {Buffer} file
 * @returns {Map<string, Tensor>}
 */
export function parseSafetensors(file) {
  const dataStart = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, dataStart));
  delete header.__metadata__;
  return new Map(
    Object.entries(header).map(
      ([
        key,
        {
          dtype,
          shape,
          data_offsets: [begin, end],
        },
      ]) => {
        const bytes = new Uint8Array(file.subarray(dataStart + begin, dataStart + end));
        const data = new arrays[/** @type {keyof typeof arrays} */ (dtype)](bytes.buffer);
        return [key, { dtype, shape, data }];
      },
    ),
  );
}

/** @param {string} name a path in fixtures/ */
export function readJson(name) {
  return JSON.parse(readFileSync(fixture(name), 'utf8'));
}

/** @returns {GoldenCase[]} */
export function goldenCases() {
  return readJson('goldens/index.json').mlp;
}

/** @returns {GoldenCase[]} the cases whose formula is down(act(gate(x)) * up(x)), nothing added */
export function plainCases() {
  return definedCases().filter((each) => !each.norm_eps);
}

/** @returns {GoldenCase[]} the cases whose formula reference.js has: those, and the same with a norm */
export function definedCases() {
  return goldenCases().filter((each) => !each.activation_sparsity);
}

/**
 * A golden case: its tensors, and a gated MLP with its parameters, which the caller disposes of.
 * @param {GoldenCase} golden
 * @param {import('../../src/binding/index.js').Runtime} [runtime]
 */
export async function loadGolden(golden, runtime) {
  const tensors = readSafetensors(`goldens/mlp/${golden.case}.safetensors`);
  const { act, d, f, bias = false, activation_sparsity: sparsity, norm_eps: normEps } = golden;
  const mlp = await GatedMLP.create(d, f, { act, bias, runtime, variant: { sparsity, normEps } });
  mlp.loadStateDict(
    new Map(
      golden.parameters.map((name) => [
        name,
        { ...tensor(tensors, name), data: values(tensors, name) },
      ]),
    ),
  );
  return { mlp, tensors };
}

/**
 * @param {Map<string, Tensor>} tensors
 * @param {string} name
 * @returns {Tensor}
 */
export function tensor(tensors, name) {
  const found = tensors.get(name);
  assert.ok(found, `the golden file has no ${name}`);
  return found;
}

/**
 * Numbers of a tensor that holds F32 or F64.
 * @param {Map<string, Tensor>} tensors
 * @param {string} name
 * @returns {Float32Array | Float64Array}
 */
export function values(tensors, name) {
  const { data } = tensor(tensors, name);
  assert.ok(
    data instanceof Float32Array || data instanceof Float64Array,
    `${name} is not a float tensor`,
  );
  return data;
}

/**
 * The largest finite magnitude; 0 where there is none.
 * @param {ArrayLike<number>} numbers
 */
export function largestMagnitude(numbers) {
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) {
    if (Number.isFinite(numbers[i])) largest = Math.max(largest, Math.abs(numbers[i]));
  }
  return largest;
}

/**
 * Holds a result against float64: NaN exactly where it is NaN there, everything else within `TOLERANCE` of the largest
 * finite magnitude, or within `UNDERFLOW`.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {string} what
 * @returns {number} the largest difference over the largest magnitude
 */
export function assertClose(actual, expected, what) {
  assert.equal(actual.length, expected.length, `${what}: number of values`);
  const largest = largestMagnitude(expected);
  const allowed = Math.max(TOLERANCE * largest, UNDERFLOW);
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    if (Object.is(actual[i], expected[i]) || (Number.isNaN(actual[i]) && Number.isNaN(expected[i])))
      continue;
    const difference = Math.abs(actual[i] - expected[i]);
    assert.ok(
      difference <= allowed,
      `${what}[${i}] is ${actual[i]}, not ${expected[i]}; at most ${allowed} apart are allowed`,
    );
    worst = Math.max(worst, difference);
  }
  return worst <= UNDERFLOW ? 0 : worst / largest;
}

/**
 * Every value within `tolerance` of the expected tensor's largest magnitude, NaN where it is NaN there.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {number} tolerance
 * @param {string} what
 */
export function assertWithin(actual, expected, tolerance, what) {
  assert.equal(actual.length, expected.length, `${what}: number of values`);
  const allowed = tolerance * largestMagnitude(expected);
  for (let i = 0; i < expected.length; i++) {
    const same = Object.is(actual[i], expected[i]);
    const near = Math.abs(actual[i] - expected[i]) <= allowed;
    assert.ok(same || near, `${what}[${i}] is ${actual[i]}, not ${expected[i]}`);
  }
}

/** sum(a * b), in float64. @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function dot(a, b) {
  assert.equal(a.length, b.length);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * |actual - expected|2 / |expected|2 of the worst row.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {number} width
 */
export function worstRowError(actual, expected, width) {
  assert.equal(actual.length, expected.length);
  assert.ok(expected.length > 0 && expected.length % width === 0);
  let worst = 0;
  for (let row = 0; row < expected.length; row += width) {
    let square = 0;
    let scale = 0;
    for (let i = row; i < row + width; i++) {
      square += (actual[i] - expected[i]) ** 2;
      scale += expected[i] ** 2;
    }
    const error = Math.sqrt(square / scale);
    assert.ok(!Number.isNaN(error), `row ${row / width} has a NaN, or is zero`);
    worst = Math.max(worst, error);
  }
  return worst;
}
