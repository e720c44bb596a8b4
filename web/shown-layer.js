// The layer on show, run on the text on show: its trace, and the questions that are asked of it (gates held by hand, error
// curves, agreement with a reference). Lives in the worker. All arithmetic of the MLP is the wasm module's.

import { alongOutput } from './along-output.js';
import { codesOf, sizesOf } from './cell-classes.js';
import {
  contributions,
  largestTokenError,
  MARKED_SHARES,
  mostMovedChannels,
  outputChange,
} from './definitions.js';
import { gradientsOf } from './gradient.js';
import { measuresOf, quantile } from './layer-measures.js';
import { dropOrder, SCORES, unitsOf } from './orders.js';
import { largestTerms } from './unit-weights.js';

/** @typedef {import('../src/binding/index.js').GatedMLP} GatedMLP */
/** @typedef {Awaited<ReturnType<typeof import('./act-curve-samples.js').sampleActivation>>} Activation */
/** A layer that is in memory. @typedef {{ mlp: GatedMLP, norms: Float32Array, rows: import('./weight-rows.js').WeightRows,
 *   digest: Promise<string | null> }} Layer */

const CHANNELS_SHOWN = 10;
/** Terms of a unit's sums, and channels it writes to. */
const TERMS_SHOWN = 8;
/** Points of an error curve, from nothing dropped to everything. */
const CURVE_POINTS = 33;

/**
 * The page's runtime computes in float32.
 * @param {Float32Array | Float64Array | undefined} array
 */
export const floats = (array) => /** @type {Float32Array} */ (array);

export class ShownLayer {
  #mlp;
  #rows;
  #digest;
  #norms;
  /** @type {string} */
  #act;
  #x;
  /** The output with the activation on show, and with the one that the model was trained with. [tokens, d] */
  #y;
  #ownY;
  /** @type {import('./orders.js').Traced} */
  #traced;
  /** What goes to the page; its arrays are transferred there, so it can be sent once. @type {import('./protocol.js').TraceMessage} */
  message;

  /**
   * @param {Layer} layer
   * @param {Float32Array} x [tokens, d]
   * @param {{ act: string, activation: Activation }} shown the activation, and its samples
   */
  constructor({ mlp, norms, rows, digest }, x, { act: shownAct, activation }) {
    const trace = mlp.trace(x, { act: shownAct });
    const [gate, act, up, hidden] = [trace.gate, trace.act, trace.up, trace.hidden].map(floats);
    const contribution = contributions(hidden, norms);
    const codes = codesOf(gate, act, activation.shape);
    this.#mlp = mlp;
    this.#rows = rows;
    this.#digest = digest;
    this.#norms = norms;
    this.#act = shownAct;
    this.#x = x;
    this.#y = floats(trace.output);
    trace.dispose();
    this.#ownY = shownAct === mlp.act ? this.#y : floats(mlp.forward(x));
    this.#traced = {
      gate: gate.slice(),
      act: act.slice(),
      up: up.slice(),
      hidden: hidden.slice(),
      contribution: contribution.slice(),
      dFf: mlp.dFf,
      shape: activation.shape,
    };
    this.message = {
      tokens: x.length / mlp.d,
      gate,
      up,
      hidden,
      activated: act,
      d: mlp.d,
      dFf: mlp.dFf,
      act: shownAct,
      ownAct: mlp.act,
      actChange: this.#actChange(),
      dtype: mlp.dtype,
      variant: mlp.variant,
      contribution,
      columnNorms: norms,
      codes,
      sorted: sizesOf(codes, gate, act, mlp.dFf),
      quantiles: {
        all: quantilesOf(act),
        rest: quantilesOf(act.subarray(x.length > mlp.d ? mlp.dFf : 0)),
      },
      ...activation,
    };
  }

  /**
   * Recomputes nothing: the output was computed from these weights, with the model's own activation.
   * @param {Float32Array} reference  [tokens, d]
   */
  errorAgainst(reference) {
    return largestTokenError(this.#ownY, reference, this.#mlp.d);
  }

  /**
   * The output of one token with some gates held, computed anew. A gate that the set shuts stays shut.
   * @param {number} token
   * @param {import('./protocol.js').Held} held
   * @returns {import('./protocol.js').EffectMessage}
   */
  hold(token, { set, kept, tau, holds }) {
    const { x, y } = this.#tokenAt(token);
    const units = new Set(set === null ? [] : unitsOf(this.#traced, token, set, tau, kept));
    const hold = holds.filter(({ unit }) => !units.has(unit));
    for (const unit of units) hold.push({ unit, value: 0 });
    const trace = this.#mlp.trace(x, { act: this.#act, hold });
    const after = floats(trace.output);
    trace.dispose();
    const channels = mostMovedChannels(y, after, CHANNELS_SHOWN);
    return { ...outputChange(y, after), channels };
  }

  /**
   * E(k): the token's output without its k least units, by each of the four scores. One trace a score: the token is
   * repeated, and each copy has its own gates held shut.
   * @param {number} token
   * @returns {import('./protocol.js').ErrorCurves}
   */
  curves(token) {
    const { d, dFf } = this.#mlp;
    const { x, y } = this.#tokenAt(token);
    const dropped = Array.from({ length: CURVE_POINTS }, (_, i) =>
      Math.round((i * dFf) / (CURVE_POINTS - 1)),
    );
    const copies = new Float32Array(CURVE_POINTS * d);
    dropped.forEach((_, i) => {
      copies.set(x, i * d);
    });
    const errors = SCORES.map((score) => {
      const order = dropOrder(this.#traced, token, score);
      const hold = dropped.flatMap((count, copy) =>
        Array.from(order.subarray(0, count), (unit) => ({ unit, token: copy, value: 0 })),
      );
      const trace = this.#mlp.trace(copies, { act: this.#act, hold });
      const outputs = floats(trace.output);
      trace.dispose();
      return dropped.map((_, i) => outputChange(y, outputs.subarray(i * d, (i + 1) * d)).relative);
    });
    const [a, u, h, c] = errors;
    return { dropped, errors: { a, u, h, c } };
  }

  /**
   * @param {number} token
   * @param {number} unit
   * @returns {import('./protocol.js').UnitMessage}
   */
  unit(token, unit) {
    const { x } = this.#tokenAt(token);
    const { gate, up, down } = this.#rows.of(unit);
    const biases = this.#rows.biasesOf(unit);
    const hidden = /** @type {Float32Array} */ (this.#traced.hidden)[token * this.#mlp.dFf + unit];
    const { gateDown, upDown, gateUp } = this.#rows.cosines();
    return {
      gate: { ...largestTerms(gate, (k) => x[k], TERMS_SHOWN), bias: biases.gate },
      up: { ...largestTerms(up, (k) => x[k], TERMS_SHOWN), bias: biases.up },
      outputs: largestTerms(down, () => hidden, TERMS_SHOWN).terms,
      d: this.#mlp.d,
      cosines: { gateDown: gateDown[unit], upDown: upDown[unit], gateUp: gateUp[unit] },
    };
  }

  /**
   * pi of every unit at every token, for the output on show.
   * @param {import('../src/binding/index.js').Runtime} runtime
   */
  along(runtime) {
    const hidden = /** @type {Float32Array} */ (this.#traced.hidden);
    return alongOutput(runtime, this.#rows, this.#y, hidden, this.#mlp.d);
  }

  /** SHA-256 of the weights' file; null where not all of it was seen, or the browser cannot hash here. */
  get digest() {
    return this.#digest;
  }

  /** What a forward is timed with. */
  get timed() {
    return { mlp: this.#mlp, x: this.#x, act: this.#act };
  }

  /** How the weight vectors of every unit lie to each other. */
  cosines() {
    return this.#rows.cosines();
  }

  /**
   * @param {number} token
   * @param {import('./protocol.js').Direction} direction
   */
  gradient(token, direction) {
    return gradientsOf(
      this.#mlp,
      this.#tokenAt(token).x,
      this.#directionOf(token, direction),
      this.#act,
    );
  }

  /**
   * A vector of length 1.
   * @param {number} token
   * @param {import('./protocol.js').Direction} direction
   */
  #directionOf(token, direction) {
    const { d } = this.#mlp;
    const place = Number(direction.slice(1));
    if (direction.startsWith('c')) {
      const channel = new Float32Array(d);
      channel[Math.min(place, d - 1)] = 1;
      return channel;
    }
    const last = this.#y.length / d - 1;
    const { y } = this.#tokenAt(direction === 'y' ? token : Math.min(place, last));
    const length = Math.sqrt(y.reduce((sum, value) => sum + value * value, 0)) || 1;
    return y.map((value) => value / length);
  }

  /**
   * The measures of every token.
   * @param {number} tau
   * @returns {import('./protocol.js').TokenMeasures[]}
   */
  measures(tau) {
    const closed = this.#errorsWithout('closed', tau);
    const negative = this.#errorsWithout('negative', tau);
    return Array.from(closed, (errorClosed, token) => ({
      ...measuresOf(this.#traced, this.#norms, token, tau),
      errorClosed,
      errorNegative: negative[token],
    }));
  }

  /**
   * @param {import('./orders.js').UnitSet} set
   * @param {number} tau
   */
  #errorsWithout(set, tau) {
    const { d } = this.#mlp;
    const tokens = this.#x.length / d;
    const hold = Array.from({ length: tokens }, (_, token) =>
      unitsOf(this.#traced, token, set, tau).map((unit) => ({ unit, token, value: 0 })),
    ).flat();
    const trace = this.#mlp.trace(this.#x, { act: this.#act, hold });
    const outputs = floats(trace.output);
    trace.dispose();
    return Float32Array.from({ length: tokens }, (_, token) => {
      const [before, after] = [this.#y, outputs].map((y) => y.subarray(token * d, (token + 1) * d));
      return outputChange(before, after).relative;
    });
  }

  /** How far another activation moves the output of each token. */
  #actChange() {
    if (this.#ownY === this.#y) return null;
    const { d } = this.#mlp;
    return Float32Array.from({ length: this.#y.length / d }, (_, token) => {
      const [own, shown] = [this.#ownY, this.#y].map((y) => y.subarray(token * d, (token + 1) * d));
      return outputChange(own, shown).relative;
    });
  }

  /** @param {number} token */
  #tokenAt(token) {
    const [from, to] = [token * this.#mlp.d, (token + 1) * this.#mlp.d];
    return { x: this.#x.subarray(from, to), y: this.#y.subarray(from, to) };
  }
}

/**
 * Quantiles of the magnitude, at MARKED_SHARES.
 * @param {Float32Array} act
 */
function quantilesOf(act) {
  const sizes = act.map(Math.abs).sort();
  return MARKED_SHARES.map((share) => quantile(sizes, share));
}
