// Files and looks up classes as the page does, and holds every answer to classOf, cell by cell: at thresholds that fall between
// two values, on one, and next to one; for activations with a dip, without one, with a flat end, and with no floor at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CellClasses, codesOf, sizesOf } from '../web/cell-classes.js';
import { classOf } from '../web/definitions.js';

const TOKENS = 5;
const UNITS = 409;
const SHAPES = {
  silu: { shutBelow: -1.27846, depth: 0.27846 },
  relu: { shutBelow: 0, depth: 0 },
  sigmoid: { shutBelow: Infinity, depth: 0 },
  none: { shutBelow: -Infinity, depth: Infinity },
};
/** Values that a comparison can trip over, the thresholds of the slider's ends and marks among them. */
const ODD = [
  0,
  -0,
  NaN,
  Infinity,
  -Infinity,
  1e-45,
  -1e-45,
  3.4e38,
  0.001,
  0.05,
  -0.05,
  0.1,
  -1,
  1,
];

/** Numbers of both signs over eight powers of ten, the same on every run. @param {number} length */
function spread(length) {
  let state = 9;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Float32Array.from({ length }, () => Math.sign(next() - 0.5) * 10 ** (8 * next() - 6));
}

/** @param {import('../web/definitions.js').ActShape} shape */
function layer(shape) {
  const gate = spread(TOKENS * UNITS);
  const factors = spread(TOKENS * UNITS).reverse();
  const activated = gate.map((g, i) => g * factors[i]);
  activated.set(ODD);
  gate.set(ODD);
  const codes = codesOf(gate, activated, shape);
  const sorted = sizesOf(codes, gate, activated, UNITS);
  return { gate, activated, codes, sorted, dFf: UNITS, arrived: UNITS, shape };
}

/** @param {Float32Array} activated */
function thresholds(activated) {
  const sizes = Array.from(activated.subarray(ODD.length, ODD.length + 40), Math.abs);
  const beside = sizes.flatMap((size) => [size, size * (1 + 1e-9), size * (1 - 1e-9)]);
  return [0.001, 0.01, 0.05, Math.fround(0.05), 0.1, 0.27846, 1, ...beside];
}

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`the filed classes of ${name} are those of the definition, cell by cell and counted`, () => {
    const filed = layer(shape);
    const { gate, activated } = filed;
    for (const tau of thresholds(activated)) {
      const classes = new CellClasses(filed, tau);
      const landing = new CellClasses({ ...filed, sorted: null, arrived: UNITS - 9 }, tau);
      for (let token = 0; token < TOKENS; token++) {
        const wanted = Array.from({ length: UNITS }, (_, unit) => {
          const i = token * UNITS + unit;
          assert.equal(classes.at(i), classOf(gate[i], activated[i], tau, shape), `${tau}: ${i}`);
          return { gateClass: classes.at(i), isNegative: gate[i] < 0 };
        });
        assert.deepEqual(classes.count(token), countOf(wanted), `${tau}: token ${token}`);
        assert.deepEqual(landing.count(token), countOf(wanted.slice(0, UNITS - 9)));
      }
    }
  });
}

/** @param {{ gateClass: number, isNegative: boolean }[]} cells */
function countOf(cells) {
  const counts = [0, 1, 2, 3].map((k) => cells.filter(({ gateClass }) => gateClass === k).length);
  const negative = cells.filter(({ isNegative }) => isNegative).length;
  return { counts, closed: counts[0] + counts[1], negative, units: cells.length };
}
