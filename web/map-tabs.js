// On a narrow screen the two maps take turns: all gates of this token, or all tokens. Two tabs choose which; on a wide screen
// both are there and nothing is a tab.

import { byId, setAttributes } from './dom.js';
import { isNarrow, onNarrowChange } from './narrow.js';

/** Tab and panel, in their order. */
const PAIRS = /** @type {const} */ ([
  ['tab-token', 'panel-token'],
  ['tab-tokens', 'panel-tokens'],
]);

const NO_PANEL = { role: null, 'aria-labelledby': null };

export class MapTabs {
  #chosen = 0;
  #pairs = PAIRS.map(([tab, panel]) => ({ tab: byId(tab), panel: byId(panel) }));

  constructor() {
    this.#pairs.forEach(({ tab }, index) => {
      tab.addEventListener('click', () => this.#choose(index));
      tab.addEventListener('keydown', (event) => this.#onKey(event));
    });
    document.querySelector('.skip')?.addEventListener('click', skipToGrid);
    onNarrowChange(() => this.#show());
    this.#show();
  }

  /** @param {number} index */
  #choose(index) {
    this.#chosen = index;
    this.#show();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const last = this.#pairs.length - 1;
    const steps = { ArrowLeft: this.#chosen - 1, ArrowRight: this.#chosen + 1, Home: 0, End: last };
    const to = steps[/** @type {'Home'} */ (event.key)];
    if (to === undefined) return;
    event.preventDefault();
    this.#choose(Math.max(0, Math.min(last, to)));
    this.#pairs[this.#chosen].tab.focus();
  }

  #show() {
    this.#pairs.forEach(({ tab, panel }, index) => {
      const isChosen = index === this.#chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panel.classList.toggle('is-behind', !isChosen);
      const asPanel = isNarrow() ? { role: 'tabpanel', 'aria-labelledby': tab.id } : NO_PANEL;
      setAttributes(panel, asPanel);
    });
  }
}

/** To the map itself, where the arrow keys work at once; while it is behind, the link's own target has to do. @param {Event} event */
function skipToGrid(event) {
  const grid = /** @type {HTMLElement | null} */ (document.querySelector('#map .cell-grid'));
  if (!grid?.checkVisibility()) return;
  event.preventDefault();
  grid.focus();
}
