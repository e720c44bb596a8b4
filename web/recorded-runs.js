// Runs of the whole model that were recorded with one gate held shut (fixtures, whatif.json), looked up for a unit and a
// token. These numbers are not computed here, and the inspector says so beside them.

import { readable } from './format.js';

/**
 * @typedef {{ p_next: number[], top3: [string, number][][] }} Run
 * @typedef {{ value: number, isBound: boolean }} Probability  isBound: all that is known is that it is below value
 * @typedef {{ piece: string, open: Probability, shut: Probability }} Guess
 * @typedef {{ prompts: Record<string, { base: Run, shut: (Run & { layer: number, unit: number })[] }> }} RecordedRuns
 */

/**
 * The model's guesses for what follows a token: its own three while the gate is as it is; with the gate shut, those of both
 * runs, in the order of what is then likely. null: no such run.
 * @param {RecordedRuns | null} runs
 * @param {{ prompt: string, layer: number, unit: number, token: number, next: string | null }} place `next`: the token
 *   that really comes next, whose probability was recorded in every run
 * @param {boolean} isShut the unit's gate, by hand
 * @returns {Guess[] | null}
 */
export function recordedGuesses(runs, { prompt, layer, unit, token, next }, isShut) {
  const entry = runs?.prompts[prompt];
  const run = entry?.shut.find((candidate) => candidate.layer === layer && candidate.unit === unit);
  if (entry === undefined || run === undefined) return null;
  const pieces = [...entry.base.top3[token], ...(isShut ? run.top3[token] : [])];
  const names = [...new Set(pieces.map(([piece]) => piece))];
  const guesses = names.map((piece) => ({
    piece: readable(piece),
    open: probability(entry.base, token, piece, next),
    shut: probability(run, token, piece, next),
  }));
  const shown = (/** @type {Guess} */ { open, shut }) => (isShut ? shut : open);
  return guesses.sort((p, q) => likelierFirst(shown(p), shown(q)));
}

/**
 * A bound stands below the value it is a bound of.
 * @param {Probability} p
 * @param {Probability} q
 */
function likelierFirst(p, q) {
  return q.value - p.value || Number(p.isBound) - Number(q.isBound);
}

/**
 * A run kept its three best guesses and the token that really came; any other was less likely than the third.
 * @param {Run} run
 * @param {number} token
 * @param {string} piece
 * @param {string | null} next
 * @returns {Probability}
 */
function probability({ top3, p_next }, token, piece, next) {
  const listed = top3[token].find(([candidate]) => candidate === piece);
  if (listed !== undefined) return { value: listed[1], isBound: false };
  if (piece === next) return { value: p_next[token], isBound: false };
  return { value: top3[token][top3[token].length - 1][1], isBound: true };
}
