// What pinning, unpinning and closing a gate change of the state. Pure; main.js makes a step of each.

import { NOTHING_HELD } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Cell} Cell */

/**
 * @param {State} before
 * @param {Cell} cell
 * @param {boolean} isSecond the gate that was pinned stays, to compare with
 * @returns {Partial<State>}
 */
export function pinned(before, { token, unit }, isSecond) {
  const held = token === before.token ? { whatIf: null } : NOTHING_HELD;
  const stays = isSecond && before.unit !== null;
  const versus = stays ? { token: before.token, unit: before.unit } : before.versus;
  return { token, unit, ...held, versus: /** @type {State['versus']} */ (versus) };
}

/**
 * One step back: first the comparison ends, then the pin. Gates closed by hand stay closed, and `#hand-result` says so.
 * @param {State} before
 * @returns {Partial<State>}
 */
export function unpinned({ versus }) {
  return versus !== null ? { versus: null } : { unit: null, whatIf: null };
}

/**
 * The gate closed by hand, or open again where it was.
 * @param {State} before
 * @param {Cell} cell
 * @returns {Partial<State>}
 */
export function toggled(before, { token, unit }) {
  const isHere = token === before.token;
  const here = isHere ? before.closed : [];
  const closed = here.includes(unit) ? here.filter((other) => other !== unit) : [...here, unit];
  return { token, unit, closed, whatIf: null, ...(isHere ? {} : { set: null }) };
}
