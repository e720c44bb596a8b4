// "Load another model": a Hub id, an address or a file in; the list of its gated MLPs out; then one of them, on noise or on
// captured hidden states. Says what a large load costs before it can be begun, shows progress, can be cancelled. It asks the
// worker; load-door.js opens it.

import { byId, el } from './dom.js';
import { megabytes } from './format.js';
import { KeptWeights } from './kept-weights.js';
import { explain, wantsToken } from './load-errors.js';
import { LoadOffer } from './load-offer.js';
import { loadText as words } from './load-text.js';
import { addressOf, linkedName } from './model-link.js';

/** @typedef {import('./protocol.js').WorkerClient} WorkerClient */
/** @typedef {import('./opened-model.js').MlpSummary} MlpSummary */
/** @typedef {import('./captured-states.js').StatesSummary} StatesSummary */
/**
 * A layer that the reader chose. `tokens`: those of the captured text; null: noise. `link`: what names it in a link.
 * @typedef {{ source: import('./protocol.js').Source, mlp: MlpSummary, tokens: string[] | null, name: string,
 *   link: import('./model-link.js').ModelLink }} ForeignLayer
 */

/** Above this many bytes the reader is told and asked first. */
const LARGE = 50e6;
export class LoadDialog {
  #dialog = /** @type {HTMLDialogElement} */ (byId('load-dialog'));
  #url = /** @type {HTMLInputElement} */ (byId('load-url'));
  #token = /** @type {HTMLInputElement} */ (byId('load-token'));
  #list = /** @type {HTMLSelectElement} */ (byId('load-list'));
  #act = /** @type {HTMLSelectElement} */ (byId('load-act'));
  #button = /** @type {HTMLButtonElement} */ (byId('load-layer'));
  #choice = byId('load-choice');
  #question = byId('load-question');
  #status = byId('load-status');
  #error = byId('load-error');
  #progress = /** @type {HTMLProgressElement} */ (byId('load-progress'));
  #cancel = /** @type {HTMLButtonElement} */ (byId('load-cancel'));
  #kept = new KeptWeights();
  #client;
  #onChoose;
  #model = 0;
  /** @type {MlpSummary[]} */
  #mlps = [];
  /** @type {StatesSummary | null} */
  #states = null;
  /** What is under way, and the files that wait for it. */
  #running = Promise.resolve();
  #turn = Promise.resolve();
  #name = '';
  /** What a link calls the open model. */
  #linked = '';
  #offer = new LoadOffer(() => this.#attempt(() => this.#openOffered()));
  /** What was asked last, for its errors. @type {string | null} */
  #address = null;
  #busy = false;
  #cancelled = false;
  #began = 0;

  /**
   * @param {WorkerClient} client
   * @param {(layer: ForeignLayer) => Promise<void>} onChoose loads the layer and shows it
   */
  constructor(client, onChoose) {
    this.#client = client;
    this.#onChoose = onChoose;
    client.on('progress', (progress) => this.#progressed(progress));
    byId('load-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#attempt(() => this.#openAddress());
    });
    this.#button.addEventListener('click', () => this.#attempt(() => this.#load()));
    this.#list.addEventListener('change', () => this.#showLayer());
    this.#cancel.addEventListener('click', () => this.#stop());
    byId('load-close').addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => {
      this.#stop();
      this.#offer.end();
    });
    this.#takeFiles();
  }

  show() {
    this.#offer.hide();
    this.#choice.hidden = true;
    this.#progress.hidden = true;
    this.#cancel.hidden = true;
    this.#status.textContent = '';
    this.#error.textContent = '';
    this.#kept.refresh();
    this.#dialog.showModal();
  }

  /**
   * Asks whether the layer that a link names may be loaded.
   * @param {import('./model-link.js').ModelLink & { model: string }} wanted
   * @param {() => void} onDecline the dialog was closed without it
   */
  offer(wanted, onDecline) {
    this.show();
    this.#offer.show(wanted, onDecline);
  }

  async #openOffered() {
    await this.#openAddress();
    const mlp = this.#mlps[Number(this.#list.value)];
    if (this.#offer.covers(mlp, LARGE)) await this.#load();
  }

  /** @param {{ bytes: number, total: number }} progress */
  #progressed({ bytes, total }) {
    if (!this.#busy || total === 0) return;
    const have = Math.min(bytes, total);
    const seconds = (performance.now() - this.#began) / 1000;
    this.#progress.hidden = false;
    this.#progress.max = total;
    this.#progress.value = have;
    const rate = seconds > 0.5 ? megabytes(have / seconds) : '';
    this.#status.textContent = words.progress(megabytes(have), megabytes(total), rate);
  }

  /** Files that were dropped on the page, wherever. @param {File[]} files */
  takeDropped(files) {
    if (!this.#dialog.open) this.show();
    this.#inTurn(() => this.#openFiles(files));
  }

  #takeFiles() {
    const weights = /** @type {HTMLInputElement} */ (byId('load-file'));
    const states = /** @type {HTMLInputElement} */ (byId('load-states'));
    // A file that is chosen again, perhaps made anew, is a change too; who chooses none has none.
    for (const input of [weights, states])
      input.addEventListener('click', () => Object.assign(input, { value: '' }));
    weights.addEventListener('change', () =>
      this.#inTurn(() => this.#openFiles([...(weights.files ?? [])])),
    );
    for (const chosen of ['change', 'cancel'])
      states.addEventListener(chosen, () =>
        this.#inTurn(() => this.#openStates(states.files?.[0] ?? null)),
      );
  }

  #stop() {
    if (!this.#busy) return;
    this.#cancelled = true;
    this.#client.request('cancel', {});
  }

  /** A file that is chosen while something is under way is not lost: its turn comes. @param {() => Promise<void>} action */
  #inTurn(action) {
    this.#turn = this.#turn.then(async () => {
      await this.#running;
      await this.#attempt(action);
    });
  }

  /** @param {() => Promise<void>} action */
  #attempt(action) {
    if (this.#busy) return this.#running;
    this.#busy = true;
    this.#running = this.#carryOut(action);
    return this.#running;
  }

  /** @param {() => Promise<void>} action */
  async #carryOut(action) {
    this.#cancelled = false;
    this.#error.textContent = '';
    this.#cancel.hidden = false;
    try {
      await action();
    } catch (error) {
      await this.#showError(error);
    }
    this.#progress.hidden = true;
    this.#cancel.hidden = true;
    this.#busy = false;
  }

  /** @param {unknown} error */
  async #showError(error) {
    // The reader has cancelled it, or has gone to another layer meanwhile.
    const isAborted = this.#cancelled || /** @type {Error} */ (error).name === 'AbortError';
    this.#status.textContent = isAborted ? words.cancelled : '';
    if (isAborted) return;
    this.#error.textContent = await explain(error, this.#address);
    if (!wantsToken(error)) return;
    byId('load-more').setAttribute('open', '');
    this.#token.focus();
  }

  async #openAddress() {
    this.#address = null;
    const source = addressOf(this.#url.value);
    this.#address = source;
    await this.#open(source, this.#url.value.trim(), null);
  }

  /** A .safetensors file, and its config.json if it came along. @param {File[]} files */
  async #openFiles(files) {
    const file = files.find(({ name }) => name.endsWith('.safetensors'));
    if (file === undefined) throw new Error(words.errors.noWeights);
    const configFile = files.find(({ name }) => name.endsWith('.json'));
    /** @type {Record<string, unknown> | null} */
    let config = null;
    try {
      if (configFile !== undefined) config = JSON.parse(await configFile.text());
    } catch {
      throw new Error(words.errors.noConfig);
    }
    this.#address = null;
    await this.#open(file, file.name, config);
  }

  /**
   * @param {string | Blob} source
   * @param {string} name
   * @param {Record<string, unknown> | null} config
   */
  async #open(source, name, config) {
    this.#choice.hidden = true;
    this.#status.textContent = words.reading;
    const { model, mlps, commit } = await this.#client.request('open', {
      source,
      config,
      token: this.#token.value.trim(),
      keep: this.#kept.isWanted,
    });
    this.#model = model;
    this.#mlps = mlps;
    this.#name = name;
    this.#linked = linkedName(source, name, commit);
    this.#status.textContent = words.found(mlps.length);
    this.#list.replaceChildren(
      ...mlps.map((mlp, index) =>
        el('option', { value: index }, words.option(mlp, megabytes(mlp.byteLength))),
      ),
    );
    const first = mlps.findIndex(({ refusal }) => refusal === null);
    const wanted = this.#offer.placeIn(mlps) ?? first;
    this.#list.value = String(Math.max(0, wanted < 0 ? first : wanted));
    this.#choice.hidden = false;
    this.#act.value = this.#offer.trained ?? this.#act.value;
    if (wanted < 0 && first >= 0) this.#status.textContent = words.notThere;
    this.#chooseLayerOfStates();
    this.#showLayer();
  }

  /** @param {File | null} file */
  async #openStates(file) {
    this.#address = null;
    this.#states = null;
    byId('load-states-status').textContent = words.noStates;
    if (file === null) return;
    this.#states = await this.#client.request('states', { file });
    const { tokens, d, hasOutput } = this.#states;
    byId('load-states-status').textContent = words.states(tokens.length, d, hasOutput);
    this.#chooseLayerOfStates();
    this.#showLayer();
  }

  /** The layer that the hidden states say they are of. */
  #chooseLayerOfStates() {
    const layer = this.#states?.layer ?? null;
    const index = this.#mlps.findIndex((mlp) => mlp.layer === layer);
    if (layer !== null && index >= 0) this.#list.value = String(index);
  }

  /** What the chosen layer costs, or why it cannot be had. */
  #showLayer() {
    const mlp = this.#mlps[Number(this.#list.value)];
    if (mlp === undefined) return;
    const { refusal, fetchBytes, byteLength } = mlp;
    this.#question.textContent = refusal === null ? '' : words.refused(refusal);
    this.#button.textContent = words.load;
    this.#button.disabled = refusal !== null;
    byId('load-act-row').hidden = mlp.act !== null || refusal !== null;
    if (refusal !== null || fetchBytes <= LARGE) return;
    const size = megabytes(fetchBytes);
    this.#question.textContent =
      fetchBytes > byteLength ? words.fromTheStart(size, megabytes(byteLength)) : words.large(size);
    this.#button.textContent = words.loadSize(size);
  }

  async #load() {
    const mlp = this.#mlps[Number(this.#list.value)];
    this.#began = performance.now();
    const { prefix, expert } = mlp;
    const act = mlp.act === null ? this.#act.value : null;
    const layer = { model: this.#model, prefix, expert, act };
    /** @type {import('./protocol.js').Source} */
    const source =
      this.#states === null
        ? { kind: 'probe', ...layer }
        : { kind: 'captured', states: this.#states.states, ...layer };
    const tokens = this.#states?.tokens ?? null;
    const size = mlp.byteLength;
    const link = { model: this.#linked, module: prefix, expert, trained: act, size };
    await this.#onChoose({ source, mlp, tokens, name: this.#name, link });
    this.#offer.fulfil();
    this.#busy = false;
    this.#dialog.close();
  }
}
