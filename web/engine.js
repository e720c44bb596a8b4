// The page's computing: opens checkpoints, keeps the layers it has loaded, puts one of them on show. Runs in the worker.
// What is then asked of the layer on show is shown-layer.js. Knows nothing of the DOM.

import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { sampleActivation } from './act-curve-samples.js';
import { columnNorms } from './definitions.js';
import { previewer, progressReporter } from './load-reports.js';
import { hiddenName, layerFile, layerUrl, SHIPPED } from './models.js';
import { wasmUrl } from './places.js';
import { probeStates } from './probe.js';
import { FileRecorder } from './recording-fetch.js';
import { floats, ShownLayer } from './shown-layer.js';

/** @typedef {import('./protocol.js').Source} Source */
/** @typedef {import('./protocol.js').Emit} Emit */
/** @typedef {import('./shown-layer.js').Layer} Layer */
/** @typedef {import('./shown-layer.js').Activation} Activation */

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
  /** Sampled activations, by name. @type {Map<string, Promise<Activation>>} */
  #activations = new Map();
  /** @type {ShownLayer | null} */
  #shown = null;

  /** The layer on show, for the questions about it. */
  get shown() {
    if (this.#shown === null) throw new Error('nothing is loaded yet');
    return this.#shown;
  }

  /** Stops whatever is being loaded. */
  cancel() {
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  /**
   * @param {Source} source
   * @param {import('./protocol.js').ActChoice} act
   * @param {Emit} emit
   * @returns {Promise<import('./protocol.js').TraceMessage>} its arrays can be transferred
   */
  async show(source, act, emit) {
    this.cancel();
    const { signal } = this.#abort;
    const runtime = await this.runtime();
    const key = source.kind === 'shipped' ? `shipped ${source.layer}` : `probe ${source.prefix}`;
    let layer = this.#layers.get(key);
    const x = await this.#statesFor(source);
    if (layer === undefined) {
      layer = await this.#load(source, x, runtime, emit, signal);
      this.#layers.set(key, layer);
    }
    const used = act ?? layer.mlp.act;
    const activation = await this.#activation(used, runtime);
    signal.throwIfAborted();
    this.#shown = new ShownLayer(layer, x, { act: used, activation });
    return this.#shown.message;
  }

  /**
   * The output on show held against Hugging Face's, and the file's hash against the recorded one.
   * @param {number} layer
   * @param {string} prompt
   */
  async verify(layer, prompt) {
    const { shown } = this;
    const loaded = this.#layers.get(`shipped ${layer}`);
    const [reference, expected, digest] = await Promise.all([
      this.#captured(hiddenName(layer, prompt, 'y')),
      recordedDigest(layerFile(layer)),
      loaded?.digest ?? null,
    ]);
    return { ...shown.errorAgainst(reference), digest, expected };
  }

  /**
   * Opens a foreign checkpoint: its header only.
   * @param {string} url
   */
  async open(url) {
    this.cancel();
    const runtime = await this.runtime();
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

  /** The one runtime of the page. */
  runtime() {
    // The build whose results are the same bits on every machine: a figure on a screen can be checked elsewhere.
    this.#runtime ??= Runtime.create({ variant: 'simd128', wasm: wasmUrl() });
    return this.#runtime;
  }

  /**
   * @param {string} act
   * @param {Runtime} runtime
   */
  #activation(act, runtime) {
    const sampled = this.#activations.get(act) ?? sampleActivation(act, runtime);
    this.#activations.set(act, sampled);
    return sampled;
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
    this.#hidden ??= openCheckpoint(SHIPPED.hiddenUrl, {
      runtime: await this.runtime(),
      firstBytes: SHIPPED.hiddenHeaderBytes,
    });
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
    const activation = await this.#activation(act, runtime);
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
    return { mlp, norms, digest: recorder.digest() };
  }
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
