// Which cells the maps show in colour, the others being left blank: one class, one sign case, the largest contributions, or
// the units that stay in one class on all tokens. Pure; colouring.js asks for every cell, so what is slow is done once.

import { CLASS_NAMES, CROSSING } from './definitions.js';
import { unitOrder } from './orders.js';
import { habitOf } from './unit-record.js';

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
  if (only === null) return () => true;
  if (only === 'closed') return (token, unit) => scene.classAt({ token, unit }) <= CROSSING;
  if (only === 'top100') return topByToken(scene);
  if (only.startsWith(ALWAYS)) return alwaysIn(scene, only.slice(ALWAYS.length));
  if (/^[pm]{2}$/.test(only)) {
    const [g, u] = [...only].map((sign) => sign === 'm');
    return (token, unit) => {
      const i = token * dFf + unit;
      return gate[i] < 0 === g && up !== null && up[i] < 0 === u;
    };
  }
  return (token, unit) => CLASS_NAMES[scene.classAt({ token, unit })] === only;
}

/** @param {Scene} scene */
function topByToken({ traced, numbers, isWhole }) {
  if (!isWhole) return () => false;
  const tops = Array.from(
    { length: numbers.tokens },
    (_, token) => new Set(unitOrder(traced, token, 'c').subarray(0, TOP)),
  );
  return (/** @type {number} */ token, /** @type {number} */ unit) => tops[token].has(unit);
}

/**
 * @param {Scene} scene
 * @param {string} habit
 */
function alwaysIn(scene, habit) {
  const kept = Array.from(
    { length: scene.numbers.dFf },
    (_, unit) => habitOf(scene, unit).habit === habit,
  );
  return (/** @type {number} */ _token, /** @type {number} */ unit) => kept[unit];
}
