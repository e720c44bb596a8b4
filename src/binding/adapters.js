// What is done to the weights of a loaded MLP so that the plain formula computes what its family computes: Falcon-H1's gate and
// output are multiplied by constants; of Zamba 2 several layers share a block, and for each of them the product of two small
// matrices is added to gate_up_proj. describe.js says which; checkpoint.js calls. Imports nothing, so that a bundler makes it
// a small file of its own, fetched by those few who need it.

/**
 * @typedef {object} Adapter
 * @property {{ first: string, second: string, rank: number }} [product] tensors [rank, d] and [2 dFf, rank]: second first
 *   is added to gate_up_proj
 * @property {{ gate: number, output: number }} [scales]
 */
/** @typedef {import('./checkpoint.js').Checkpoint} Checkpoint */
/** @typedef {import('./gated-mlp.js').GatedMLP} GatedMLP */
/** @typedef {typeof import('./linear.js').Linear} LinearClass */
/** @typedef {import('./runtime.js').Runtime} Runtime */
/** @typedef {Record<string, { data: import('./arrays.js').RealArray }>} Parameters */

/** Columns of the product that are computed at once. */
const STEP = 64;

/**
 * @param {Checkpoint} checkpoint
 * @param {GatedMLP} mlp as its tensors have it
 * @param {Adapter} adapter
 * @param {Runtime} runtime of the MLP, which may be another than the checkpoint's
 * @param {LinearClass} Linear
 * @param {AbortSignal} [signal]
 */
export async function adapt(checkpoint, mlp, { product, scales }, runtime, Linear, signal) {
  /** @type {Parameters} */
  const parameters = Object.fromEntries(mlp.namedParameters());
  if (product) await addProduct(checkpoint, mlp, product, parameters, runtime, Linear, signal);
  for (const [name, { data }] of Object.entries(parameters)) {
    const scale = { gate_proj: scales?.gate, down_proj: scales?.output }[name.split('.')[0]] ?? 1;
    if (scale !== 1) data.set(data.map((value) => scale * value));
  }
  mlp.loadStateDict(parameters);
}

/**
 * @param {Checkpoint} checkpoint
 * @param {GatedMLP} mlp
 * @param {{ first: string, second: string, rank: number }} product
 * @param {Parameters} parameters of the block, to which it is added
 * @param {Runtime} runtime
 * @param {LinearClass} Linear
 * @param {AbortSignal} [signal]
 */
async function addProduct(
  checkpoint,
  { d, dFf },
  { first, second, rank },
  parameters,
  runtime,
  Linear,
  signal,
) {
  const onProgress = () => {};
  const a = await checkpoint.read(first, { signal, onProgress });
  const b = await checkpoint.read(second, { signal, onProgress });
  const narrow = await Linear.create(d, rank, { runtime });
  /** @type {import('./linear.js').Linear | undefined} */
  let wide;
  const [gate, up] = ['gate_proj', 'up_proj'].map((name) => parameters[`${name}.weight`].data);
  try {
    wide = await Linear.create(rank, 2 * dFf, { runtime });
    narrow.loadStateDict({ weight: a });
    wide.loadStateDict({ weight: b });
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
