// node tests/bench/crossover.js: from which size on a forward is finished sooner by two threads, whatever team.js holds to be
// worth sharing. Prints both times by size, and the size from which two are faster for good: WORTH_SHARING in team.js is set
// from it. Takes the best of many calls, which disturbances by others touch least; leave the machine alone all the same.

import { GatedMLP, Runtime } from '../../src/binding/index.js';
import { wasmOf } from '../../src/binding/runtime.js';

/** d, d_ff and tokens, by multiply-adds: from a small layer's one token up. */
const SIZES = [
  [128, 256, 1],
  [256, 512, 1],
  [128, 256, 8],
  [256, 768, 2],
  [256, 512, 4],
  [576, 1536, 1],
  [256, 512, 8],
  [576, 1536, 2],
  [576, 1536, 4],
  [1024, 4096, 1],
  [576, 1536, 16],
];
const ROUNDS = 60;
const CALLS = 20;
/** Two threads must gain so much before they are worth waking. */
const GAIN = 1.1;

const runtime = await Runtime.create({ threads: 2 });
const { team } = wasmOf(runtime);
if (runtime.threads !== 2 || !team) throw new Error('There are no threads here.');

const rows = [];
for (const [d, dFf, tokens] of SIZES) {
  const mlp = await GatedMLP.create(d, dFf, { dtype: 'bfloat16', runtime });
  const x = Float32Array.from({ length: tokens * d }, (_, i) => Math.sin(i));
  const out = new Float32Array(x.length);
  const best = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    for (const threads of [1, 2]) {
      team.isWorth = () => threads === 2;
      for (let call = 0; call < CALLS; call++) {
        const start = performance.now();
        mlp.forward(x, { out });
        best[threads - 1] = Math.min(best[threads - 1], performance.now() - start);
      }
    }
  }
  mlp.dispose();
  rows.push({ size: `${d}x${dFf} T=${tokens}`, products: 3 * d * dFf * tokens, best });
}
rows.sort((a, b) => a.products - b.products);
for (const { size, products, best } of rows) {
  const [one, two] = best.map((ms) => `${(1000 * ms).toFixed(0).padStart(6)} us`);
  const gain = (best[0] / best[1]).toFixed(2);
  console.log(
    `${size.padEnd(18)} ${(products / 1e6).toFixed(2).padStart(7)} M  1t ${one}  2t ${two}  ${gain}x`,
  );
}
const gains = rows.map(({ best }) => best[0] / best[1] >= GAIN);
const first = rows[gains.lastIndexOf(false) + 1];
console.log(
  first
    ? `two threads are faster by ${GAIN} from ${(first.products / 1e6).toFixed(2)} M multiply-adds on`
    : 'two threads are never faster: others use the processor',
);
runtime.dispose();
