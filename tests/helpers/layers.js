// Layers that fast-check makes up, for tests of what must hold for all of them.

import { test } from 'node:test';
import fc from 'fast-check';
import { assertClose } from './goldens.js';
import { mlpOf, randomParameters, randomSource } from './numbers.js';
import { ACTS } from './reference.js';

const RUNS = 60;

/** @typedef {import('../../src/binding/index.js').Runtime} Runtime */
/** @typedef {import('../../src/binding/index.js').GatedMLP} MLP */

/**
 * A layer and an input for it: sizes and a seed, from which fast-check shrinks towards 1 x 1 and one token.
 * @typedef {{ d: number, dFf: number, tokens: number, bias: boolean, act: string, seed: number }} Recipe
 */
const recipes = fc.record({
  d: fc.integer({ min: 1, max: 40 }),
  dFf: fc.integer({ min: 1, max: 70 }),
  tokens: fc.integer({ min: 0, max: 9 }),
  bias: fc.boolean(),
  act: fc.constantFrom(...Object.keys(ACTS)),
  seed: fc.nat(),
});

/** @param {Recipe} recipe */
function make({ d, dFf, tokens, bias, act, seed }) {
  const random = randomSource(seed);
  const parameters = randomParameters(d, dFf, bias, random);
  const [x, gy] = [random.floats(tokens * d, 2), random.floats(tokens * d)];
  // relu's derivative jumps at 0: with multiples of 1/64 gates are exact, so that no rounding decides on which side they are.
  const numbers = act === 'relu' ? [x, ...Object.values(parameters)] : [];
  for (const array of numbers)
    for (const i of array.keys()) array[i] = Math.round(64 * array[i]) / 64;
  return { parameters, x, gy, random };
}

/**
 * A test of a property of every layer.
 * @param {Runtime} runtime
 * @param {string} title
 * @param {(recipe: Recipe, layer: ReturnType<typeof make> & { mlp: MLP }) => void | Promise<void>} property
 */
export function holdsFor(runtime, title, property) {
  test(title, async () => {
    await fc.assert(
      fc.asyncProperty(recipes, async (recipe) => {
        const layer = make(recipe);
        const { d, dFf, act } = recipe;
        const mlp = await mlpOf(d, dFf, layer.parameters, { act, runtime });
        try {
          await property(recipe, { ...layer, mlp });
        } finally {
          mlp.dispose();
        }
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });
}

/**
 * As assertClose, on a scale of its own: random sums cancel, and their rounding errors do not.
 * @param {ArrayLike<number>} actual
 * @param {ArrayLike<number>} expected
 * @param {number} scale
 * @param {string} what
 */
export function assertNear(actual, expected, scale, what) {
  assertClose([...Array.from(actual), scale], [...Array.from(expected), scale], what);
}

/**
 * What is made of an MLP while one of its parameters is replaced.
 * @template T
 * @param {MLP} mlp
 * @param {string} name
 * @param {Float32Array} data
 * @param {() => T} use
 */
export function withParameter(mlp, name, data, use) {
  const before = new Map(mlp.namedParameters());
  mlp.loadStateDict({ [name]: { data } }, { strict: false });
  const result = use();
  mlp.loadStateDict(before);
  return result;
}
