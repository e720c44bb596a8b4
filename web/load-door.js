// The way to a model of the reader's own: the button in the page's header, files that are dropped anywhere on the page, and
// links to a layer that is not here. The dialog's code is fetched when one of them first wants it. main.js decides what to do
// with the layer that is chosen.

import { byId } from './dom.js';

/** @typedef {import('./load-dialog.js').LoadDialog} LoadDialog */

export class LoadDoor {
  #client;
  #onChoose;
  #onFail;
  /** @type {Promise<LoadDialog> | null} */
  #dialog = null;

  /**
   * @param {import('./protocol.js').WorkerClient} client
   * @param {{ onChoose: (layer: import('./load-dialog.js').ForeignLayer) => Promise<void>, onFail: () => void }} actions
   *   `onChoose` loads the layer and shows it; `onFail`: there is no dialog, its code could not be fetched
   */
  constructor(client, { onChoose, onFail }) {
    this.#client = client;
    this.#onChoose = onChoose;
    this.#onFail = onFail;
    byId('load-open').addEventListener('click', () => this.#with((dialog) => dialog.show()));
    document.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    document.addEventListener('drop', (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      this.#with((dialog) => dialog.takeDropped(files));
    });
  }

  /**
   * Asks whether the layer that a link names may be loaded.
   * @param {import('./model-link.js').ModelLink & { model: string }} wanted
   * @param {() => void} onDecline the dialog was closed without it, or there is none
   */
  offer(wanted, onDecline) {
    this.#with((dialog) => dialog.offer(wanted, onDecline), onDecline);
  }

  /**
   * Where the code cannot be had it is tried anew the next time.
   * @param {(dialog: LoadDialog) => void} action
   * @param {() => void} [otherwise]
   */
  async #with(action, otherwise = () => {}) {
    this.#dialog ??= import('./load-dialog.js').then(
      ({ LoadDialog }) => new LoadDialog(this.#client, this.#onChoose),
    );
    const dialog = await this.#dialog.catch(() => null);
    if (dialog !== null) return action(dialog);
    this.#dialog = null;
    otherwise();
    this.#onFail();
  }
}
