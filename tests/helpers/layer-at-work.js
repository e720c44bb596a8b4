// A small layer in a runtime of its own, and a look whether both work on: for tests of what is refused.

import assert from 'node:assert/strict';
import { GatedMLP, Runtime } from '../../src/binding/index.js';

/** The caller disposes of the runtime. */
export async function layerAtWork() {
  const runtime = await Runtime.create();
  const mlp = await GatedMLP.create(4, 6, { bias: true, runtime });
  const x = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));
  const y = mlp.forward(x);

  /** As good as new: the same layer gives the same bits, also when made again, and memory can still be had and given back. */
  async function worksOn() {
    assert.deepEqual(mlp.forward(x), y);
    const before = runtime.bytesUsed;
    const another = await GatedMLP.create(4, 6, { bias: true, runtime });
    assert.deepEqual(another.forward(x), y);
    another.dispose();
    assert.equal(runtime.bytesUsed, before);
  }

  return { runtime, mlp, x, worksOn };
}
