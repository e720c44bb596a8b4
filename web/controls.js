// The controls that stand in the markup: layer, prompt, token and sort order, the theme switch.
// They hand changes to the page; the function that comes back shows a state on them.

import { COLOUR_KEYS } from './colouring.js';
import { ACT_KEYS } from './definitions.js';
import { byId, choose, el } from './dom.js';
import { FILTERS } from './filters.js';
import { SHIPPED } from './models.js';
import { SORT_KEYS } from './orders.js';
import { NOTHING_HELD } from './state.js';
import { text } from './text.js';

const THEMES = /** @type {const} */ (['auto', 'light', 'dark']);

/** @typedef {import('./state.js').State} State */

/**
 * @param {string} id
 * @param {[string, string][]} options value and label
 */
function fillSelect(id, options) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  select.replaceChildren(...options.map(([value, label]) => el('option', { value }, label)));
  return select;
}

/**
 * @param {(patch: Partial<State>) => void} change
 */
export function bindControls(change) {
  const layer = fillSelect(
    'layer-select',
    SHIPPED.layers.map((n) => [String(n), String(n)]),
  );
  const prompt = fillSelect(
    'prompt-select',
    SHIPPED.prompts.map((name) => [name, text.prompts[/** @type {'chat'} */ (name)].label]),
  );
  const sort = fillSelect(
    'sort-select',
    SORT_KEYS.map((key) => [key, text.sorts[key]]),
  );
  const colour = fillSelect(
    'colour-select',
    COLOUR_KEYS.map((key) => [key, text.colours[key]]),
  );
  const only = fillSelect('only-select', [
    ['', text.allCells],
    ...FILTERS.map((name) => /** @type {[string, string]} */ ([name, text.filters[name]])),
  ]);
  const act = fillSelect(
    'act-select',
    ACT_KEYS.map((key) => [key, text.acts[key]]),
  );
  const unit = /** @type {HTMLInputElement} */ (byId('unit-box'));
  const token = /** @type {HTMLSelectElement} */ (byId('token-select'));
  let units = 0;
  /** @type {number | null} */
  let pinned = null;
  /**
   * @param {State} state
   * @param {boolean} isForeign a model of the reader's own is on show: no shipped layer or text is the chosen one
   * @param {number} dFf the units on show
   */
  const show = (state, isForeign, dFf) => {
    if (dFf !== units || state.unit !== pinned) {
      unit.removeAttribute('aria-invalid');
      byId('unit-error').textContent = '';
    }
    [units, pinned] = [dFf, state.unit];
    choose(layer, isForeign ? '' : String(state.layer));
    choose(prompt, isForeign ? '' : state.prompt);
    choose(sort, state.sort);
    choose(colour, state.by);
    choose(only, state.only ?? '');
    if (document.activeElement !== unit) unit.value = state.unit === null ? '' : String(state.unit);
  };
  layer.addEventListener('change', () => {
    change({ layer: Number(layer.value), ...NOTHING_HELD });
  });
  prompt.addEventListener('change', () => {
    change({ prompt: prompt.value, token: 0, ...NOTHING_HELD });
  });
  token.addEventListener('change', () => change({ token: Number(token.value) }));
  sort.addEventListener('change', () =>
    change({ sort: /** @type {State['sort']} */ (sort.value) }),
  );
  colour.addEventListener('change', () =>
    change({ by: /** @type {State['by']} */ (colour.value) }),
  );
  only.addEventListener('change', () =>
    change({ only: FILTERS.find((name) => name === only.value) ?? null }),
  );
  act.addEventListener('change', () => change({ act: /** @type {State['act']} */ (act.value) }));
  unit.addEventListener('change', () => {
    const wanted = unit.value.trim();
    const isThere = /^\d+$/.test(wanted) && Number(wanted) < units;
    unit.setAttribute('aria-invalid', String(!isThere && wanted !== ''));
    byId('unit-error').textContent = isThere || wanted === '' ? '' : text.noUnit(units);
    if (isThere) change({ unit: Number(wanted), whatIf: null });
  });
  bindTheme();
  return show;
}

function bindTheme() {
  const button = byId('theme');
  /** @type {(typeof THEMES)[number]} */
  let theme = 'auto';
  const show = () => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    byId('theme-name').textContent = text.theme[theme];
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    show();
  });
  show();
}
