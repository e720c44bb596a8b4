// The lesson's computing, in the worker: gated MLPs of one or two units with d = 1, made, run and freed for each question;
// an activation's curve; the width of a real model's MLP. No formula is written here: all of it is the wasm module's.

import { GatedMLP } from '../src/binding/index.js';
import { sampleActivation } from './act-curve-samples.js';

/** @typedef {import('../src/binding/index.js').Runtime} Runtime */

/**
 * A gated MLP with d = 1 and its input. `gate`, `up` and `down` have one weight a unit, the biases (where given) one as
 * well; `x` has one number a token; `hold` forces act(g) of units by hand.
 * @typedef {object} TinyRun
 * @property {string} act
 * @property {number[]} gate
 * @property {number[]} up
 * @property {number[]} down
 * @property {number[]} [gateBias]
 * @property {number[]} [upBias]
 * @property {number[]} x
 * @property {import('./protocol.js').Hold[]} [hold]
 */
/**
 * What happened inside: [tokens, units], and the output [tokens].
 * @typedef {Record<'gate' | 'act' | 'up' | 'hidden' | 'output', Float32Array>} TinyTrace
 */
/** A width asked for, as `llamaFfnDim` takes it. @typedef {{ d: number, multipleOf: number, multiplier: number | null }} WidthQuestion */

export class LessonBench {
  #startRuntime;

  /** @param {() => Promise<Runtime>} startRuntime gives the page's one runtime */
  constructor(startRuntime) {
    this.#startRuntime = startRuntime;
  }

  /**
   * @param {Record<string, TinyRun>} runs
   * @returns {Promise<Record<string, TinyTrace>>} by the same names
   */
  async runs(runs) {
    const runtime = await this.#startRuntime();
    const traces = Object.entries(runs).map(async ([name, run]) => [
      name,
      await traceOf(run, runtime),
    ]);
    return Object.fromEntries(await Promise.all(traces));
  }

  /** @param {string} act */
  async activation(act) {
    return sampleActivation(act, await this.#startRuntime());
  }

  /**
   * The width step by step: two thirds of 4d, with the multiplier, rounded up.
   * @param {WidthQuestion} question
   */
  async width({ d, multipleOf, multiplier }) {
    const runtime = await this.#startRuntime();
    return {
      twoThirds: runtime.llamaFfnDim(d, 1),
      multiplied: runtime.llamaFfnDim(d, 1, multiplier),
      dFf: runtime.llamaFfnDim(d, multipleOf, multiplier),
    };
  }
}

/**
 * @param {TinyRun} run
 * @param {Runtime} runtime
 * @returns {Promise<TinyTrace>}
 */
async function traceOf({ act, gate, up, down, gateBias, upBias, x, hold }, runtime) {
  const units = gate.length;
  const bias = gateBias !== undefined || upBias !== undefined;
  const mlp = await GatedMLP.create(1, units, { act, bias, runtime });
  const none = new Array(units).fill(0);
  const weights = {
    'gate_proj.weight': tensor([units, 1], gate),
    'up_proj.weight': tensor([units, 1], up),
    'down_proj.weight': tensor([1, units], down),
  };
  const biases = {
    'gate_proj.bias': tensor([units], gateBias ?? none),
    'up_proj.bias': tensor([units], upBias ?? none),
    'down_proj.bias': tensor([1], [0]),
  };
  mlp.loadStateDict(bias ? { ...weights, ...biases } : weights);
  const trace = mlp.trace(Float32Array.from(x), { hold });
  const inside = /** @type {TinyTrace} */ ({
    gate: trace.gate,
    act: trace.act,
    up: trace.up,
    hidden: trace.hidden,
    output: trace.output,
  });
  trace.dispose();
  mlp.dispose();
  return inside;
}

/**
 * @param {number[]} shape
 * @param {number[]} values
 */
const tensor = (shape, values) => ({ shape, data: Float32Array.from(values) });
