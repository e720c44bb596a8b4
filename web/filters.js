// Which cells the maps show in colour, the others being left blank: one class, one sign case, the largest contributions, or
// the units that stay in one class on all tokens. Pure; colouring.js asks for every cell, so what is slow is done once.

import { CLASS_NAMES, CROSSING, LEAKING, OPEN } from './definitions.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** Signs are those of (g, u). @typedef {(typeof FILTERS)[number]} Filter */

export const FILTERS = /** @type {const} */ ([
  ...CLASS_NAMES,
  'closed',
  'top100',
  'pp',
  'pm',
  'mp',
  'mm',
  'always-closed',
  'always-leaking',
  'always-open',
]);
const TOP = 100;
const ALWAYS = 'always-';

/**
 * @param {Scene} scene
 * @returns {(token: number, unit: number) => boolean}
 */
export function filterOf(scene) {
  const { only } = scene.state;
  const { up, gate, dFf } = scene.numbers;
  const { classes } = scene;
  if (only === null) return () => true;
  const ofClass = classesShown(only);
  if (ofClass !== null) return (token, unit) => ofClass[classes.at(token * dFf + unit)];
  if (only === 'top100') return topByToken(scene);
  if (only.startsWith(ALWAYS)) return alwaysIn(scene, only.slice(ALWAYS.length));
  const [g, u] = [...only].map((sign) => sign === 'm');
  return (token, unit) => {
    const i = token * dFf + unit;
    return gate[i] < 0 === g && up !== null && up[i] < 0 === u;
  };
}

/**
 * Which classes are shown; null: it is not the class that decides.
 * @param {Filter} only
 * @returns {boolean[] | null}
 */
export function classesShown(only) {
  if (only === 'closed') return CLASS_NAMES.map((_, gateClass) => gateClass <= CROSSING);
  const wanted = /** @type {readonly string[]} */ (CLASS_NAMES).indexOf(only);
  return wanted < 0 ? null : CLASS_NAMES.map((_, gateClass) => gateClass === wanted);
}

/** Of layers: which cells are among their token's TOP. @type {WeakMap<Float32Array, Uint8Array>} */
const tops = new WeakMap();

/** @param {Scene} scene */
function topByToken({ numbers: { contribution, dFf } }) {
  if (contribution === null) return () => false;
  const isTop = tops.get(contribution) ?? topCells(contribution, dFf);
  tops.set(contribution, isTop);
  return (/** @type {number} */ token, /** @type {number} */ unit) =>
    isTop[token * dFf + unit] === 1;
}

/**
 * The TOP largest of every row; of equal ones the first. Sorting every row of a large layer would take too long for a frame.
 * @param {Float32Array} values  [tokens, dFf]
 * @param {number} dFf
 */
function topCells(values, dFf) {
  const isTop = new Uint8Array(values.length);
  for (let row = 0; row < values.length; row += dFf) {
    /** Places, the largest value first. @type {number[]} */
    const best = [];
    for (let i = row; i < row + dFf; i++) {
      if (best.length === TOP && !(values[i] > values[best[TOP - 1]])) continue;
      let place = best.length;
      while (place > 0 && values[best[place - 1]] < values[i]) place--;
      best.splice(place, 0, i);
      if (best.length > TOP) best.pop();
    }
    for (const i of best) isTop[i] = 1;
  }
  return isTop;
}

/**
 * @param {Scene} scene
 * @param {string} habit
 */
function alwaysIn({ classes, numbers, firstCounted }, habit) {
  const { tokens, dFf } = numbers;
  const [least, most] = { closed: [0, CROSSING], leaking: [LEAKING, LEAKING] }[habit] ?? [
    OPEN,
    OPEN,
  ];
  const kept = new Uint8Array(dFf).fill(1);
  for (let token = firstCounted; token < tokens; token++) {
    for (let unit = 0; unit < dFf; unit++) {
      const gateClass = classes.at(token * dFf + unit);
      if (gateClass < least || gateClass > most) kept[unit] = 0;
    }
  }
  return (/** @type {number} */ _token, /** @type {number} */ unit) => kept[unit] === 1;
}
