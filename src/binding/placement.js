// Where the parameters of a gated MLP lie in a checkpoint's tensors: widths from the shapes, and for every parameter its
// first element and strides. Which half is the gate and which way round it is stored is decided before, in describe.js.

import { GatedMLPError } from './errors.js';
import { biasName } from './scan.js';

/** @typedef {import('./scan.js').Group} Group */
/** @typedef {import('./weights.js').Part} Part */
/** @typedef {import('./describe.js').Tensor} Tensor */
/** @typedef {import('./describe.js').Contents} Contents */
/** @typedef {{ fused: import('./families.js').FusedOrder | null, transposed: boolean, error: GatedMLPError | null }} Storage */

/**
 * @param {import('./families.js').Naming} naming
 * @param {boolean} transposed
 */
function isDownTransposed(naming, transposed) {
  return naming.expertsByRows ? !transposed : transposed;
}

/** @typedef {{ d: number, dFf: number, error: GatedMLPError | null }} Shapes */

/** More than any model stacks in one matrix. A header may say any number, of experts of no bytes, and each is described. */
export const MOST_EXPERTS = 4096;

/**
 * The two widths from the shapes, checked against each other.
 * @param {Group} group
 * @param {Contents} contents
 * @param {Storage} storage
 * @returns {Shapes}
 */
export function shapesOf({ names, naming }, { tensors }, { fused, transposed }) {
  const shape = (/** @type {string} */ role) =>
    /** @type {Tensor} */ (tensors.get(names[role])).shape;
  const [stack, rank] = [shape('down').slice(0, -2), shape('down').length];
  const last = shape('down').slice(-2);
  const [d, dFf] = isDownTransposed(naming, transposed) ? last.reverse() : last;
  const flip = (/** @type {number[]} */ pair) => (transposed ? pair.reverse() : pair);
  const expected =
    'gateUp' in names
      ? { gateUp: flip([2 * dFf, d]) }
      : { gate: flip([dFf, d]), up: flip([dFf, d]) };
  const wrong = Object.entries(expected).find(
    ([role, pair]) => String(shape(role)) !== String([...stack, ...pair]),
  );
  const ranks = naming.expertsByRows ? [3] : [2, 3];
  const few = stack.every((experts) => experts <= MOST_EXPERTS);
  const fine = !wrong && few && ranks.includes(rank) && d > 0 && dFf > 0;
  const rows = { gateUp: 2 * dFf, gate: dFf, up: dFf, down: d };
  if (fine) return { d, dFf, error: biasError(names, tensors, stack, rows) };
  const list = Object.values(names).map((name) => `${name} [${tensors.get(name)?.shape}]`);
  const way = `${transposed ? 'transposed ' : ''}${fused ?? 'separate'} matrices`;
  const message = `${list.join(', ')}: shapes that do not fit each other as ${way} of a gated MLP`;
  return { d: d ?? 0, dFf: dFf ?? 0, error: new GatedMLPError('ERR_SHAPE', message) };
}

/**
 * A bias that is there is computed, or it is an error.
 * @param {Record<string, string>} names
 * @param {ReadonlyMap<string, Tensor>} tensors
 * @param {number[]} stack
 * @param {Record<string, number>} rows of each role's matrix
 */
function biasError(names, tensors, stack, rows) {
  for (const [role, name] of Object.entries(names)) {
    const [bias, right] = [biasName(name), [...stack, rows[role]]];
    const shape = tensors.get(bias)?.shape;
    if (!shape || String(shape) === String(right)) continue;
    const message = `${bias} [${shape}]: the bias of ${name} would be [${right}]`;
    return new GatedMLPError('ERR_SHAPE', message);
  }
  return null;
}

/**
 * Where every parameter lies: parameter[r, c] = tensor[base + r * rowStride + c * colStride].
 * @param {Group} group
 * @param {number | null} expert
 * @param {Contents} contents
 * @param {Storage} storage
 * @param {Shapes} shapes
 * @param {string[]} norms the tensor of a norm's weight, if there is one
 * @returns {Part[]}
 */
export function partsOf(
  { names, naming },
  expert,
  { tensors },
  { fused, transposed },
  { d, dFf },
  norms,
) {
  /** @type {Part[]} */
  const parts = [];
  /**
   * @param {string} parameter
   * @param {string} tensor
   * @param {number} rows
   * @param {number} base
   * @param {number} rowStride
   */
  const addVector = (parameter, tensor, rows, base, rowStride) => {
    const { dtype } = /** @type {Tensor} */ (tensors.get(tensor));
    parts.push({ parameter, tensor, dtype, rows, cols: 1, base, rowStride, colStride: 1 });
  };
  /**
   * @param {string} linear
   * @param {string} name
   * @param {number} rows
   * @param {number} cols
   * @param {number} copies how many matrices are fused in the tensor
   * @param {number} place which of them this is
   */
  const add = (linear, name, rows, cols, copies, place) => {
    const { dtype, shape } = /** @type {Tensor} */ (tensors.get(name));
    const index = shape.length === 3 ? /** @type {number} */ (expert) : 0;
    const first = index * copies * rows * cols;
    const step = fused === 'interleaved' && copies === 2 ? 2 : 1;
    const flipped = linear === 'down_proj' ? isDownTransposed(naming, transposed) : transposed;
    const row = flipped ? 1 : cols;
    const col = flipped ? copies * rows : 1;
    const base = first + place * row * (step === 2 ? 1 : rows);
    const where = { tensor: name, dtype, rows };
    parts.push({
      parameter: `${linear}.weight`,
      ...where,
      cols,
      base,
      rowStride: row * step,
      colStride: col,
    });
    const bias = biasName(name);
    if (!tensors.has(bias)) return;
    const biasBase = index * copies * rows + place * (step === 2 ? 1 : rows);
    addVector(`${linear}.bias`, bias, rows, biasBase, step);
  };
  if (fused) {
    const gateAt = fused === 'up-gate' ? 1 : 0;
    add('gate_proj', names.gateUp, dFf, d, 2, gateAt);
    add('up_proj', names.gateUp, dFf, d, 2, 1 - gateAt);
  } else {
    add('gate_proj', names.gate, dFf, d, 1, 0);
    add('up_proj', names.up, dFf, d, 1, 0);
  }
  add('down_proj', names.down, d, dFf, 1, 0);
  for (const norm of norms) addVector('ffn_sub_norm.weight', norm, dFf, 0, 1);
  return parts;
}
