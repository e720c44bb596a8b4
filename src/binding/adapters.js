// What is done to the weights of a loaded MLP so that the plain formula computes what its family computes: Falcon-H1's gate and
// output are multiplied by constants, Inkling's output by a learned one; of Zamba 2 several layers share a block, and for each of
// them the product of two small matrices is added to gate_up_proj. describe.js says which; checkpoint.js calls. Imports
// nothing, so that a bundler makes it a small file of its own, fetched by those few who need it.

/**
 * @typedef {object} Adapter
 * @property {string[]} [product] tensors [rank, d] and [2 dFf, rank]: the second times the first is added to gate_up_proj
 * @property {string[]} [learned] tensors of one number each, which the output is multiplied by
 * @property {number} [gate] what gate_proj's output is multiplied by
 * @property {number} [output]
 */
/** @typedef {import('./checkpoint.js').Checkpoint} Checkpoint */
/** @typedef {import('./gated-mlp.js').GatedMLP} GatedMLP */
/** @typedef {import('./runtime.js').Runtime} Runtime */
/** @typedef {import('./held-dtype.js').HeldDtype} HeldDtype */
/** @typedef {Record<string, { data: import('./arrays.js').RealArray }>} Parameters */

/**
 * @typedef {object} Tools
 * @property {(name: string) => Promise<{ dtype: string, shape: number[], data: Uint8Array }>} read a tensor
 * @property {(weight: { dtype: string, shape: number[], data: Uint8Array }) => Promise<Linear>} linear the map of a weight, to be
 *   disposed of
 */
/** @typedef {import('./linear.js').Linear} Linear */

/** Columns of the product that are computed at once. */
const STEP = 64;

/**
 * @param {Checkpoint} checkpoint
 * @param {GatedMLP} mlp as its tensors have it, in the runtime's own dtype; not disposed of where an error is thrown
 * @param {Adapter} adapter
 * @param {Runtime} runtime of the MLP, which may be another than the checkpoint's
 * @param {{ GatedMLP: typeof import('./gated-mlp.js').GatedMLP, Linear: typeof import('./linear.js').Linear }} classes
 * @param {{ dtype?: HeldDtype, signal?: AbortSignal }} options
 * @returns {Promise<GatedMLP>} it, or in its place one held as asked, whose weights were rounded once
 */
export async function adapt(checkpoint, mlp, adapter, runtime, { GatedMLP, Linear }, options) {
  const { product, learned = [], gate = 1, output = 1 } = adapter;
  const { d, dFf, act, bias, source, variant, dtype: native } = mlp;
  const { dtype = native, signal } = options;
  const held =
    dtype === native ? mlp : new GatedMLP(runtime, d, dFf, act, bias, dtype, source, variant);
  /** @type {Tools} */
  const tools = {
    read: (name) => checkpoint.read(name, { signal, onProgress() {} }),
    async linear(weight) {
      const linear = await Linear.create(weight.shape[1], weight.shape[0], { runtime });
      try {
        linear.loadStateDict({ weight });
        return linear;
      } catch (error) {
        linear.dispose();
        throw error;
      }
    },
  };
  try {
    /** @type {Parameters} */
    const parameters = Object.fromEntries(mlp.namedParameters());
    if (product) await addProduct(mlp, product, parameters, tools);
    let scaled = output;
    const unit = parameters['down_proj.weight'].data.slice(0, 1).fill(1);
    for (const name of learned) scaled *= await readNumber(name, unit, tools);
    for (const [name, { data }] of Object.entries(parameters)) {
      const scale = { gate_proj: gate, down_proj: scaled }[name.split('.')[0]] ?? 1;
      for (let i = 0; scale !== 1 && i < data.length; i++) data[i] *= scale;
    }
    held.loadStateDict(parameters);
  } catch (error) {
    if (held !== mlp) held.dispose();
    throw error;
  }
  if (held !== mlp) mlp.dispose();
  return held;
}

/**
 * A tensor of one number, whatever its dtype.
 * @param {string} name
 * @param {import('./arrays.js').RealArray} unit the number 1
 * @param {Tools} tools
 */
async function readNumber(name, unit, { read, linear }) {
  const one = await linear({ ...(await read(name)), shape: [1, 1] });
  try {
    return one.forward(unit)[0];
  } finally {
    one.dispose();
  }
}

/**
 * @param {GatedMLP} mlp
 * @param {string[]} product
 * @param {Parameters} parameters of the block, to which it is added
 * @param {Tools} tools
 */
async function addProduct({ d, dFf }, [first, second], parameters, { read, linear }) {
  const [a, b] = [await read(first), await read(second)];
  const [gate, up] = ['gate_proj', 'up_proj'].map((name) => parameters[`${name}.weight`].data);
  const narrow = await linear(a);
  /** @type {Linear | undefined} */
  let wide;
  try {
    wide = await linear(b);
    const step = Math.min(STEP, dFf);
    for (let begin = 0; begin < d; begin += step) {
      const n = Math.min(step, d - begin);
      const units = gate.slice(0, n * d).fill(0);
      for (let i = 0; i < n; i++) units[i * d + begin + i] = 1;
      const columns = wide.forward(narrow.forward(units));
      for (let i = 0; i < n; i++) {
        for (let row = 0; row < dFf; row++) {
          gate[row * d + begin + i] += columns[2 * i * dFf + row];
          up[row * d + begin + i] += columns[(2 * i + 1) * dFf + row];
        }
      }
    }
  } finally {
    narrow.dispose();
    wide?.dispose();
  }
}
