// Gates held by hand beyond the pinned one: buttons that close a whole set at the selected token, what that does to the
// output, undo and redo, by button and by key. The state itself is the page's.

import { channelChanges } from './bar-charts.js';
import { LEAKING } from './definitions.js';
import { byId, el } from './dom.js';
import { number, percent } from './format.js';
import { HeldSteps } from './held-steps.js';
import { KEPT_BY_LEAST, UNIT_SETS } from './orders.js';
import { text } from './text.js';
import { bindUndoKeys } from './undo-keys.js';

const words = text.hand;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./state.js').State} State */

export class HandPanel {
  #buttons;
  #result = byId('hand-result');
  #kept = el('input', { type: 'number', id: 'hand-kept', class: 'unit-box', min: 0, step: 1 });
  #keptLabel = el('label', { for: 'hand-kept' }, words.kept, this.#kept);
  #channels = byId('hand-channels');
  /** What the channels are of. @type {import('./protocol.js').EffectMessage | null} */
  #shown = null;
  #undo = /** @type {HTMLButtonElement} */ (byId('hand-undo'));
  #redo = /** @type {HTMLButtonElement} */ (byId('hand-redo'));
  #onChange;
  #steps = new HeldSteps();
  /** Whether a set was pressed and its effect is still to be shown. */
  #isAsked = false;

  /** @param {{ onChange: (patch: Partial<State>) => void }} actions */
  constructor({ onChange }) {
    this.#onChange = onChange;
    this.#buttons = UNIT_SETS.map((set) => {
      const count = el('span', { class: 'count' });
      const button = el('button', { type: 'button' }, words.sets[set], count);
      button.addEventListener('click', () => {
        this.#isAsked = true;
        const pressed = button.getAttribute('aria-pressed') === 'true';
        onChange({ set: pressed ? null : set });
      });
      return { set, button, count };
    });
    this.#kept.addEventListener('change', () => {
      const kept = Number(this.#kept.value);
      if (this.#kept.value !== '' && this.#kept.validity.valid) onChange({ set: 'least', kept });
      else this.#kept.reportValidity();
    });
    byId('hand-sets').append(...this.#buttons.map(({ button }) => button), this.#keptLabel);
    const undo = () => this.#take(this.#steps.undo());
    const redo = () => this.#take(this.#steps.redo());
    this.#undo.addEventListener('click', undo);
    this.#redo.addEventListener('click', redo);
    bindUndoKeys({ undo, redo });
  }

  /**
   * @param {Scene} scene
   * @param {import('./protocol.js').EffectMessage | null} together
   */
  update(scene, together) {
    const { token, unit, closed, set, kept, whatIf, prompt } = scene.state;
    const { model, layer } = scene.numbers;
    const { counts, closed: closedCount, negative } = scene.counts[token];
    const sizes = { closed: closedCount, leaking: counts[LEAKING], negative };
    this.#steps.note(`${model} ${layer} ${prompt} ${token}`, { closed, set, kept, whatIf });
    this.#showKept(scene);
    for (const { set: name, button, count } of this.#buttons) {
      button.setAttribute('aria-pressed', String(set === name));
      button.disabled = !scene.isWhole;
      button.hidden = name === 'least' && scene.numbers.dFf <= KEPT_BY_LEAST;
      if (scene.isWhole && name !== 'least') {
        count.textContent = ` (${sizes[name]})`;
      }
    }
    const held = closed.length > 0 || set !== null || whatIf !== null;
    this.#undo.disabled = !this.#steps.canUndo;
    this.#redo.disabled = !this.#steps.canRedo;
    const said = held && together !== null ? sentence(scene, together) : '';
    // Writing the same words again would have them read out again.
    if (this.#result.textContent !== said) {
      this.#result.textContent = said;
      // Below the edge of a low window nobody would see that anything happened.
      if (this.#isAsked && said !== '') this.#result.scrollIntoView({ block: 'nearest' });
      this.#isAsked = false;
    }
    // Of the pinned gate alone the inspector has them already.
    const isPinnedAlone = set === null && whatIf === null && closed.join() === String(unit);
    this.#showChannels(said === '' || isPinnedAlone ? null : together);
  }

  /** @param {Scene} scene */
  #showKept({ numbers: { dFf }, state: { kept }, isWhole }) {
    this.#keptLabel.hidden = dFf <= KEPT_BY_LEAST;
    this.#kept.disabled = !isWhole;
    this.#kept.max = String(dFf);
    // What is being typed is not written over.
    if (document.activeElement === this.#kept) return;
    this.#kept.value = String(Math.min(dFf, kept ?? KEPT_BY_LEAST));
  }

  /** @param {import('./protocol.js').EffectMessage | null} together */
  #showChannels(together) {
    if (together === this.#shown) return;
    this.#shown = together;
    this.#channels.hidden = together === null;
    if (together === null) return;
    const caption = el('figcaption', {}, text.inspector.channels);
    this.#channels.replaceChildren(caption, channelChanges(together.channels));
  }

  /** The pinned gate's g is taken hold of: what it is set to now is undone as one step. */
  beginSlide() {
    this.#steps.beginSlide();
  }

  /**
   * A step of undo or redo.
   * @param {import('./held-steps.js').Held | null} step null: there is none
   */
  #take(step) {
    if (step !== null) this.#onChange({ ...step });
    return step !== null;
  }
}

/**
 * @param {Scene} scene
 * @param {import('./protocol.js').EffectMessage} together
 */
function sentence(scene, { relative, cosine }) {
  const { whatIf } = scene.state;
  const changes = scene.shut.size === 0 ? [] : [words.closed(scene.shut.size)];
  if (whatIf !== null) changes.push(words.whatIf(number(whatIf)));
  return words.result(changes, percent(relative), number(cosine, 3));
}
