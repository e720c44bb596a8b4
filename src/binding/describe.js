// What a group of tensors is: a gated MLP of which widths, activation and storage, and where each of its parameters lies
// in the tensors; or why it must be refused. checkpoint.js lists and resolves MLPs through it; weights.js packs the parts.

import { activationIn, configFor, widthsOf } from './config.js';
import { GatedMLPError } from './errors.js';
import { INNER_NORMS, QUANTISED, VARIANTS } from './families.js';
import { biasName } from './scan.js';

/** @typedef {import('./scan.js').Group} Group */
/** @typedef {import('./weights.js').Part} Part */
/** @typedef {{ dtype: string, shape: number[], byteLength: number }} Tensor */
/** @typedef {{ fused?: import('./families.js').FusedOrder, transposed?: boolean, act?: string }} Hints what the caller knows better */
/**
 * @typedef {object} Contents
 * @property {ReadonlyMap<string, Tensor>} tensors
 * @property {Record<string, unknown> | null} config config.json
 * @property {{ d: number, dFf: number } | null} meta widths by Meta's params.json
 * @property {(name: string) => boolean} has whether a tensor is there, in an open shard or not
 */
/**
 * A gated MLP of a checkpoint.
 * @typedef {object} FoundMLP
 * @property {string} prefix path of the module that holds its matrices
 * @property {number | null} layer
 * @property {number | null} expert
 * @property {number} d
 * @property {number} dFf
 * @property {import('./activations.js').Activation | null} act null where it must be given
 * @property {string} actSource the config's key it was read from, 'option', 'family', or 'default'
 * @property {boolean} bias
 * @property {import('./families.js').FusedOrder | null} fused null: separate matrices
 * @property {boolean} transposed
 * @property {string} dtype of gate_proj.weight as stored
 * @property {number} byteLength of all its parameters as stored
 * @property {string | null} refusal why it cannot be loaded, or null
 */
/** @typedef {{ mlp: FoundMLP, error: GatedMLPError | null, parts: Part[] }} Description */

/**
 * One description, or one for each expert of a stack.
 * @param {Group} group
 * @param {Contents} contents
 * @param {Hints} hints
 * @returns {Description[]}
 */
export function describe(group, contents, hints) {
  const down = /** @type {Tensor} */ (contents.tensors.get(group.names.down));
  if (down.shape.length !== 3) return [describeOne(group, group.expert, contents, hints)];
  return Array.from({ length: down.shape[0] }, (_, expert) =>
    describeOne(group, expert, contents, hints),
  );
}

/**
 * @param {Group} group
 * @param {number | null} expert
 * @param {Contents} contents
 * @param {Hints} hints
 * @returns {Description}
 */
function describeOne(group, expert, contents, hints) {
  const { config, types, where, isText } = configFor(contents.config, group.module);
  const storage = storageOf(group, types, hints);
  const shapes = shapesOf(group, contents, storage);
  const unknownOrder = 'gateUp' in group.names && storage.fused === null;
  const parts =
    shapes.error || unknownOrder ? [] : partsOf(group, expert, contents, storage, shapes);
  const activation = activationIn(config, where, types, group.naming, hints.act);
  const error =
    quantised(group, contents) ??
    variant(group, contents, config, types) ??
    storage.error ??
    shapes.error ??
    (isText ? widthError(group, shapes, contents, config, types) : null) ??
    activation.error;
  const first = parts[0];
  return {
    mlp: {
      prefix: group.module,
      layer: group.layer,
      expert,
      d: shapes.d,
      dFf: shapes.dFf,
      act: activation.act,
      actSource: activation.source,
      bias: parts.some((p) => p.parameter.endsWith('.bias')),
      fused: storage.fused,
      transposed: storage.transposed,
      dtype: first?.dtype ?? String(contents.tensors.get(group.names.down)?.dtype),
      byteLength: parts.reduce(
        (sum, p) => sum + p.rows * p.cols * bytesPerElement(p.tensor, contents),
        0,
      ),
      refusal: error?.message ?? null,
    },
    error,
    parts,
  };
}

/** @param {string} name @param {Contents} contents */
function bytesPerElement(name, { tensors }) {
  const { shape, byteLength } = /** @type {Tensor} */ (tensors.get(name));
  return byteLength === 0 ? 0 : byteLength / shape.reduce((product, n) => product * n, 1);
}

/** @typedef {{ fused: import('./families.js').FusedOrder | null, transposed: boolean, error: GatedMLPError | null }} Storage */

/**
 * Which half is the gate, and which way round: from the table or from the caller, never from shapes.
 * @param {Group} group
 * @param {string[]} types
 * @param {Hints} hints
 * @returns {Storage}
 */
function storageOf({ naming, module, names }, types, hints) {
  const isFused = 'gateUp' in naming.names;
  if (!isFused) {
    const unproven =
      naming.golden === null
        ? unsupported(
            `${module}: named as in ${naming.family}, which no test of this package covers`,
          )
        : null;
    return {
      fused: null,
      transposed: hints.transposed ?? naming.transposed ?? false,
      error: unproven,
    };
  }
  const order = naming.orders?.find(
    (o) =>
      (o.types === null || o.types.some((t) => types.includes(t))) &&
      (!o.where || o.where.test(module)),
  );
  const fused = hints.fused ?? order?.fused ?? null;
  const transposed = hints.transposed ?? order?.transposed ?? false;
  if (hints.fused !== undefined && (order || hints.transposed !== undefined)) {
    return { fused, transposed, error: null };
  }
  if (order && order.golden !== null) return { fused, transposed, error: null };
  const known = order
    ? `${naming.family}, which no test of this package covers`
    : `${types.length > 0 ? `model_type "${types.join('", "')}"` : 'a checkpoint without config.json'}, where the order of gate and up is not known`;
  const ask = `Pass { fused: 'gate-up' | 'up-gate' | 'interleaved', transposed: boolean } if you know how ${names.gateUp} is stored`;
  return { fused, transposed, error: unsupported(`${names.gateUp}: of ${known}. ${ask}`) };
}

/** @typedef {{ d: number, dFf: number, error: GatedMLPError | null }} Shapes */

/**
 * The two widths from the shapes, checked against each other.
 * @param {Group} group
 * @param {Contents} contents
 * @param {Storage} storage
 * @returns {Shapes}
 */
function shapesOf({ names }, { tensors }, { fused, transposed }) {
  const shape = (/** @type {string} */ role) =>
    /** @type {Tensor} */ (tensors.get(names[role])).shape;
  const [stack, rank] = [shape('down').slice(0, -2), shape('down').length];
  const [d, dFf] = transposed ? shape('down').slice(-2).reverse() : shape('down').slice(-2);
  const flip = (/** @type {number[]} */ pair) => (transposed ? pair.reverse() : pair);
  const expected =
    'gateUp' in names
      ? { gateUp: flip([2 * dFf, d]) }
      : { gate: flip([dFf, d]), up: flip([dFf, d]) };
  const wrong = Object.entries(expected).find(
    ([role, pair]) => String(shape(role)) !== String([...stack, ...pair]),
  );
  const fine = !wrong && (rank === 2 || rank === 3) && d > 0 && dFf > 0;
  if (fine) return { d, dFf, error: null };
  const list = Object.values(names).map((name) => `${name} [${tensors.get(name)?.shape}]`);
  const way = `${transposed ? 'transposed ' : ''}${fused ?? 'separate'} matrices`;
  const message = `${list.join(', ')}: shapes that do not fit each other as ${way} of a gated MLP`;
  return { d: d ?? 0, dFf: dFf ?? 0, error: new GatedMLPError('ERR_SHAPE', message) };
}

/**
 * Where every parameter lies: parameter[r, c] = tensor[base + r * rowStride + c * colStride].
 * @param {Group} group
 * @param {number | null} expert
 * @param {Contents} contents
 * @param {Storage} storage
 * @param {Shapes} shapes
 * @returns {Part[]}
 */
function partsOf({ names }, expert, { tensors }, { fused, transposed }, { d, dFf }) {
  /** @type {Part[]} */
  const parts = [];
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
    const row = transposed ? 1 : cols;
    const col = transposed ? copies * rows : 1;
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
    const found = tensors.get(bias);
    if (!found || String(found.shape) !== String([...shape.slice(0, -2), copies * rows])) return;
    const biasBase = index * copies * rows + place * (step === 2 ? 1 : rows);
    const biasWhere = { tensor: bias, dtype: found.dtype, rows, cols: 1 };
    parts.push({
      parameter: `${linear}.bias`,
      ...biasWhere,
      base: biasBase,
      rowStride: step,
      colStride: 1,
    });
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
  return parts;
}

/**
 * @param {Group} group
 * @param {Contents} contents
 */
function quantised({ names, module }, { has }) {
  for (const name of Object.values(names)) {
    const base = name.replace(/\.weight$/, '');
    const found = QUANTISED.find(({ marks }) => marks.some((mark) => has(`${base}.${mark}`)));
    if (found) {
      return unsupported(
        `${module}: quantised weights, ${found.scheme}; this package does not read that scheme`,
      );
    }
  }
  return null;
}

/**
 * @param {Group} group
 * @param {Contents} contents
 * @param {Record<string, unknown>} config
 * @param {string[]} types
 */
function variant({ module, layer }, { has }, config, types) {
  const norm = INNER_NORMS.find((name) => has(`${module}.${name}.weight`));
  if (norm)
    return unsupported(
      `${module}: has a norm inside the MLP (${norm}, as BitNet has), which is not the plain formula`,
    );
  const found = VARIANTS.find(
    (v) => (v.types === null || v.types.some((t) => types.includes(t))) && v.applies(config, layer),
  );
  return found
    ? unsupported(
        `${module}: ${found.name} computes ${found.formula}, which is not the plain formula`,
      )
    : null;
}

/**
 * Widths against the config, where it says anything about them.
 * @param {Group} group
 * @param {Shapes} shapes
 * @param {Contents} contents
 * @param {Record<string, unknown>} config
 * @param {string[]} types
 */
function widthError({ module, expert }, { d, dFf }, { meta }, config, types) {
  if (meta !== null && expert === null && (d !== meta.d || dFf !== meta.dFf)) {
    const message = `${module}: by params.json (llama_ffn_dim) d is ${meta.d} and dFf ${meta.dFf}; by the tensors' shapes ${d} and ${dFf}`;
    return new GatedMLPError('ERR_SHAPE', message);
  }
  const claims = widthsOf(config, types);
  for (const [what, value, allowed] of /** @type {const} */ ([
    ['d', d, claims.d],
    ['dFf', dFf, claims.dFf],
  ])) {
    if (allowed.length > 0 && !allowed.includes(value)) {
      return new GatedMLPError(
        'ERR_SHAPE',
        `${module}: ${what} is ${value} by the tensors' shapes and ${allowed.join(' or ')} by config.json`,
      );
    }
  }
  return null;
}

/** @param {string} message */
function unsupported(message) {
  return new GatedMLPError('ERR_UNSUPPORTED', message);
}
