// The class of every cell at any threshold, fast enough to follow a slider over a million cells. A cell is filed once under a
// code (its side and the leading bits of |a|), and a threshold then only fills a table of codes; the sizes of a token are
// sorted once, and a threshold then only looks its place up. Both say exactly what classOf (definitions.js) says.
// codesOf and sizesOf run in the worker; CellClasses is what the page asks.

import { CROSSING, classOf, LEAKING, OPEN, SHUT } from './definitions.js';

/** @typedef {import('./definitions.js').ActShape} ActShape */
/** @typedef {import('./definitions.js').GateClass} GateClass */

/** Bits of |a| as float32 that a code leaves out: what stays is the exponent and 6 bits of the mantissa. */
const DROPPED_BITS = 17;
const LEVELS = 2 ** (31 - DROPPED_BITS);
/** A side is two bits above the level: whether g is at or right of shutBelow, whether a is positive. */
const SIDES = 4;
const isRight = (/** @type {number} */ side) => side >= 2;
const isPositive = (/** @type {number} */ side) => side % 2 === 1;
/** In a table: the threshold lies within the level, so the cell itself has to be asked. */
export const ASK = 255;

/**
 * Each token's |a| in SIDES runs, each ascending; `ends` are the runs' ends within a row. `negative`: units with g < 0.
 * @typedef {{ sizes: Float32Array, ends: Uint32Array, negative: Uint32Array }} SortedSizes
 */
/**
 * What the classes are read off. `codes` and the arrays are [tokens, dFf]; `sorted` is null while the layer is still landing.
 * @typedef {{ gate: Float32Array, activated: Float32Array, codes: Uint16Array, sorted: SortedSizes | null, dFf: number,
 *   arrived: number, shape: ActShape }} Filed
 */

/** @param {number} gate @param {number} act @param {number} shutBelow */
const sideOf = (gate, act, shutBelow) => (gate < shutBelow ? 0 : 2) + (act < 0 ? 0 : 1);
const sideIn = (/** @type {number} */ code) => code >>> (31 - DROPPED_BITS);

/**
 * @param {Float32Array} gate
 * @param {Float32Array} act
 * @param {ActShape} shape
 */
export function codesOf(gate, act, { shutBelow }) {
  const bits = new Uint32Array(act.buffer, act.byteOffset, act.length);
  const codes = new Uint16Array(act.length);
  for (let i = 0; i < codes.length; i++) {
    // NaN is below every threshold, as in classOf.
    const level = Number.isNaN(act[i]) ? 0 : (bits[i] & 0x7fffffff) >>> DROPPED_BITS;
    codes[i] = sideOf(gate[i], act[i], shutBelow) * LEVELS + level;
  }
  return codes;
}

/**
 * @param {Uint16Array} codes  of the same cells
 * @param {Float32Array} gate
 * @param {Float32Array} act
 * @param {number} dFf
 * @returns {SortedSizes}
 */
export function sizesOf(codes, gate, act, dFf) {
  const tokens = gate.length / dFf;
  const sizes = new Float32Array(gate.length);
  const ends = new Uint32Array(tokens * SIDES);
  const negative = new Uint32Array(tokens);
  for (let token = 0; token < tokens; token++) {
    const row = token * dFf;
    const counts = new Uint32Array(SIDES);
    for (let i = row; i < row + dFf; i++) {
      counts[sideIn(codes[i])]++;
      if (gate[i] < 0) negative[token]++;
    }
    const next = counts.map((_, side) => row + counts.subarray(0, side).reduce((p, q) => p + q, 0));
    for (let i = row; i < row + dFf; i++) {
      sizes[next[sideIn(codes[i])]++] = Number.isNaN(act[i]) ? 0 : Math.abs(act[i]);
    }
    let start = row;
    next.forEach((end, side) => {
      sizes.subarray(start, end).sort();
      ends[token * SIDES + side] = end - row;
      start = end;
    });
  }
  return { sizes, ends, negative };
}

export class CellClasses {
  #filed;
  /** Beside `#filed`: what is asked for a million times is not looked up in a large object. */
  #codes;
  #tau;
  /** The class of each code, or ASK; counting does not need it. @type {Uint8Array | null} */
  #table = null;

  /**
   * @param {Filed} filed
   * @param {number} tau
   */
  constructor(filed, tau) {
    this.#filed = filed;
    this.#codes = filed.codes;
    this.#tau = tau;
  }

  get table() {
    this.#table ??= tableFor(this.#tau, this.#filed.shape);
    return this.#table;
  }

  /**
   * The class of a cell, by its place in the arrays.
   * @param {number} i
   * @returns {GateClass}
   */
  at(i) {
    const found = this.table[this.#codes[i]];
    if (found !== ASK) return /** @type {GateClass} */ (found);
    const { gate, activated, shape } = this.#filed;
    return classOf(gate[i], activated[i], this.#tau, shape);
  }

  /**
   * How many of a token's units fall in each class, and how many have g < 0. `units`: how many of them are there.
   * @param {number} token
   */
  count(token) {
    const { sorted, arrived: units } = this.#filed;
    const { counts, negative } =
      sorted === null ? this.#countOneByOne(token) : this.#lookUp(sorted, token);
    return { counts, closed: counts[SHUT] + counts[CROSSING], negative, units };
  }

  /** @param {SortedSizes} sorted @param {number} token */
  #lookUp({ sizes, ends, negative }, token) {
    const { dFf, shape } = this.#filed;
    const counts = noCounts();
    let start = 0;
    for (let side = 0; side < SIDES; side++) {
      const end = ends[token * SIDES + side];
      const [closed, beyond] = classesOfSide(side, shape);
      const border = firstFrom(sizes, token * dFf + start, token * dFf + end, this.#tau);
      counts[closed] += border - (token * dFf + start);
      counts[beyond] += token * dFf + end - border;
      start = end;
    }
    return { counts, negative: negative[token] };
  }

  /** @param {number} token */
  #countOneByOne(token) {
    const { gate, dFf, arrived } = this.#filed;
    const counts = noCounts();
    let negative = 0;
    for (let i = token * dFf; i < token * dFf + arrived; i++) {
      counts[this.at(i)]++;
      if (gate[i] < 0) negative++;
    }
    return { counts, negative };
  }
}

const noCounts = () => /** @type {[number, number, number, number]} */ ([0, 0, 0, 0]);

/**
 * What a cell of a side is below the threshold, and from it on.
 * @param {number} side
 * @param {ActShape} shape
 * @returns {[GateClass, GateClass]}
 */
function classesOfSide(side, { depth }) {
  const closed = isRight(side) ? CROSSING : SHUT;
  return [closed, isPositive(side) || depth === Infinity ? OPEN : LEAKING];
}

/**
 * @param {number} tau
 * @param {ActShape} shape
 */
function tableFor(tau, shape) {
  const table = new Uint8Array(SIDES * LEVELS);
  const level = new Uint32Array(Float32Array.of(tau).buffer)[0] >>> DROPPED_BITS;
  for (let side = 0; side < SIDES; side++) {
    const [closed, beyond] = classesOfSide(side, shape);
    const first = side * LEVELS;
    table.fill(closed, first, first + level);
    table[first + level] = ASK;
    table.fill(beyond, first + level + 1, first + LEVELS);
  }
  return table;
}

/**
 * The first place of an ascending run whose value is at least `least`; its end where there is none.
 * @param {Float32Array} sorted
 * @param {number} from
 * @param {number} to
 * @param {number} least
 */
function firstFrom(sorted, from, to, least) {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
