// What the reader brought: opened checkpoints and captured hidden states, each named by its place here, and the input of a layer
// that was asked for with them. In the worker; engine.js fetches this with the first of it.

import { inputOf, readCapturedStates } from './captured-states.js';
import { OpenedModel } from './opened-model.js';
import { probeStates } from './probe.js';

/** @typedef {import('../src/binding/index.js').Runtime} Runtime */
/** A layer of such a checkpoint. @typedef {Exclude<import('./protocol.js').Source, { kind: 'shipped' }>} BroughtSource */

export class Brought {
  /** @type {OpenedModel[]} */
  #models = [];
  /** @type {import('./captured-states.js').CapturedStates[]} */
  #states = [];

  /**
   * Opens a checkpoint: its headers only.
   * @param {import('./opened-model.js').OpenQuestion} question
   * @param {Runtime} runtime
   * @param {AbortSignal} signal
   */
  async open(question, runtime, signal) {
    const model = await OpenedModel.open(question, runtime, signal);
    if (model.checkpoint.mlps.length === 0) throw await model.whyEmpty(runtime);
    return { model: this.#models.push(model) - 1, mlps: model.summaries(), commit: model.commit };
  }

  /**
   * Takes captured hidden states in.
   * @param {Blob} file
   * @param {Runtime} runtime
   * @returns {Promise<import('./captured-states.js').StatesSummary>}
   */
  async bring(file, runtime) {
    const { states, layer } = await readCapturedStates(file, runtime);
    const { tokens, d, y } = states;
    return { states: this.#states.push(states) - 1, tokens, d, hasOutput: y !== null, layer };
  }

  /** The checkpoint and the gated MLP in it. @param {BroughtSource} source */
  layer(source) {
    const model = this.#models[source.model];
    return { checkpoint: model.checkpoint, entry: model.entry(source) };
  }

  /** x of the layer: captured, or noise. @param {BroughtSource} source */
  input(source) {
    const { entry } = this.layer(source);
    return source.kind === 'probe'
      ? probeStates(entry.d)
      : inputOf(this.#states[source.states], entry);
  }

  /** The output that was captured with them, if it was. @param {number} states */
  output(states) {
    return this.#states[states].y;
  }
}
