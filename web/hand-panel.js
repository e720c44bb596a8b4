// Gates held by hand beyond the pinned one: buttons that close a whole set at the selected token, what that does to the
// output, and undo. It keeps the steps that undo goes back through; the state itself is the page's.

import { channelChanges } from './bar-charts.js';
import { LEAKING } from './definitions.js';
import { byId, el } from './dom.js';
import { number, percent } from './format.js';
import { KEPT_BY_LEAST, UNIT_SETS } from './orders.js';
import { text } from './text.js';

const words = text.hand;

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./state.js').State} State */
/** @typedef {Pick<State, 'closed' | 'set' | 'kept' | 'whatIf'>} Held */

export class HandPanel {
  #buttons;
  #result = byId('hand-result');
  #kept = el('input', { type: 'number', id: 'hand-kept', class: 'unit-box', min: 0, step: 1 });
  #keptLabel = el('label', { for: 'hand-kept' }, words.kept, this.#kept);
  #channels = byId('hand-channels');
  /** What the channels are of. @type {import('./protocol.js').EffectMessage | null} */
  #shown = null;
  #undo = /** @type {HTMLButtonElement} */ (byId('hand-undo'));
  #onChange;
  /** What was held before, oldest first; where it was held. @type {{ place: string, held: Held }[]} */
  #steps = [];
  /** @type {{ place: string, held: Held } | null} */
  #now = null;
  #undoing = false;
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
    this.#undo.addEventListener('click', () => this.#stepBack());
  }

  /**
   * @param {Scene} scene
   * @param {import('./protocol.js').EffectMessage | null} together
   */
  update(scene, together) {
    const { token, unit, closed, set, kept, whatIf, layer, prompt } = scene.state;
    const { counts, closed: closedCount, negative } = scene.counts[token];
    const sizes = { closed: closedCount, leaking: counts[LEAKING], negative };
    this.#remember(`${layer} ${prompt} ${token}`, { closed, set, kept, whatIf });
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
    this.#undo.disabled = this.#steps.length === 0;
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

  /**
   * @param {string} place
   * @param {Held} held
   */
  #remember(place, held) {
    const before = this.#now;
    this.#now = { place, held };
    if (before?.place !== place) {
      this.#steps = [];
      return;
    }
    const changed = JSON.stringify(before.held) !== JSON.stringify(held);
    if (changed && !this.#undoing) this.#steps.push(before);
    this.#undoing = false;
  }

  #stepBack() {
    const step = this.#steps.pop();
    if (step === undefined) return;
    this.#undoing = true;
    this.#onChange({ ...step.held });
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
