// On a narrow screen the maps come first: the controls and counts that stand above them on a wide one follow them there, in the
// document itself, so that eye, Tab key and screen reader keep one order.

import { byId } from './dom.js';
import { isNarrow, onNarrowChange } from './narrow.js';

/** Where what stands above a map goes, under the tile or under both maps. */
const PLACES = /** @type {const} */ ({
  'under-tile': [
    '#tile-caption',
    '#class-bar',
    '#class-counts',
    '#class-note',
    'label.tau',
    '#tau-mark',
  ],
  'under-maps': [
    'label:has(#sort-select)',
    'label:has(#colour-select)',
    'label:has(#only-select)',
    'label:has(#unit-box)',
    '#unit-error',
  ],
});

export class PhoneOrder {
  /** Each with a mark that stays where it is on a wide screen. @type {{ node: Element, home: Comment, away: HTMLElement }[]} */
  #moved = Object.entries(PLACES).flatMap(([place, selectors]) =>
    selectors.map((selector) => {
      const node = document.querySelector(`#gates ${selector}`);
      if (node === null) throw new Error(`index.html has no ${selector}`);
      const home = document.createComment('');
      node.before(home);
      return { node, home, away: byId(place) };
    }),
  );

  constructor() {
    onNarrowChange(() => this.#place());
    this.#place();
  }

  #place() {
    const narrow = isNarrow();
    for (const { node, home, away } of this.#moved) {
      if (narrow) away.append(node);
      else home.after(node);
    }
  }
}
