// One unit as plain data: everything the page knows of it at a token, for the button that copies it as JSON, and the class it
// keeps over all tokens.

import { CLASS_NAMES, CROSSING, LEAKING, OPEN, signCases } from './definitions.js';
import { rankOf } from './orders.js';
import { fullLink } from './state.js';
import { ioClassOf } from './unit-weights.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {'closed' | 'leaking' | 'open' | 'mixed'} Habit */

/**
 * How often the unit is closed, leaking and open on the tokens that count, and whether it is always the same.
 * @param {Scene} scene
 * @param {number} unit
 * @returns {{ habit: Habit, closed: number, leaking: number, open: number, tokens: number, first: number }}
 */
export function habitOf(scene, unit) {
  const first = scene.firstCounted;
  const tokens = scene.numbers.tokens - first;
  const counts = { closed: 0, leaking: 0, open: 0 };
  for (let token = first; token < scene.numbers.tokens; token++) {
    const gateClass = scene.classes.at(token * scene.numbers.dFf + unit);
    counts[gateClass === OPEN ? 'open' : gateClass === LEAKING ? 'leaking' : 'closed']++;
  }
  const always = /** @type {const} */ (['closed', 'leaking', 'open']).find(
    (name) => counts[name] === tokens,
  );
  return { ...counts, habit: always ?? 'mixed', tokens, first };
}

/**
 * @param {Scene} scene
 * @param {Cell} cell
 * @param {string} layer
 * @param {{ alone: import('./protocol.js').EffectMessage | null, unit: import('./protocol.js').UnitMessage | null }} answers
 */
export function recordOf(scene, { token, unit }, layer, { alone, unit: parts }) {
  const { gate, activated, up, hidden, contribution, columnNorms, dFf, tokens, pieces, act } =
    scene.numbers;
  const i = token * dFf + unit;
  const gateClass = scene.classAt({ token, unit });
  return {
    layer,
    token,
    piece: pieces[token],
    unit,
    activation: act,
    threshold: scene.state.tau,
    class: gateClass <= CROSSING ? `closed (${CLASS_NAMES[gateClass]})` : CLASS_NAMES[gateClass],
    g: gate[i],
    a: activated[i],
    u: up?.[i] ?? null,
    h: hidden?.[i] ?? null,
    columnNorm: columnNorms?.[unit] ?? null,
    c: contribution?.[i] ?? null,
    rank: contribution === null ? null : rankOf(contribution, token, dFf, unit),
    pi: alone?.along ?? null,
    movesOutputBy: alone?.relative ?? null,
    overTokens: habitOf(scene, unit),
    signs: up === null ? null : signCases(gate, up, tokens, dFf, unit),
    inputs: parts === null ? null : { gate: parts.gate, up: parts.up },
    outputs: parts?.outputs ?? null,
    cosines: parts?.cosines ?? null,
    ioClass: parts === null ? null : ioClassOf(parts.cosines),
    link: fullLink(),
  };
}
