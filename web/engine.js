// The page's computing: opens checkpoints, keeps the layers it has loaded, puts one of them on show. Runs in the worker.
// What is then asked of the layer on show is shown-layer.js. Knows nothing of the DOM.

import { GatedMLP, openCheckpoint, Runtime } from '../src/binding/index.js';
import { sampleActivation } from './act-curve-samples.js';
import { columnNorms } from './definitions.js';
import { previewer, progressReporter } from './load-reports.js';
import { hiddenName, layerFile, layerUrl, SHIPPED } from './models.js';
import { wasmUrl } from './places.js';
import { FileRecorder } from './recording-fetch.js';
import { floats, ShownLayer } from './shown-layer.js';
import { WeightRows } from './weight-rows.js';

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
  /** @type {Promise<import('./brought.js').Brought> | null} */
  #brought = null;
  #abort = new AbortController();
  /** Sampled activations, by name. @type {Map<string, Promise<Activation>>} */
  #activations = new Map();
  /** @type {ShownLayer | null} */
  #shown = null;
  /** How often something was timed: only the last is still wanted. */
  #timings = 0;

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

  /** Gives back what it holds; nothing is asked of it any more. */
  end() {
    this.cancel();
    for (const { mlp } of this.#layers.values()) mlp.dispose();
    this.#layers.clear();
    this.#shown = null;
    this.#runtime = null;
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
    const key = keyOf(source);
    const x = await this.#statesFor(source);
    const layer = this.#layers.get(key) ?? (await this.#load(source, x, runtime, emit, signal));
    this.#keep(key, layer);
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
    const loaded = this.#layers.get(keyOf({ kind: 'shipped', layer, prompt }));
    const [reference, expected, digest] = await Promise.all([
      this.#captured(hiddenName(layer, prompt, 'y')),
      recordedDigest(layerFile(layer)),
      loaded?.digest ?? null,
    ]);
    return { ...shown.errorAgainst(reference), digest, expected };
  }

  /**
   * The output on show against the captured one.
   * @param {number} states
   * @returns {Promise<import('./protocol.js').Agreement | null>}
   */
  async agree(states) {
    const { shown } = this;
    const reference = (await this.#ofReader()).output(states);
    return reference === null ? null : shown.errorAgainst(reference);
  }

  /**
   * How long a forward of the layer on show takes with and without some units; null where another layer is asked for meanwhile.
   * @param {{ token: number, dropped: ArrayLike<number> }} question
   */
  async timing(question) {
    const { shown } = this;
    const { signal } = this.#abort;
    const timing = ++this.#timings;
    const [runtime, { timeWithout }] = await Promise.all([
      this.runtime(),
      import('./forward-timing.js'),
    ]);
    const isWanted = () => !signal.aborted && timing === this.#timings;
    return isWanted() ? timeWithout(shown.timed, question, runtime, isWanted) : null;
  }

  /**
   * Opens a checkpoint that the reader brought: its headers only.
   * @param {import('./opened-model.js').OpenQuestion} question
   */
  async open(question) {
    this.cancel();
    const { signal } = this.#abort;
    const runtime = await this.runtime();
    return (await this.#ofReader()).open(question, runtime, signal);
  }

  /**
   * Takes captured hidden states in.
   * @param {Blob} file
   */
  async bring(file) {
    return (await this.#ofReader()).bring(file, await this.runtime());
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
    return (await this.#ofReader()).input(source);
  }

  /** What the reader brought, and the code for it; where that cannot be fetched it is tried anew the next time. */
  #ofReader() {
    this.#brought ??= import('./brought.js').then(
      ({ Brought }) => new Brought(),
      (error) => {
        this.#brought = null;
        throw error;
      },
    );
    return this.#brought;
  }

  /**
   * Of layers that the reader opened only the last one stays: they can be large.
   * @param {string} key
   * @param {Layer} layer
   */
  #keep(key, layer) {
    this.#layers.set(key, layer);
    if (key.startsWith(SHIPPED.id)) return;
    for (const [other, { mlp }] of this.#layers) {
      if (other === key || other.startsWith(SHIPPED.id)) continue;
      this.#layers.delete(other);
      mlp.dispose();
    }
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
    const recorder = new FileRecorder();
    const { checkpoint, entry } =
      source.kind === 'shipped'
        ? await shippedLayer(source.layer, { fetch: recorder.fetch, signal, runtime })
        : (await this.#ofReader()).layer(source);
    const act = (source.kind === 'shipped' ? null : source.act) ?? entry.act ?? SHIPPED.act;
    const activation = await this.#activation(act, runtime);
    const mlp = await GatedMLP.fromCheckpoint(checkpoint, {
      prefix: entry.prefix,
      expert: entry.expert ?? undefined,
      act,
      signal,
      runtime,
      onProgress: progressReporter(emit),
      onGateRows: previewer(x, entry, activation, emit),
    });
    const weights = new Map(mlp.namedParameters());
    const down = floats(weights.get('down_proj.weight')?.data);
    const norms = columnNorms(down, entry.d, entry.dFf);
    return { mlp, norms, rows: new WeightRows(mlp), digest: recorder.digest() };
  }
}

/**
 * @param {number} layer
 * @param {import('../src/binding/index.js').OpenOptions} options
 */
async function shippedLayer(layer, options) {
  const checkpoint = await openCheckpoint(layerUrl(layer), options);
  const [entry] = checkpoint.mlps;
  if (entry === undefined) throw new Error('no gated MLP in this file');
  return { checkpoint, entry };
}

/**
 * Under which name a layer that is in memory is kept.
 * @param {Source} source
 */
function keyOf(source) {
  if (source.kind === 'shipped') return `${SHIPPED.id} ${source.layer}`;
  return `model ${source.model} ${source.prefix} ${source.expert} ${source.act}`;
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
