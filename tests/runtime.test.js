// Runtime: where the module may come from, what is said when it is not there, and lives that do not touch each other.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GatedMLP, Linear, PCG32, Runtime } from '../src/binding/index.js';

const wasmUrl = new URL('../src/binding/gated-mlp.wasm', import.meta.url);
const bytes = new Uint8Array(readFileSync(wasmUrl));

const server = createServer((request, response) => {
  const answers = {
    '/octet-stream.wasm': () =>
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes),
    '/page.wasm': () =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>not here'),
    '/empty.wasm': () => response.writeHead(200).end(),
    '/broken.wasm': () => response.writeHead(200).end(bytes.subarray(0, 1000)),
  };
  const answer = answers[/** @type {keyof typeof answers} */ (request.url)];
  if (answer) answer();
  else if (request.url !== '/never.wasm') response.writeHead(404).end('no');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const at = (/** @type {string} */ path) => `http://127.0.0.1:${port}/${path}`;
after(() => {
  server.closeAllConnections();
  server.close();
});

/** @param {Runtime} runtime */
async function works(runtime) {
  const mlp = await GatedMLP.create(3, 4, { runtime });
  const y = mlp.forward(new Float32Array(6).fill(1));
  assert.equal(y.length, 6);
  assert.ok(y.every((value) => value !== 0 && Number.isFinite(value)));
  runtime.dispose();
}

/** @type {[string, () => import('../src/binding/runtime.js').WasmSource][]} */
const sources = [
  ['a URL', () => wasmUrl],
  ['a string', () => at('octet-stream.wasm')],
  ['an ArrayBuffer', () => bytes.slice().buffer],
  [
    'bytes at an odd place of a larger buffer',
    () => {
      const larger = new Uint8Array(bytes.length + 3);
      larger.set(bytes, 3);
      return larger.subarray(3);
    },
  ],
  ['a Response', () => new Response(bytes)],
  ['a promise of a Response', () => fetch(at('octet-stream.wasm'))],
  ['a compiled module', () => new WebAssembly.Module(bytes)],
];
for (const [name, source] of sources) {
  test(`the module may be ${name}`, async () => works(await Runtime.create({ wasm: source() })));
}

/** @type {[string, import('../src/binding/runtime.js').WasmSource, RegExp][]} */
const failures = [
  ['a missing file says the status', at('missing.wasm'), /missing\.wasm: the server answered 404/],
  [
    'an HTML page says what it begins with',
    at('page.wasm'),
    /page\.wasm: not a WebAssembly module \(it begins with "<!do/,
  ],
  [
    'an empty answer says so',
    at('empty.wasm'),
    /empty\.wasm: not a WebAssembly module \(it begins with ""/,
  ],
  ['a cut module says that it does not compile', at('broken.wasm'), /cannot compile the module/],
  [
    'a file that is not there says which',
    new URL('./no-such.wasm', import.meta.url),
    /no-such\.wasm: could not be read/,
  ],
  [
    'another module says that it is another',
    new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    /is it gated-mlp\.wasm/i,
  ],
];
for (const [name, wasm, message] of failures) {
  test(`${name}, as ERR_WASM_LOAD`, async () => {
    await assert.rejects(Runtime.create({ wasm }), {
      name: 'GatedMLPError',
      code: 'ERR_WASM_LOAD',
      message,
    });
  });
}

test('an abort ends the loading with its own reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const loading = Runtime.create({ wasm: at('never.wasm'), signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(loading, reason);
});

test('runtimes made at the same time are independent', async () => {
  const [one, two] = await Promise.all([Runtime.create(), Runtime.create()]);
  const a = await GatedMLP.create(4, 8, { runtime: one });
  const b = await GatedMLP.create(4, 8, { runtime: two });
  assert.notEqual(one.memory, two.memory);
  one.dispose();
  assert.throws(() => a.forward(new Float32Array(4)), { code: 'ERR_DISPOSED' });
  assert.equal(b.forward(new Float32Array(4).fill(1)).length, 4);
  two.dispose();
});

test('the default runtime is made anew after it was disposed of', async () => {
  const first = await GatedMLP.create(2, 2);
  const again = await GatedMLP.create(2, 2);
  assert.deepEqual(first.forward(Float32Array.of(1, 2)), again.forward(Float32Array.of(1, 2)));
});

test('what is disposed of gives its memory back, twice is no error, and later use is refused', async () => {
  const runtime = await Runtime.create();
  const mlp = await GatedMLP.create(16, 32, { runtime });
  mlp.forward(new Float32Array(16 * 9));
  const before = runtime.bytesUsed;
  const second = await GatedMLP.create(16, 32, { runtime });
  const trace = second.trace(new Float32Array(32));
  const { gate } = trace;
  assert.ok(runtime.bytesUsed > before);
  trace.dispose();
  trace.dispose();
  second.dispose();
  second.dispose();
  assert.equal(runtime.bytesUsed, before);
  assert.equal(trace.gate, gate, 'a tensor that was read stays readable');
  assert.throws(() => trace.up, { code: 'ERR_DISPOSED' });
  for (const use of [
    () => second.forward(new Float32Array(16)),
    () => second.trace(new Float32Array(16)),
    () => second.backward(new Float32Array(16), new Float32Array(16)),
    () => second.stateDict(),
    () => second.loadStateDict({}),
  ]) {
    assert.throws(use, { code: 'ERR_DISPOSED' });
  }
  runtime.dispose();
  runtime.dispose();
  mlp.dispose();
  assert.throws(() => runtime.llamaFfnDim(8), { code: 'ERR_DISPOSED' });
});

test('what is dropped without dispose gives its memory back when it is collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = /** @type {() => void} */ (runInNewContext('gc'));
  const runtime = await Runtime.create();
  const kept = await GatedMLP.create(16, 32, { runtime });
  kept.forward(new Float32Array(16));
  const before = runtime.bytesUsed;
  const drop = async () => {
    await GatedMLP.create(16, 32, { runtime });
    await Linear.create(16, 32, { runtime });
    kept.trace(new Float32Array(16 * 9));
  };
  await drop();
  assert.ok(runtime.bytesUsed > before);
  // A collector may need more than one turn; how many is its own matter.
  for (let turn = 0; turn < 100 && runtime.bytesUsed > before; turn++) {
    collect();
    await setImmediate();
  }
  assert.equal(runtime.bytesUsed, before);
  runtime.dispose();
});

test('results stay what they were when memory grows', async () => {
  const runtime = await Runtime.create();
  const mlp = await GatedMLP.create(8, 8, { runtime, rng: new PCG32(3) });
  const x = Float32Array.from({ length: 8 }, (_, i) => i / 8);
  const before = mlp.forward(x);
  const { buffer } = runtime.memory;
  const large = await GatedMLP.create(1024, 2048, { runtime });
  assert.notEqual(runtime.memory.buffer, buffer, 'the memory has grown');
  assert.deepEqual(mlp.forward(x), before);
  large.dispose();
  runtime.dispose();
});

test('10,000 calls with out given leave the memory as it was', async () => {
  const runtime = await Runtime.create();
  const mlp = await GatedMLP.create(24, 40, { runtime });
  const x = new Float32Array(24 * 5).fill(0.5);
  const out = new Float32Array(x.length);
  mlp.forward(x, { out });
  const { buffer } = runtime.memory;
  const used = runtime.bytesUsed;
  for (let i = 0; i < 10_000; i++) mlp.forward(x, { out });
  assert.equal(runtime.memory.buffer, buffer);
  assert.equal(runtime.bytesUsed, used);
  runtime.dispose();
});

test('each variant says what it is, and the engine decides under auto', async () => {
  const plain = await Runtime.create({ variant: 'simd128' });
  assert.equal(plain.variant, 'simd128');
  plain.dispose();
  const relaxed = await Runtime.create({ variant: 'relaxed' }).catch((error) => error);
  const auto = await Runtime.create();
  if (relaxed instanceof Runtime) {
    assert.equal(relaxed.variant, 'relaxed');
    assert.equal(auto.variant, 'relaxed');
    await works(relaxed);
  } else {
    assert.ok(['ERR_UNSUPPORTED', 'ERR_WASM_LOAD'].includes(relaxed.code), relaxed);
    assert.equal(auto.variant, 'simd128');
  }
  await works(auto);
});

test('a variant that does not exist is refused by name', async () => {
  await assert.rejects(
    Runtime.create({ variant: /** @type {'auto'} */ (/** @type {unknown} */ ('fast')) }),
    { code: 'ERR_UNSUPPORTED', message: /'fast'/ },
  );
});
