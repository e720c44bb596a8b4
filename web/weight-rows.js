// The weights of one layer as rows that belong to a unit: its gate row, its up row, its down column, and the cosines between
// them for every unit. Small layers are kept as floats; of large ones a matrix is copied out of the module for each question.

/** @typedef {import('../src/binding/index.js').GatedMLP} GatedMLP */
/** @typedef {'gate_proj' | 'up_proj' | 'down_proj'} Matrix */

/** Matrices up to this size are kept once they were read. */
const KEPT_BYTES = 32 * 2 ** 20;

export class WeightRows {
  #mlp;
  /** @type {Map<string, Float32Array>} */
  #kept = new Map();
  /** @type {import('./protocol.js').Cosines | null} */
  #cosines = null;

  /** @param {GatedMLP} mlp */
  constructor(mlp) {
    this.#mlp = mlp;
  }

  /**
   * @param {number} unit
   * @returns {Record<'gate' | 'up' | 'down', Float32Array>} each of length d
   */
  of(unit) {
    const { d, dFf } = this.#mlp;
    const row = (/** @type {string} */ name) => this.#matrix(name).slice(unit * d, (unit + 1) * d);
    const down = this.#matrix('down_proj.weight');
    return {
      gate: row('gate_proj.weight'),
      up: row('up_proj.weight'),
      down: Float32Array.from({ length: d }, (_, i) => down[i * dFf + unit]),
    };
  }

  /**
   * d_j of some units, a row each.
   * @param {number} from
   * @param {number} count
   */
  columns(from, count) {
    const { d, dFf } = this.#mlp;
    const down = this.#matrix('down_proj.weight');
    const columns = new Float32Array(count * d);
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < count; j++) columns[j * d + i] = down[i * dFf + from + j];
    }
    return columns;
  }

  /** What is added to a unit's gate and up besides its rows. @param {number} unit */
  biasesOf(unit) {
    if (!this.#mlp.bias) return { gate: 0, up: 0 };
    return { gate: this.#matrix('gate_proj.bias')[unit], up: this.#matrix('up_proj.bias')[unit] };
  }

  /** cos(Wg_j, d_j), cos(Wu_j, d_j), cos(Wg_j, Wu_j) of every unit. @returns {import('./protocol.js').Cosines} */
  cosines() {
    const { d, dFf } = this.#mlp;
    if (this.#cosines !== null) return this.#cosines;
    const [gate, up, down] = ['gate', 'up', 'down'].map((name) =>
      this.#matrix(`${name}_proj.weight`),
    );
    const gateNorms = lengths(dFf, (j) => dotOf(d, gate, j * d, 1, gate, j * d, 1));
    const upNorms = lengths(dFf, (j) => dotOf(d, up, j * d, 1, up, j * d, 1));
    const downNorms = lengths(dFf, (j) => dotOf(d, down, j, dFf, down, j, dFf));
    const over =
      (/** @type {Float32Array} */ p, /** @type {Float32Array} */ q) =>
      /** @param {number} dot @param {number} j */
      (dot, j) =>
        dot / (p[j] * q[j]);
    const units = Float32Array.from({ length: dFf }, (_, j) => j);
    this.#cosines = {
      gateDown: units
        .map((j) => dotOf(d, gate, j * d, 1, down, j, dFf))
        .map(over(gateNorms, downNorms)),
      upDown: units.map((j) => dotOf(d, up, j * d, 1, down, j, dFf)).map(over(upNorms, downNorms)),
      gateUp: units
        .map((j) => dotOf(d, gate, j * d, 1, up, j * d, 1))
        .map(over(gateNorms, upNorms)),
    };
    return this.#cosines;
  }

  /** @param {string} name */
  #matrix(name) {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    for (const [candidate, { data }] of this.#mlp.namedParameters()) {
      if (candidate !== name) continue;
      const floats = /** @type {Float32Array} */ (data);
      if (floats.byteLength <= KEPT_BYTES) this.#kept.set(name, floats);
      return floats;
    }
    throw new Error(`no parameter ${name}`);
  }
}

/**
 * @param {number} count
 * @param {(unit: number) => number} square
 */
const lengths = (count, square) =>
  Float32Array.from({ length: count }, (_, unit) => Math.sqrt(square(unit)));

/**
 * The sum of products of `length` numbers of p and of q, from an index on and by a stride.
 * @param {number} length
 * @param {Float32Array} p
 * @param {number} pFrom
 * @param {number} pStride
 * @param {Float32Array} q
 * @param {number} qFrom
 * @param {number} qStride
 */
function dotOf(length, p, pFrom, pStride, q, qFrom, qStride) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += p[pFrom + i * pStride] * q[qFrom + i * qStride];
  return sum;
}
