// The page's computing: opens checkpoints, keeps the layers it has loaded, traces, closes gates, verifies.
// Runs in the worker. All arithmetic is the wasm module's, through the package's public entry; sizes of sets and norms
// are definitions.js. Knows nothing of the DOM.

import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { sampleActivation } from './act-curve-samples.js';
import {
  columnNorms,
  contributions,
  largestTokenError,
  mostMovedChannels,
  outputChange,
} from './definitions.js';
import { hiddenName, layerFile, layerUrl, SHIPPED } from './models.js';
import { dropOrder, SCORES } from './orders.js';
import { probeStates } from './probe.js';
import { FileRecorder } from './recording-fetch.js';

/** @typedef {import('./protocol.js').Source} Source */
/** @typedef {import('./protocol.js').Emit} Emit */
/** @typedef {Awaited<ReturnType<typeof sampleActivation>>} Activation */
/** @typedef {{ mlp: GatedMLP, norms: Float32Array, activation: Activation, digest: Promise<string | null> }} Layer */

const PROGRESS_EVERY_MS = 60;
/** A preview traces every row that has landed, so it is not worth one for each chunk of the network. */
const PREVIEW_EVERY_ROWS = 96;
const CHANNELS_SHOWN = 10;
/** Points of an error curve, from nothing dropped to everything. */
const CURVE_POINTS = 33;

/**
 * The page's runtime computes in float32.
 * @param {Float32Array | Float64Array | undefined} array
 */
const floats = (array) => /** @type {Float32Array} */ (array);

export class Engine {
  /** @type {Promise<Runtime> | null} */
  #runtime = null;
  /** @type {Promise<import('../src/binding/index.js').Checkpoint> | null} */
  #hidden = null;
  /** Layers that are here, by name. @type {Map<string, Layer>} */
  #layers = new Map();
  /** @type {import('../src/binding/index.js').Checkpoint | null} */
  #opened = null;
  #abort = new AbortController();
  /** What is on show. @type {{ mlp: GatedMLP, x: Float32Array, y: Float32Array,
   *   traced: import('./orders.js').Traced } | null} */
  #shown = null;

  /** Stops whatever is being loaded. */
  cancel() {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  /**
   * @param {Source} source
   * @param {Emit} emit
   */
  async show(source, emit) {
    this.cancel();
    const { signal } = this.#abort;
    const runtime = await this.#start();
    const key = source.kind === 'shipped' ? `shipped ${source.layer}` : `probe ${source.prefix}`;
    let layer = this.#layers.get(key);
    const x = await this.#statesFor(source);
    if (layer === undefined) {
      layer = await this.#load(source, x, runtime, emit, signal);
      this.#layers.set(key, layer);
    }
    signal.throwIfAborted();
    return this.#trace(layer, x);
  }

  /**
   * Recomputes nothing: the output on show was computed from these weights; it is held against Hugging Face's.
   * @param {number} layer
   * @param {string} prompt
   */
  async verify(layer, prompt) {
    const shown = this.#shownOrThrow();
    const loaded = this.#layers.get(`shipped ${layer}`);
    const [reference, expected, digest] = await Promise.all([
      this.#captured(hiddenName(layer, prompt, 'y')),
      recordedDigest(layerFile(layer)),
      loaded?.digest ?? null,
    ]);
    return { ...largestTokenError(shown.y, reference, shown.mlp.d), digest, expected };
  }

  /**
   * The output of one token with some gates held, computed anew.
   * @param {number} token
   * @param {import('./protocol.js').Hold[]} holds
   */
  hold(token, holds) {
    const { mlp, x, y } = this.#shownOrThrow();
    const [from, to] = [token * mlp.d, (token + 1) * mlp.d];
    const trace = mlp.trace(x.subarray(from, to), { hold: holds });
    const [before, after] = [y.subarray(from, to), floats(trace.output)];
    trace.dispose();
    const channels = mostMovedChannels(before, after, CHANNELS_SHOWN);
    return { ...outputChange(before, after), channels };
  }

  /**
   * E(k): the token's output without its k least units, by each of the four scores. One trace a score: the token is
   * repeated, and each copy has its own gates held shut.
   * @param {number} token
   * @returns {import('./protocol.js').ErrorCurves}
   */
  curves(token) {
    const { mlp, x, y, traced } = this.#shownOrThrow();
    const [from, to] = [token * mlp.d, (token + 1) * mlp.d];
    const dropped = Array.from({ length: CURVE_POINTS }, (_, i) =>
      Math.round((i * mlp.dFf) / (CURVE_POINTS - 1)),
    );
    const copies = new Float32Array(CURVE_POINTS * mlp.d);
    dropped.forEach((_, i) => {
      copies.set(x.subarray(from, to), i * mlp.d);
    });
    const errors = SCORES.map((score) => {
      const order = dropOrder(traced, token, score);
      const hold = dropped.flatMap((count, copy) =>
        Array.from(order.subarray(0, count), (unit) => ({ unit, token: copy, value: 0 })),
      );
      const trace = mlp.trace(copies, { hold });
      const outputs = floats(trace.output);
      trace.dispose();
      return dropped.map((_, i) => {
        const after = outputs.subarray(i * mlp.d, (i + 1) * mlp.d);
        return outputChange(y.subarray(from, to), after).relative;
      });
    });
    const [a, u, h, c] = errors;
    return { dropped, errors: { a, u, h, c } };
  }

  /**
   * Opens a foreign checkpoint: its header only.
   * @param {string} url
   */
  async open(url) {
    this.cancel();
    const runtime = await this.#start();
    this.#opened = await openCheckpoint(url, { signal: this.#abort.signal, runtime });
    const mlps = this.#opened.mlps.map(
      ({ prefix, layer, expert, d, dFf, act, dtype, byteLength }) => ({
        prefix,
        layer,
        expert,
        d,
        dFf,
        act,
        dtype,
        byteLength,
      }),
    );
    return { mlps };
  }

  #start() {
    // The build whose results are the same bits on every machine: a figure on a screen can be checked elsewhere.
    this.#runtime ??= Runtime.create({ variant: 'simd128' });
    return this.#runtime;
  }

  #shownOrThrow() {
    if (this.#shown === null) throw new Error('nothing is loaded yet');
    return this.#shown;
  }

  /** @param {Source} source */
  async #statesFor(source) {
    if (source.kind === 'shipped')
      return this.#captured(hiddenName(source.layer, source.prompt, 'x'));
    const entry = this.#opened?.mlps.find(({ prefix }) => prefix === source.prefix);
    if (entry === undefined) throw new Error(`no gated MLP ${source.prefix}`);
    return probeStates(entry.d);
  }

  /** @param {string} name */
  async #captured(name) {
    this.#hidden ??= openCheckpoint(SHIPPED.hiddenUrl, { runtime: await this.#start() });
    const { data } = await (await this.#hidden).read(name);
    // The file's offsets are multiples of 8, the view may lie anywhere: copy before reading floats.
    return new Float32Array(data.slice().buffer);
  }

  /**
   * @param {Source} source
   * @param {Float32Array} x
   * @param {Runtime} runtime
   * @param {Emit} emit
   * @param {AbortSignal} signal
   * @returns {Promise<Layer>}
   */
  async #load(source, x, runtime, emit, signal) {
    const shipped = source.kind === 'shipped';
    const recorder = new FileRecorder();
    const checkpoint = shipped
      ? await openCheckpoint(layerUrl(source.layer), { fetch: recorder.fetch, signal, runtime })
      : this.#opened;
    if (checkpoint === null) throw new Error('no checkpoint is open');
    const entry = shipped
      ? checkpoint.mlps[0]
      : checkpoint.mlps.find(({ prefix }) => prefix === source.prefix);
    if (entry === undefined) throw new Error('no gated MLP in this file');
    const act = entry.act ?? SHIPPED.act;
    const activation = await sampleActivation(act, runtime);
    const mlp = await GatedMLP.fromCheckpoint(checkpoint, {
      prefix: entry.prefix,
      act,
      signal,
      runtime,
      onProgress: progressReporter(emit),
      onGateRows: previewer(x, entry, activation, emit),
    });
    const weights = new Map(mlp.namedParameters());
    const down = floats(weights.get('down_proj.weight')?.data);
    const norms = columnNorms(down, entry.d, entry.dFf);
    return { mlp, norms, activation, digest: recorder.digest() };
  }

  /**
   * @param {Layer} layer
   * @param {Float32Array} x
   * @returns {import('./protocol.js').TraceMessage}
   */
  #trace({ mlp, norms, activation }, x) {
    const trace = mlp.trace(x);
    const [gate, act, up, hidden] = [trace.gate, trace.act, trace.up, trace.hidden].map(floats);
    const contribution = contributions(hidden, norms);
    const y = floats(trace.output);
    // The arrays that go to the page are transferred; the error curves need them here as well.
    const traced = {
      gate: gate.slice(),
      act: act.slice(),
      up: up.slice(),
      hidden: hidden.slice(),
      contribution: contribution.slice(),
      dFf: mlp.dFf,
    };
    this.#shown = { mlp, x, y, traced };
    trace.dispose();
    return {
      tokens: trace.tokens,
      gate,
      up,
      hidden,
      activated: act,
      d: mlp.d,
      dFf: mlp.dFf,
      act: mlp.act,
      dtype: mlp.dtype,
      contribution,
      columnNorms: norms,
      ...activation,
    };
  }
}

/**
 * @param {Emit} emit
 * @returns {(progress: { wanted: number, received: number }) => void}
 */
function progressReporter(emit) {
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
function previewer(x, { d, dFf }, activation, emit) {
  let shownRows = 0;
  return (preview) => {
    if (preview.rows < dFf && preview.rows - shownRows < PREVIEW_EVERY_ROWS) return;
    shownRows = preview.rows;
    const trace = preview.trace(x);
    const [gate, activated] = [trace.gate, trace.act].map(floats);
    const tokens = x.length / d;
    const { rows } = preview;
    emit('preview', { tokens, dFf, rows, gate, activated, ...activation }, [
      gate.buffer,
      activated.buffer,
    ]);
  };
}

/**
 * The SHA-256 that was recorded for a fixture when it was made; null where the list does not have it.
 * @param {string} file
 */
async function recordedDigest(file) {
  const response = await fetch(SHIPPED.checksumsUrl);
  if (!response.ok) return null;
  for (const line of (await response.text()).split('\n')) {
    const [digest, name] = line.trim().split(/\s+\*?/);
    if (name === file) return digest;
  }
  return null;
}
