// GatePreview: gates of units whose rows have landed are the final ones, while the rest of the layer is still on its way.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, PCG32 } from '../src/binding/index.js';
import { createPageServer, listen } from '../web/serve.js';

const server = createPageServer();
const address = await listen(server, 0);
after(() => {
  server.closeAllConnections();
  server.close();
});

test('gates appear row by row, exactly as they will be, up to the last unit before anything else is loaded', async () => {
  const rng = new PCG32(1);
  const x = Float32Array.from({ length: 3 * 576 }, () => 2 * rng.nextFloat() - 1);
  /** @type {{ rows: number, gate: import('../src/binding/runtime.js').RealArray, act: import('../src/binding/runtime.js').RealArray }[]} */
  const seen = [];
  const mlp = await GatedMLP.fromPretrained(
    `${address}fixtures/smollm2-135m-instruct-layer24.safetensors`,
    {
      act: 'silu',
      onGateRows: (preview) => seen.push({ rows: preview.rows, ...preview.trace(x) }),
    },
  );
  const trace = mlp.trace(x);
  assert.ok(seen.length >= 3, `${seen.length} previews`);
  assert.equal(seen.at(-1)?.rows, mlp.dFf);
  let before = 0;
  for (const { rows, gate, act } of seen) {
    assert.ok(rows > before);
    before = rows;
    for (let i = 0; i < gate.length; i++) {
      const landed = i % mlp.dFf < rows;
      if (gate[i] !== (landed ? trace.gate[i] : 0) || act[i] !== (landed ? trace.act[i] : 0)) {
        assert.fail(`unit ${i % mlp.dFf} of ${rows} landed: gate ${gate[i]}, act ${act[i]}`);
      }
    }
  }
  trace.dispose();
  mlp.dispose();
});
