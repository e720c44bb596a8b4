// Runs of the whole model that were recorded with one gate held shut (fixtures, whatif.json), looked up for a unit and a
// token. These numbers are not computed here, and the inspector says so beside them.

import { readable } from './format.js';

const GUESSES_SHOWN = 3;

/**
 * @typedef {{ p_next: number[], top3: [string, number][][] }} Run
 * @typedef {{ value: number, isBound: boolean }} Probability  isBound: all that is known is that it is below value
 * @typedef {{ piece: string, open: Probability, shut: Probability }} Guess
 * @typedef {{ prompts: Record<string, { base: Run, shut: (Run & { layer: number, unit: number })[] }> }} RecordedRuns
 */

/**
 * The model's guesses for what follows a token, without and with the unit's gate shut. null: no such run.
 * @param {RecordedRuns | null} runs
 * @param {{ prompt: string, layer: number, unit: number, token: number, next: string | null }} place `next`: the token
 *   that really comes next, whose probability was recorded in every run
 * @returns {Guess[] | null}
 */
export function recordedGuesses(runs, { prompt, layer, unit, token, next }) {
  const entry = runs?.prompts[prompt];
  const run = entry?.shut.find((candidate) => candidate.layer === layer && candidate.unit === unit);
  if (entry === undefined || run === undefined) return null;
  const pieces = [
    ...entry.base.top3[token].slice(0, 1),
    ...run.top3[token],
    ...entry.base.top3[token],
  ];
  const names = [...new Set(pieces.map(([piece]) => piece))].slice(0, GUESSES_SHOWN);
  return names.map((piece) => ({
    piece: readable(piece),
    open: probability(entry.base, token, piece, next),
    shut: probability(run, token, piece, next),
  }));
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
