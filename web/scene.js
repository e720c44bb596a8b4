// What is to be drawn, derived from the state and the latest numbers of the worker: class counts, unit order, names of
// cells. The views read it and hold nothing of their own; it computes only counts and orders (definitions.js).

import { CellClasses } from './cell-classes.js';
import { number, readable } from './format.js';
import { cosineOrder, rankOf, unitOrder, unitsOf } from './orders.js';
import { text } from './text.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./protocol.js').TraceMessage} TraceMessage */
/** @typedef {import('./protocol.js').PreviewMessage} PreviewMessage */
/** @typedef {{ token: number, unit: number }} Cell */

/**
 * One layer on one text as far as it is here: the first `arrived` units have their gates. Arrays are [tokens, dFf]. up, hidden and contribution are null until the whole layer is.
 * @typedef {object} Numbers
 * @property {string[]} pieces  the tokens, readable
 * @property {number} tokens
 * @property {number} dFf
 * @property {number} d  0 until the whole layer is here
 * @property {number} arrived
 * @property {Float32Array} gate
 * @property {Float32Array} activated
 * @property {Float32Array | null} up
 * @property {Float32Array | null} hidden
 * @property {Float32Array | null} contribution
 * @property {Float32Array | null} columnNorms
 * @property {Uint16Array} codes
 * @property {import('./cell-classes.js').SortedSizes | null} sorted
 * @property {{ all: number[], rest: number[] } | null} quantiles
 * @property {import('./protocol.js').ActCurve} curve
 * @property {import('./protocol.js').ActShape} shape
 * @property {string} act  '' until the whole layer is here
 * @property {string} ownAct
 * @property {Float32Array | null} actChange
 * @property {TraceMessage['variant']} variant
 * @property {About['origin']} origin
 * @property {About['model']} model
 * @property {About['layer']} layer
 * @property {About['reading']} reading
 */
/**
 * What numbers are of, by name. `origin`: where the hidden states come from; `model`: the weights; `reading`: the text.
 * @typedef {{ origin: 'shipped' | 'captured' | 'probe', model: string, layer: string,
 *   reading: { label: string, quote: string } }} About
 */

/**
 * @param {TraceMessage} trace
 * @param {string[]} pieces
 * @param {About} about
 * @returns {Numbers}
 */
export function numbersOfTrace(trace, pieces, about) {
  return { ...trace, ...about, arrived: trace.dFf, pieces: pieces.map(readable) };
}

/**
 * @param {PreviewMessage} preview
 * @param {string[]} pieces
 * @param {About} about
 * @returns {Numbers}
 */
export function numbersOfPreview(preview, pieces, about) {
  const missing = {
    up: null,
    hidden: null,
    contribution: null,
    columnNorms: null,
    sorted: null,
    d: 0,
    quantiles: null,
    act: '',
    ownAct: '',
    actChange: null,
    variant: null,
  };
  return { ...preview, ...missing, ...about, arrived: preview.rows, pieces: pieces.map(readable) };
}

/** Orders of the units that a threshold changes. @type {import('./orders.js').SortKey[]} */
const BY_CLASS = ['class', 'changes'];

export class Scene {
  /** @type {Numbers} */
  numbers;
  /** @type {State} */
  state;
  /** @type {Cell | null} */
  hover;
  /** Of the direction on show, as far as they are here. @type {import('./gradient-field.js').Gradients | null} */
  gradients;
  /** Units in the order of the map's columns. @type {Uint32Array} */
  order;
  /** As far as it was asked for. @type {import('./whole-layer.js').OfAllUnits} */
  ofAll;
  /** The inverse of `order`: the column of each unit. @type {Uint32Array} */
  columnOf;
  /** Of all cells at the threshold. @type {CellClasses} */
  classes;
  /** Per token. @type {ReturnType<CellClasses['count']>[]} */
  counts;
  /** Found when it is asked for. @type {Set<number> | null} */
  #shut = null;

  /**
   * @param {Numbers} numbers
   * @param {State} state
   * @param {Cell | null} hover
   * @param {Scene | null} previous kept parts of it are taken over, so that a hover costs nothing
   * @param {import('./gradient-field.js').Gradients | null} gradients
   * @param {import('./whole-layer.js').OfAllUnits} ofAll
   */
  constructor(numbers, state, hover, previous, gradients, ofAll) {
    this.gradients = gradients;
    this.ofAll = ofAll;
    this.numbers = numbers;
    this.state = state;
    this.hover = hover;
    const sameNumbers = previous !== null && previous.numbers === numbers;
    const sameOrder =
      sameNumbers &&
      previous.state.token === state.token &&
      previous.state.sort === state.sort &&
      previous.ofAll.cosines === ofAll.cosines &&
      previous.state.first === state.first &&
      (previous.state.tau === state.tau || !BY_CLASS.includes(state.sort));
    this.order = sameOrder ? previous.order : this.#newOrder();
    this.columnOf = sameOrder ? previous.columnOf : inverse(this.order);
    const sameClasses = sameNumbers && previous.state.tau === state.tau;
    this.classes = sameClasses ? previous.classes : new CellClasses(numbers, state.tau);
    this.counts = sameClasses ? previous.counts : this.#newCounts();
    if (sameNumbers && previous.state === state) this.#shut = previous.#shut;
  }

  /** Whether it is a shipped layer on a shipped text. */
  get isShipped() {
    return this.numbers.origin === 'shipped';
  }

  /** The first token that means and scales count: the very first is a place of its own, unless it is asked for. */
  get firstCounted() {
    return this.state.first || this.numbers.tokens === 1 ? 0 : 1;
  }

  get isWhole() {
    return this.numbers.up !== null;
  }

  /** What the definitions work on. @returns {import('./orders.js').Traced} */
  get traced() {
    const { gate, activated, up, hidden, contribution, dFf, shape } = this.numbers;
    return { gate, act: activated, up, hidden, contribution, dFf, shape };
  }

  /** The units that are closed by hand at the selected token: the set, and those closed one by one. */
  get shut() {
    this.#shut ??= this.#newShut();
    return this.#shut;
  }

  /** The cell to look into: the one pointed at, else the pinned unit at the selected token. */
  get focus() {
    if (this.hover !== null) return this.hover;
    const { token, unit } = this.state;
    return unit === null ? null : { token, unit };
  }

  /** @param {Cell} cell */
  classAt({ token, unit }) {
    return this.classes.at(token * this.numbers.dFf + unit);
  }

  /** Whether the unit's row has arrived. @param {Cell} cell */
  has({ unit }) {
    return unit < this.numbers.arrived;
  }

  /**
   * A cell in words and formatted numbers; up, hidden and rank are '' while they are not here.
   * @param {Cell} cell
   */
  describe(cell) {
    const { gate, activated, up, hidden, contribution, dFf, pieces } = this.numbers;
    const i = cell.token * dFf + cell.unit;
    return {
      token: cell.token,
      unit: cell.unit,
      units: dFf,
      piece: pieces[cell.token],
      className: text.classes[this.classAt(cell)] + (this.isShutByHand(cell) ? text.byHand : ''),
      gate: number(gate[i]),
      act: number(activated[i]),
      up: up === null ? '' : number(up[i]),
      hidden: hidden === null ? '' : number(hidden[i]),
      rank: contribution === null ? '' : rankOf(contribution, cell.token, dFf, cell.unit),
    };
  }

  /** @param {Cell} cell */
  isShutByHand({ token, unit }) {
    return token === this.state.token && this.shut.has(unit);
  }

  #newOrder() {
    const { token, sort, tau } = this.state;
    const { cosines } = this.ofAll;
    if (sort === 'cosine' && cosines !== null) return cosineOrder(cosines);
    if (this.isWhole) return unitOrder(this.traced, token, sort, this.firstCounted, tau);
    return unitOrder({ ...this.traced, dFf: this.numbers.arrived }, token, 'index', 0);
  }

  #newShut() {
    const { token, tau, set, kept, closed } = this.state;
    const units = new Set(closed.filter((unit) => unit < this.numbers.arrived));
    const ofSet = set !== null && this.isWhole ? unitsOf(this.traced, token, set, tau, kept) : [];
    for (const unit of ofSet) units.add(unit);
    return units;
  }

  #newCounts() {
    return Array.from({ length: this.numbers.tokens }, (_, token) => this.classes.count(token));
  }
}

/** @param {Uint32Array} order */
function inverse(order) {
  const columns = new Uint32Array(order.length);
  order.forEach((unit, column) => {
    columns[unit] = column;
  });
  return columns;
}
