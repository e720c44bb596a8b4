// The activation on show: its name in the sentence, and, where it is not the one that the weights were trained with, a banner
// that says so and how far the output moves. The select itself is bound in controls.js.

import { byId } from './dom.js';
import { percent } from './format.js';
import { median } from './layer-measures.js';
import { actName, text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

export class ActBanner {
  #banner = byId('act-banner');
  #words = byId('act-banner-words');
  #back = byId('act-back');
  #value = byId('act-value');
  #select = /** @type {HTMLSelectElement} */ (byId('act-select'));

  /** @param {{ onBack: () => void }} actions */
  constructor({ onBack }) {
    this.#back.addEventListener('click', () => {
      onBack();
      this.#select.focus();
    });
  }

  /** @param {Scene} scene */
  update({ numbers, state, firstCounted }) {
    const { act, ownAct, actChange } = numbers;
    if (act === '') return;
    this.#value.textContent = actName(act);
    this.#select.value = act;
    this.#banner.hidden = actChange === null;
    if (actChange === null) return;
    const [here, middle] = [actChange[state.token], median(actChange.subarray(firstCounted))];
    this.#words.textContent = text.actBanner(
      actName(act),
      actName(ownAct),
      percent(here),
      percent(middle),
    );
    this.#back.textContent = text.actBack(actName(ownAct));
  }
}
