// The page's state, and its form in the URL hash: #v=1&l=24&p=chat&t=41&u=1005&tau=0.05&sort=c&closed=1005
// A bad value becomes the default and is named in `notices`; keys that are not ours are kept. Nothing of a loaded file
// or of a text ever gets into the URL; the address of a loaded model does (model-link.js).

import { COLOUR_KEYS } from './colouring.js';
import { ACT_KEYS, DEFAULT_TAU, MAX_TAU, MIN_TAU } from './definitions.js';
import { FILTERS } from './filters.js';
import { NO_MODEL, readModel } from './model-link.js';
import { OPENING, SHIPPED } from './models.js';
import { SORT_KEYS, UNIT_SETS } from './orders.js';

/** Of the links; their `v`. */
export const VERSION = '1';
/** What `hide=` may name: the values of data-part in index.html. */
export const HIDEABLE = [
  'load',
  'theme',
  'tour',
  'hand',
  'charts',
  'tables',
  'gradient',
  'lesson',
  'prose',
  'inspector',
  'map',
];

/**
 * A layer of a loaded model, or where there is none of the shipped one, and what is shown of it.
 * @typedef {import('./model-link.js').ModelLink & View} State
 */
/**
 * @typedef {object} View
 * @property {number} layer of the shipped model, as `prompt` is
 * @property {string} prompt
 * @property {number} token   selected token, from 0
 * @property {number | null} unit    pinned unit
 * @property {{ token: number, unit: number } | null} versus  a gate that was kept to compare with
 * @property {import('./protocol.js').Direction} direction  whose gradient is shown
 * @property {number} tau
 * @property {import('./definitions.js').ActKey | null} act  an activation on the same weights; null: the model's own
 * @property {import('./orders.js').SortKey} sort
 * @property {import('./colouring.js').ColourKey} by  what the map's colours mean
 * @property {import('./filters.js').Filter | null} only  the cells that are shown; null: all
 * @property {number | null} tour  stop of the tour, from 1
 * @property {number | null} lesson  step of the lesson, from 1, which then takes the place of the gates
 * @property {boolean} first  means and scales count the first token
 * @property {string[]} hide  controls that a teacher's link leaves out
 * @property {number[]} closed  units closed by hand, at the selected token
 * @property {import('./orders.js').UnitSet | null} set  a whole set closed there
 * @property {number | null} kept  how many the set 'least' leaves open; null: as many as usual
 * @property {number | null} whatIf  the pinned unit's g, set by hand
 */

/** What means nothing for a loaded model. @type {readonly string[]} */
const SHIPPED_PLACE = ['layer', 'prompt'];

/** A value of a link that means nothing. @typedef {{ key: string, value: string }} Notice */

/** Every gate as the model has it. */
export const NOTHING_HELD = Object.freeze({
  closed: /** @type {number[]} */ ([]),
  set: null,
  kept: null,
  whatIf: null,
});

/** @returns {State} */
export function openingState() {
  return {
    ...OPENING,
    ...NO_MODEL,
    versus: null,
    direction: 'y',
    tau: DEFAULT_TAU,
    act: null,
    sort: 'mean',
    by: 'class',
    only: null,
    tour: null,
    first: false,
    lesson: null,
    hide: [],
    ...NOTHING_HELD,
  };
}

/** @param {string} text */
const count = (text) => (/^\d{1,7}$/.test(text) ? Number(text) : null);

/** Each key of the hash: how it is read (null: not a value of this key), and how it is written. */
const KEYS = /** @type {const} */ ({
  m: {
    field: 'model',
    read: (/** @type {string} */ text) => (text === SHIPPED.id ? text : readModel(text)),
  },
  mlp: {
    field: 'module',
    read: (/** @type {string} */ text) => (/^[\w.-]{1,200}$/.test(text) ? text : null),
  },
  expert: { field: 'expert', read: count },
  trained: {
    field: 'trained',
    read: (/** @type {string} */ text) => ACT_KEYS.find((key) => key === text) ?? null,
  },
  size: {
    field: 'size',
    read: (/** @type {string} */ text) => (/^\d{1,13}$/.test(text) ? Number(text) : null),
  },
  l: {
    field: 'layer',
    read: (/** @type {string} */ text) => {
      const layer = count(text);
      return layer !== null && SHIPPED.layers.includes(layer) ? layer : null;
    },
  },
  p: {
    field: 'prompt',
    read: (/** @type {string} */ text) => (SHIPPED.prompts.includes(text) ? text : null),
  },
  t: { field: 'token', read: count },
  u: { field: 'unit', read: count },
  vs: {
    field: 'versus',
    read: (/** @type {string} */ text) => {
      const [, token, unit] = /^(\d{1,7})\.(\d{1,7})$/.exec(text) ?? [];
      return unit === undefined ? null : { token: Number(token), unit: Number(unit) };
    },
  },
  grad: {
    field: 'direction',
    read: (/** @type {string} */ text) => (/^(y|[ct]\d{1,6})$/.test(text) ? text : null),
  },
  tau: {
    field: 'tau',
    read: (/** @type {string} */ text) => {
      const tau = text === '' ? Number.NaN : Number(text);
      return tau >= MIN_TAU && tau <= MAX_TAU ? tau : null;
    },
  },
  act: {
    field: 'act',
    read: (/** @type {string} */ text) => ACT_KEYS.find((key) => key === text) ?? null,
  },
  sort: {
    field: 'sort',
    read: (/** @type {string} */ text) => SORT_KEYS.find((key) => key === text) ?? null,
  },
  closed: {
    field: 'closed',
    read: (/** @type {string} */ text) => {
      const units = text === '' ? [] : text.split(',').map(count);
      return units.includes(null) ? null : [...new Set(/** @type {number[]} */ (units))];
    },
  },
  by: {
    field: 'by',
    read: (/** @type {string} */ text) => COLOUR_KEYS.find((key) => key === text) ?? null,
  },
  only: {
    field: 'only',
    read: (/** @type {string} */ text) => FILTERS.find((name) => name === text) ?? null,
  },
  first: {
    field: 'first',
    read: (/** @type {string} */ text) => (text === '1' ? true : null),
  },
  tour: { field: 'tour', read: count },
  lesson: {
    field: 'lesson',
    read: (/** @type {string} */ text) => (/^[1-8]$/.test(text) ? Number(text) : null),
  },
  hide: {
    field: 'hide',
    read: (/** @type {string} */ text) => text.split(',').filter((part) => HIDEABLE.includes(part)),
    /** What is not a part is named; the others are left out all the same. */
    wrong: (/** @type {string} */ text) =>
      text.split(',').filter((part) => !HIDEABLE.includes(part)),
  },
  set: {
    field: 'set',
    read: (/** @type {string} */ text) => UNIT_SETS.find((set) => set === text) ?? null,
  },
  keep: { field: 'kept', read: count },
  g: {
    field: 'whatIf',
    read: (/** @type {string} */ text) =>
      /^-?\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : null,
  },
});

/**
 * @param {string} hash with or without its #
 * @returns {{ state: State, notices: Notice[], unknown: [string, string][] }}
 */
export function parseHash(hash) {
  const state = openingState();
  const notices = [];
  /** @type {[string, string][]} */
  const unknown = [];
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  for (const [key, text] of given) {
    if (key === 'v') continue;
    const rule = KEYS[/** @type {keyof typeof KEYS} */ (key)];
    if (rule === undefined) {
      unknown.push([key, text]);
      continue;
    }
    const value = rule.read(text);
    const wrong = 'wrong' in rule ? rule.wrong(text) : value === null ? [text] : [];
    if (wrong.length > 0) notices.push({ key, value: wrong.join(', ') });
    if (value !== null) Object.assign(state, { [rule.field]: value });
  }
  if (state.model === null || state.model === SHIPPED.id) Object.assign(state, NO_MODEL);
  // A link that names a place but no unit, or no token, does not mean the opening's.
  if (given.has('l') || given.has('p') || state.model !== null) {
    if (!given.has('t')) state.token = 0;
    if (!given.has('u')) state.unit = null;
  }
  return { state, notices, unknown };
}

/** @param {State[keyof State]} value */
function written(value) {
  if (value === true) return '1';
  if (value !== null && typeof value === 'object' && 'unit' in value)
    return `${value.token}.${value.unit}`;
  return String(value);
}

/**
 * The address of what is on show, in full even where the address bar names no state: the opening may be another one day.
 * @param {Partial<State>} [patch]
 */
export function fullLink(patch = {}) {
  const { state, unknown } = parseHash(location.hash);
  return new URL(formatHash({ ...state, ...patch }, unknown), location.href).href;
}

/**
 * @param {State} state
 * @param {[string, string][]} [unknown] keys of the hash that were not ours, to be kept
 */
export function formatHash(state, unknown = []) {
  const parts = [['v', VERSION]];
  for (const [key, { field }] of Object.entries(KEYS)) {
    const value = state[field];
    if (
      (state.model !== null && SHIPPED_PLACE.includes(field)) ||
      value === null ||
      value === false ||
      value === 'y' ||
      (Array.isArray(value) && value.length === 0)
    )
      continue;
    parts.push([key, written(value)]);
  }
  const pairs = [...parts, ...unknown].map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#${pairs.join('&').replaceAll('%2C', ',')}`;
}
