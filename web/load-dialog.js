// "Load another model": a URL in, the list of its gated MLPs out, then one of them on the page. Shows progress and errors
// in words and can be cancelled. It asks the worker; main.js decides what to do with the chosen layer.

import { byId, el } from './dom.js';
import { megabytes } from './format.js';
import { text } from './text.js';

const words = text.load;

/** @typedef {import('./protocol.js').WorkerClient} WorkerClient */
/** @typedef {import('./protocol.js').MlpSummary} MlpSummary */

/**
 * An error in words with a way out.
 * @param {unknown} error
 */
export function errorInWords(error) {
  const {
    code = '',
    status = null,
    message = String(error),
  } = /** @type {{ code?: string, status?: number | null, message?: string }} */ (error);
  if (status === 401 || status === 403) return words.errors.unauthorised;
  if (status === 404) return words.errors.notFound;
  if (code === 'ERR_HTTP' && status !== null && status > 0) return words.errors.http(status);
  if (code === 'ERR_HTTP') return words.errors.noNetwork;
  if (code === 'ERR_SAFETENSORS') return words.errors.notSafetensors(message);
  if (code === 'ERR_OUT_OF_MEMORY') return words.errors.memory(message);
  return words.errors.other(message);
}

/** @param {string} address a Hub page of a file is not the file: /blob/ becomes /resolve/ */
export function fileAddress(address) {
  return address
    .trim()
    .replace(/^(https:\/\/huggingface\.co\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
}

export class LoadDialog {
  #dialog = /** @type {HTMLDialogElement} */ (byId('load-dialog'));
  #url = /** @type {HTMLInputElement} */ (byId('load-url'));
  #list = /** @type {HTMLSelectElement} */ (byId('load-list'));
  #choice = byId('load-choice');
  #status = byId('load-status');
  #error = byId('load-error');
  #progress = /** @type {HTMLProgressElement} */ (byId('load-progress'));
  #cancel = /** @type {HTMLButtonElement} */ (byId('load-cancel'));
  #client;
  #onChoose;
  /** @type {MlpSummary[]} */
  #mlps = [];
  #busy = false;
  #cancelled = false;

  /**
   * @param {WorkerClient} client
   * @param {(mlp: MlpSummary) => Promise<void>} onChoose loads the layer and shows it
   */
  constructor(client, onChoose) {
    this.#client = client;
    this.#onChoose = onChoose;
    byId('load-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#attempt(() => this.#open());
    });
    byId('load-layer').addEventListener('click', () => this.#attempt(() => this.#load()));
    this.#cancel.addEventListener('click', () => this.#stop());
    byId('load-close').addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => this.#stop());
  }

  show() {
    this.#reset();
    this.#dialog.showModal();
    this.#url.focus();
  }

  /** @param {{ bytes: number, total: number }} progress */
  progress({ bytes, total }) {
    if (!this.#busy || total === 0) return;
    this.#progress.hidden = false;
    this.#progress.max = total;
    this.#progress.value = Math.min(bytes, total);
    this.#status.textContent = words.progress(megabytes(Math.min(bytes, total)), megabytes(total));
  }

  #reset() {
    this.#choice.hidden = true;
    this.#progress.hidden = true;
    this.#cancel.hidden = true;
    this.#status.textContent = '';
    this.#error.textContent = '';
  }

  #stop() {
    if (!this.#busy) return;
    this.#cancelled = true;
    this.#client.request('cancel', {});
  }

  /** @param {() => Promise<void>} action */
  async #attempt(action) {
    if (this.#busy) return;
    this.#busy = true;
    this.#cancelled = false;
    this.#error.textContent = '';
    this.#cancel.hidden = false;
    try {
      await action();
    } catch (error) {
      this.#status.textContent = this.#cancelled ? words.cancelled : '';
      this.#error.textContent = this.#cancelled ? '' : errorInWords(error);
    }
    this.#progress.hidden = true;
    this.#cancel.hidden = true;
    this.#busy = false;
  }

  async #open() {
    this.#choice.hidden = true;
    this.#status.textContent = words.reading;
    const url = new URL(fileAddress(this.#url.value), location.href).href;
    const { mlps } = await this.#client.request('open', { url });
    this.#mlps = mlps;
    this.#status.textContent = mlps.length === 0 ? words.none : words.found(mlps.length);
    this.#choice.hidden = mlps.length === 0;
    this.#list.replaceChildren(
      ...mlps.map((mlp, index) =>
        el('option', { value: index }, words.option(mlp, megabytes(mlp.byteLength))),
      ),
    );
  }

  async #load() {
    await this.#onChoose(this.#mlps[Number(this.#list.value)]);
    this.#busy = false;
    this.#dialog.close();
  }
}
