// What a group of tensors is: a gated MLP of which widths, activation and storage, and where each of its parameters lies
// in the tensors; or why it must be refused. checkpoint.js lists and resolves MLPs through it; weights.js packs the parts.

import { activationIn, configFor, expertCount } from './config.js';
import { MOST_SHARING, VARIANTS } from './families.js';
import { MOST_EXPERTS, partsOf, shapesOf } from './placement.js';
import { notFloats, notPlain, quantised, unsupported, widthError } from './refusal.js';
import { biasName, nameIn } from './scan.js';

/** @typedef {import('./scan.js').Group} Group */
/** @typedef {import('./weights.js').Part} Part */
/** @typedef {{ dtype: string, shape: number[], byteLength: number }} Tensor */
/** @typedef {{ fused?: import('./families.js').FusedOrder, transposed?: boolean, act?: string, dtype?: string }} Hints what the caller knows better, or asks for */
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
 * @property {import('./variant.js').Variant | null} variant what it computes besides the plain formula, or null
 * @property {string | null} refusal why it cannot be loaded, or null
 */
/** @typedef {{ mlp: FoundMLP, error: import('./errors.js').GatedMLPError | null, parts: Part[], adapter: import('./adapters.js').Adapter | null }} Description */

/**
 * One description, or one for each expert of a stack, or for each layer that shares the block.
 * @param {Group} group
 * @param {Contents} contents
 * @param {Hints} hints
 * @returns {Description[]}
 */
export function describe(group, contents, hints) {
  const stacked = group.naming.expertsByRows ? unstackRows(group, contents) : contents;
  const adapted = describeAdapted(group, contents, hints);
  if (adapted.length > 0) return adapted;
  const down = /** @type {Tensor} */ (stacked.tensors.get(group.names.down));
  const [experts] = down.shape;
  if (down.shape.length !== 3 || experts > MOST_EXPERTS)
    return [describeOne(group, group.expert, stacked, hints)];
  return Array.from({ length: experts }, (_, expert) => describeOne(group, expert, stacked, hints));
}

/**
 * The block of several layers with the adapter of each, in their order.
 * @param {Group} group
 * @param {Contents} contents
 * @param {Hints} hints
 * @returns {Description[]}
 */
function describeAdapted(group, contents, hints) {
  const { hybrid_layer_ids: layers } = configFor(contents.config, group.module).config;
  const list = Array.isArray(layers) ? layers.slice(0, MOST_SHARING) : [];
  return list.flatMap((layer, i) => {
    const [first, second] = [0, 1].map((k) =>
      nameIn(group, `gate_up_proj_adapter_list.${i}.${k}.weight`),
    );
    if (!contents.has(first)) return [];
    const found = describeOne({ ...group, layer, adapted: true }, null, contents, hints);
    const { d, dFf } = found.mlp;
    const [a, b] = [first, second].map((name) => contents.tensors.get(name)?.shape);
    const rank = a?.[0] ?? 0;
    const fits = String([a, b]) === String([rank, d, 2 * dFf, rank]);
    const words = `${first} [${a}], ${second} [${b}]: not the adapter of ${group.module}, or not opened with it`;
    const error = found.error ?? (fits ? null : unsupported(words));
    return {
      ...found,
      mlp: { ...found.mlp, refusal: error?.message ?? null },
      error,
      adapter: { product: [first, second] },
    };
  });
}

/**
 * Matrices [experts * rows, columns] seen as [experts, rows, columns], their biases likewise.
 * @param {Group} group
 * @param {Contents} contents
 * @returns {Contents}
 */
function unstackRows({ names, module }, contents) {
  const count = expertCount(configFor(contents.config, module).config) ?? 0;
  const tensors = new Map(
    Object.values(names)
      .flatMap((name) => [name, biasName(name)])
      .flatMap((name) => {
        const tensor = contents.tensors.get(name);
        if (!tensor) return [];
        const [rows, ...columns] = tensor.shape;
        const shape = rows % count === 0 ? [count, rows / count, ...columns] : tensor.shape;
        return [[name, { ...tensor, shape }]];
      }),
  );
  return { ...contents, tensors };
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
  const family = VARIANTS.find((v) => v.types === null || v.types.some((t) => types.includes(t)));
  const root = (isText && contents.config) || config;
  const computed = family?.of(config, group.layer, root) ?? null;
  const variant = computed === 'other' ? null : computed;
  const { gate = 1, output = 1 } = family?.scales?.(config) ?? {};
  const learned = [nameIn(group, 'global_scale')].filter(contents.has);
  const norms = variant?.normEps === undefined ? [] : [nameIn(group, 'ffn_sub_norm.weight')];
  const missing = notFloats(learned, 1, contents) ?? notFloats(norms, shapes.dFf, contents);
  const unknownOrder = 'gateUp' in group.names && storage.fused === null;
  const parts =
    shapes.error || missing || unknownOrder
      ? []
      : partsOf(group, expert, contents, storage, shapes, norms);
  const order = orderOf(group.naming, types, group.module);
  const fixedAct = family?.act ?? order?.fixedAct ?? group.naming.fixedAct;
  const activation = activationIn(config, where, types, { ...group.naming, fixedAct }, hints.act);
  const error =
    quantised(group, contents) ??
    notPlain(group, contents, types, norms, computed === 'other' ? family : undefined) ??
    storage.error ??
    shapes.error ??
    missing ??
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
      variant,
      refusal: error?.message ?? null,
    },
    error,
    parts,
    adapter: learned.length > 0 || gate !== 1 || output !== 1 ? { gate, output, learned } : null,
  };
}

/** @param {string} name @param {Contents} contents */
function bytesPerElement(name, { tensors }) {
  const { shape, byteLength } = /** @type {Tensor} */ (tensors.get(name));
  return byteLength === 0 ? 0 : byteLength / shape.reduce((product, n) => product * n, 1);
}

/** @typedef {import('./placement.js').Storage} Storage */

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
    return { fused: null, transposed: hints.transposed ?? naming.transposed ?? false, error: null };
  }
  const order = orderOf(naming, types, module);
  const fused = hints.fused ?? order?.fused ?? null;
  const transposed = hints.transposed ?? order?.transposed ?? false;
  const known = order || (hints.fused !== undefined && hints.transposed !== undefined);
  if (known) return { fused, transposed, error: null };
  const whose =
    types.length > 0 ? `model_type "${types.join('", "')}"` : 'a checkpoint without config.json';
  const ask = `Pass { fused: 'gate-up' | 'up-gate' | 'interleaved', transposed: boolean } if you know how ${names.gateUp} is stored`;
  return {
    fused,
    transposed,
    error: unsupported(
      `${names.gateUp}: of ${whose}, where the order of gate and up is not known. ${ask}`,
    ),
  };
}

/**
 * How fused matrices of these names are stored, where the table says so.
 * @param {import('./families.js').Naming} naming
 * @param {string[]} types
 * @param {string} module
 */
export function orderOf({ orders }, types, module) {
  return orders?.find(
    (o) =>
      (o.types === null || o.types.some((t) => types.includes(t))) &&
      (!o.where || o.where.test(module)),
  );
}
