// What is told while a layer is on its way: bytes so far, and the gates whose rows have landed, each at a pace that
// a screen can follow. Used by engine.js, in the worker.

import { codesOf } from './cell-classes.js';

/** @typedef {import('./protocol.js').Emit} Emit */
/** @typedef {Awaited<ReturnType<typeof import('./act-curve-samples.js').sampleActivation>>} Activation */

const PROGRESS_EVERY_MS = 60;
/** A preview traces every row that has landed, so it is not worth one for each chunk of the network: one for this share. */
const PREVIEW_EVERY = 1 / 16;

/**
 * @param {Emit} emit
 * @returns {(progress: { wanted: number, received: number }) => void}
 */
export function progressReporter(emit) {
  let last = 0;
  return ({ wanted, received }) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS && received < wanted) return;
    last = now;
    emit('progress', { bytes: received, total: wanted });
  };
}

/**
 * @param {Float32Array} x
 * @param {{ d: number, dFf: number }} entry
 * @param {Activation} activation
 * @param {Emit} emit
 * @returns {(preview: import('../src/binding/index.js').GatePreview) => void}
 */
export function previewer(x, { d, dFf }, activation, emit) {
  let shownRows = 0;
  return (preview) => {
    if (preview.rows < dFf && preview.rows - shownRows < PREVIEW_EVERY * dFf) return;
    shownRows = preview.rows;
    const trace = preview.trace(x);
    const gate = /** @type {Float32Array} */ (trace.gate);
    const activated = /** @type {Float32Array} */ (trace.act);
    const tokens = x.length / d;
    const { rows } = preview;
    const codes = codesOf(gate, activated, activation.shape);
    const transfer = [gate, activated, codes].map((array) => array.buffer);
    emit('preview', { tokens, dFf, rows, gate, activated, codes, ...activation }, transfer);
  };
}
