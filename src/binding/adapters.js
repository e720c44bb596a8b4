// Low-rank adapters of gate_up_proj, as Zamba 2 has them: a block that several layers share, and for each of them two small
// matrices whose product is added to the weight. describe.js finds them, checkpoint.js adds them to a loaded MLP. Imports
// nothing, so that a bundler makes it a small file of its own, fetched by those few who need it.

/**
 * One layer's adapter: the weight is gate_up_proj + second first.
 * @typedef {object} Adapter
 * @property {number} layer that uses the block with this adapter
 * @property {string} first tensor [rank, d]
 * @property {string} second tensor [2 dFf, rank]
 * @property {number} rank
 */

/** Columns of the product that are computed at once. */
const STEP = 64;

/**
 * Adds an adapter to gate_proj and up_proj of an MLP that holds the block's own weights.
 * @param {import('./checkpoint.js').Checkpoint} checkpoint
 * @param {import('./gated-mlp.js').GatedMLP} mlp
 * @param {Adapter} adapter
 * @param {typeof import('./linear.js').Linear} Linear
 * @param {AbortSignal} [signal]
 */
export async function addAdapter(checkpoint, mlp, { first, second, rank }, Linear, signal) {
  const { runtime } = checkpoint;
  const { d, dFf } = mlp;
  const onProgress = () => {};
  const a = await checkpoint.read(first, { signal, onProgress });
  const b = await checkpoint.read(second, { signal, onProgress });
  const narrow = await Linear.create(d, rank, { runtime });
  const wide = await Linear.create(rank, 2 * dFf, { runtime });
  try {
    narrow.loadStateDict({ weight: a });
    wide.loadStateDict({ weight: b });
    const weights = Object.fromEntries(mlp.namedParameters());
    const [gate, up] = ['gate_proj', 'up_proj'].map((name) => weights[`${name}.weight`].data);
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
    const sum = { 'gate_proj.weight': { data: gate }, 'up_proj.weight': { data: up } };
    mlp.loadStateDict(sum, { strict: false });
  } finally {
    narrow.dispose();
    wide.dispose();
  }
}
