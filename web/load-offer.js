// The question with which a link to a loaded model opens: may that layer be fetched, from where, how much? Nothing leaves the
// page before the reader agrees. A part of the load dialog, which does the loading.

import { byId } from './dom.js';
import { megabytes } from './format.js';
import { loadText as words } from './load-text.js';
import { ownFileOf, shownName, siteOf } from './model-link.js';

/** @typedef {import('./model-link.js').ModelLink} ModelLink */
/** @typedef {import('./opened-model.js').MlpSummary} MlpSummary */

export class LoadOffer {
  #box = byId('load-offer');
  #button = /** @type {HTMLButtonElement} */ (byId('load-offered'));
  /** The layer that a link asks for, until it is there or not wanted any more. @type {ModelLink | null} */
  #wanted = null;
  #onDecline = () => {};

  /** @param {() => void} onAgree */
  constructor(onAgree) {
    this.#button.addEventListener('click', onAgree);
  }

  /**
   * @param {ModelLink & { model: string }} wanted
   * @param {() => void} onDecline the dialog was closed without it
   */
  show(wanted, onDecline) {
    this.#wanted = wanted;
    this.#onDecline = onDecline;
    const { model, module, expert, size } = wanted;
    const layer = words.layerOfLink(module, expert);
    const file = ownFileOf(model);
    const cost = size === null ? '' : megabytes(size);
    this.#box.hidden = false;
    this.#button.hidden = file !== null;
    this.#button.textContent = cost === '' ? words.load : words.loadSize(cost);
    byId('load-offer-words').textContent =
      file === null
        ? words.offer(layer, shownName(model), siteOf(model), cost)
        : words.offerFile(layer, file);
    const address = /** @type {HTMLInputElement} */ (byId('load-url'));
    address.value = file === null ? model : '';
    (file === null ? this.#button : byId('load-file')).focus();
  }

  hide() {
    this.#box.hidden = true;
  }

  /** The activation that the link names where no config does. */
  get trained() {
    return this.#wanted?.trained ?? null;
  }

  /** The place of the layer that the link names; null: no link, -1: it is not there. @param {MlpSummary[]} mlps */
  placeIn(mlps) {
    if (this.#wanted === null || this.#wanted.module === null) return null;
    const { module, expert } = this.#wanted;
    return mlps.findIndex((mlp) => mlp.prefix === module && mlp.expert === expert);
  }

  /**
   * Whether a layer is the one that was agreed to, at a size that was, or that nobody is asked about.
   * @param {MlpSummary} mlp
   * @param {number} unasked bytes
   */
  covers({ prefix, expert, refusal, fetchBytes, act }, unasked) {
    if (this.#wanted === null) return false;
    const { module, expert: own, size, trained } = this.#wanted;
    const isIt = prefix === module && expert === own && refusal === null;
    return isIt && fetchBytes <= Math.max(unasked, size ?? 0) && (act ?? trained) !== null;
  }

  /** It is there. */
  fulfil() {
    this.#wanted = null;
  }

  /** The dialog is closed: whatever is not there yet is not wanted. */
  end() {
    if (this.#wanted === null) return;
    this.#wanted = null;
    this.#onDecline();
  }
}
