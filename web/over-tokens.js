// One unit over all tokens: its act as bars, the four sign cases of gate and up, and whether its class is always the same.

import { unitOverTokens } from './bar-charts.js';
import { signCases } from './definitions.js';
import { el } from './dom.js';
import { text } from './text.js';
import { habitOf } from './unit-record.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */

const words = text.inspector;

export class OverTokens {
  #figure = el('figure', { class: 'over-tokens' });

  get node() {
    return this.#figure;
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   */
  update(scene, { token, unit }) {
    const { tokens, gate, up, activated, dFf } = scene.numbers;
    const values = Array.from({ length: tokens }, (_, t) => ({
      act: activated[t * dFf + unit],
      gateClass: scene.classAt({ token: t, unit }),
    }));
    const habit = habitOf(scene, unit);
    const signs = up === null ? null : signCases(gate, up, tokens, dFf, unit);
    const label = words.tokensLabel({
      ...habit,
      unit,
      same: signs === null ? '' : signs['++'] + signs['--'],
    });
    const caption = el('figcaption', {}, words.tokensCaption);
    if (signs !== null)
      caption.append(
        el('span', { class: 'signs', title: text.meanings.signs }, words.signs(signs)),
      );
    this.#figure.replaceChildren(
      caption,
      unitOverTokens({ values, selected: token, label }),
      el('p', { class: 'habit', id: 'habit' }, words.habit(habit)),
    );
  }
}
