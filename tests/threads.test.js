// Threads: the same bits whatever their number, asked for by number, and never a reason to fail.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { BINDING, deployed, pageRuntime } from './helpers/page-runtime.js';
import { markedInput, threadsAtWork } from './helpers/team-work.js';

const [D, D_FF] = [96, 400];
const runtimes = await Promise.all(
  [1, 2, 3, 5].map((threads) => Runtime.create({ variant: 'simd128', threads })),
);
after(() => {
  for (const runtime of runtimes) runtime.dispose();
});

/** @param {number} n */
function values(n) {
  const rng = new PCG32(77);
  return Float32Array.from({ length: n }, () => 2 * rng.nextFloat() - 1);
}

/** @param {Runtime} runtime @param {object} [options] */
const layer = (runtime, options) =>
  GatedMLP.create(D, D_FF, { bias: true, rng: new PCG32(4), runtime, ...options });

test('a runtime has the threads that were asked for, one by default', async () => {
  assert.deepEqual(
    runtimes.map((runtime) => runtime.threads),
    [1, 2, 3, 5],
  );
  assert.ok(runtimes[1].memory.buffer instanceof SharedArrayBuffer);
  assert.ok(runtimes[0].memory.buffer instanceof ArrayBuffer);
});

for (const [
  dtype,
  act,
  variant,
] of /** @type {[string, string, import('../src/binding/gated-mlp.js').Variant?][]} */ ([
  ['float32', 'silu'],
  ['bfloat16', 'gelu_tanh'],
  ['float16', 'relu2'],
  ['bfloat16', 'relu2', { normEps: 1e-5 }],
  ['q8_0', 'silu', { normEps: 1e-5, sparsity: 0.5 }],
])) {
  const named = `${dtype}, ${act}${variant ? `, ${Object.keys(variant)}` : ''}`;
  test(`${named}: results do not depend on the number of threads, to the bit`, async () => {
    const options = { dtype, act, variant };
    const mlps = await Promise.all(runtimes.map((runtime) => layer(runtime, options)));
    for (const tokens of [30, 31, 128, 129, 300]) {
      const x = values(tokens * D);
      const [one, ...others] = mlps.map((mlp) => mlp.forward(x));
      for (const y of others) assert.deepEqual(y, one);
      const [part, ...parts] = mlps.map((mlp) => {
        const out = values(x.length);
        return mlp.forward(x, { out, units: [17, 161], scale: 0.5, accumulate: true });
      });
      for (const y of parts) assert.deepEqual(y, part);
    }
    for (const mlp of mlps) mlp.dispose();
  });
}

test('many calls in a row, large and small, are all right', async () => {
  const mlps = await Promise.all(runtimes.map((runtime) => layer(runtime)));
  const inputs = [1, 40, 3, 64, 33].map((tokens) => values(tokens * D));
  const expected = inputs.map((x) => mlps[0].forward(x));
  for (let round = 0; round < 40; round++) {
    for (const mlp of mlps.slice(1)) {
      inputs.forEach((x, i) => {
        assert.deepEqual(mlp.forward(x), expected[i]);
      });
    }
  }
});

test('the memory may grow between calls, and checkpoints load on it', async () => {
  const [, runtime] = runtimes;
  const mlp = await layer(runtime);
  const x = values(50 * D);
  const before = mlp.forward(x);
  const large = await GatedMLP.create(1024, 4096, { runtime });
  assert.deepEqual(mlp.forward(x), before);
  const file = mlp.toSafetensors();
  const again = await GatedMLP.fromPretrained(file, { runtime });
  assert.deepEqual(again.stateDict(), mlp.stateDict());
  large.dispose();
});

test('forwardAsync gives what forward gives', async () => {
  const [one, , three] = await Promise.all(runtimes.map((runtime) => layer(runtime)));
  const x = values(64 * D);
  assert.deepEqual(await three.forwardAsync(x), one.forward(x));
});

for (const [place, start] of /** @type {const} */ ([
  ['in Node', (/** @type {number} */ threads) => Runtime.create({ variant: 'simd128', threads })],
  ['on a page', pageRuntime],
])) {
  for (const threads of [2, 3]) {
    test(`${place}, all of ${threads} threads compute, the one that asks too`, async () => {
      const runtime = await start(threads);
      const awake = setInterval(() => {}, 1000);
      try {
        const mlp = await layer(runtime);
        const work = () => mlp.forwardAsync(markedInput(D));
        assert.equal(await threadsAtWork(runtime.memory, D, threads, work), threads);
      } finally {
        clearInterval(awake);
        runtime.dispose();
      }
    });
  }
}

test('more threads than processors, at stages of few steps: every call ends, and is right', async () => {
  const crowd = [await pageRuntime(2), await pageRuntime(6), runtimes[3]];
  const awake = setInterval(() => {}, 1000);
  try {
    // One panel of outputs, so that who opens a stage may find its only step done.
    const make = (/** @type {Runtime} */ runtime) =>
      GatedMLP.create(32, 700, { rng: new PCG32(9), runtime });
    const x = values(30 * 32);
    const expected = (await make(runtimes[0])).forward(x);
    const mlps = await Promise.all(crowd.map(make));
    for (let round = 0; round < 400; round++) {
      const results = await Promise.all(mlps.map((mlp) => mlp.forwardAsync(x)));
      for (const y of results) assert.deepEqual(y, expected);
    }
  } finally {
    clearInterval(awake);
    for (const runtime of crowd.slice(0, 2)) runtime.dispose();
  }
});

test('on a page, forwards that are under way at once and add to one array all count', async () => {
  const runtime = await pageRuntime(3);
  // What waits for a thread keeps no Node process alive.
  const awake = setInterval(() => {}, 1000);
  try {
    const seeds = [1, 2, 3].map((seed) => ({ rng: new PCG32(seed) }));
    const experts = await Promise.all(seeds.map((seed) => layer(runtime, seed)));
    const x = values(64 * D);
    const sum = new Float32Array(x.length);
    for (const seed of [1, 2, 3]) {
      const expert = await layer(runtimes[0], { rng: new PCG32(seed) });
      expert.forward(x, { out: sum, scale: 0.5, accumulate: true });
    }
    const out = new Float32Array(x.length);
    const options = { out, scale: 0.5, accumulate: true };
    const given = x.slice();
    const calls = experts.map((expert) => expert.forwardAsync(given, options));
    given.fill(NaN); // copied at once
    await Promise.all(calls);
    assert.deepEqual(out, sum);
  } finally {
    clearInterval(awake);
    runtime.dispose();
  }
});

test('on a page, parameters are not replaced while a forward computes from them', async () => {
  const runtime = await pageRuntime(2);
  const awake = setInterval(() => {}, 1000);
  try {
    const mlp = await layer(runtime);
    const x = values(64 * D);
    const call = mlp.forwardAsync(x);
    const state = mlp.stateDict();
    assert.throws(() => mlp.loadStateDict(state), {
      code: 'ERR_UNSUPPORTED',
      message: /forwardAsync/,
    });
    assert.deepEqual(await call, (await layer(runtimes[0])).forward(x));
    mlp.loadStateDict(state);
  } finally {
    clearInterval(awake);
    runtime.dispose();
  }
});

test('on a page, an out that is transferred elsewhere meanwhile is refused by name; x may be, once it is handed over', async () => {
  const runtime = await pageRuntime(2);
  const awake = setInterval(() => {}, 1000);
  try {
    const mlp = await layer(runtime);
    const x = values(64 * D);
    const out = new Float32Array(x.length);
    const call = mlp.forwardAsync(x, { out });
    structuredClone(out.buffer, { transfer: [out.buffer] });
    await assert.rejects(call, { code: 'ERR_SHAPE', message: /^out: its buffer is detached/ });
    const expected = (await layer(runtimes[0])).forward(x);
    const next = mlp.forwardAsync(x);
    structuredClone(x.buffer, { transfer: [x.buffer] });
    assert.deepEqual(await next, expected);
  } finally {
    clearInterval(awake);
    runtime.dispose();
  }
});

test('a runtime that is disposed of ends the forwards under way with ERR_DISPOSED', async () => {
  const runtime = await pageRuntime(2);
  const awake = setInterval(() => {}, 1000);
  try {
    const mlp = await layer(runtime);
    const calls = [values(64 * D), values(64 * D)].map((x) => mlp.forwardAsync(x));
    runtime.dispose();
    for (const call of calls) await assert.rejects(call, { code: 'ERR_DISPOSED' });
  } finally {
    clearInterval(awake);
  }
});

test('threads with a module of the caller: where it cannot share memory there is one', async () => {
  const plain = readFileSync(new URL('../src/binding/gated-mlp.wasm', import.meta.url));
  const shared = readFileSync(new URL('../src/binding/gated-mlp-threads.wasm', import.meta.url));
  for (const [wasm, threads, expected] of /** @type {const} */ ([
    [plain, 2, 1],
    [shared, 1, 1],
    [shared, 2, 2],
  ])) {
    const runtime = await Runtime.create({ wasm: new Response(wasm), threads });
    assert.equal(runtime.threads, expected);
    const x = values(64 * D);
    assert.deepEqual((await layer(runtime)).forward(x), (await layer(runtimes[0])).forward(x));
    runtime.dispose();
  }
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 320, shared: true });
  await assert.rejects(Runtime.create({ wasm: plain, memory }), {
    code: 'ERR_WASM_LOAD',
    message: /a memory of its own/,
  });
});

test('a shared memory may be brought, and bounds what can be loaded', async () => {
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 320, shared: true });
  const runtime = await Runtime.create({ memory, threads: 2 });
  assert.equal(runtime.memory, memory);
  await assert.rejects(GatedMLP.create(2048, 2048, { runtime }), { code: 'ERR_OUT_OF_MEMORY' });
  const mlp = await layer(runtime);
  assert.equal(mlp.forward(values(64 * D)).length, 64 * D);
  runtime.dispose();
  await assert.rejects(Runtime.create({ memory: new WebAssembly.Memory({ initial: 256 }) }), {
    code: 'ERR_UNSUPPORTED',
    message: /shared: true/,
  });
});

test('a number of threads that is none is refused', async () => {
  for (const threads of [0, -1, 1.5, 1000, /** @type {number} */ (/** @type {unknown} */ ('2'))]) {
    await assert.rejects(Runtime.create({ threads }), { code: 'ERR_SHAPE', message: /threads is/ });
  }
});

/**
 * What a program prints that asks for two threads after `before` ran.
 * @param {string} before
 * @param {string} [options] of Runtime.create besides
 * @param {URL} [binding] a copy of the binding
 */
function inAnotherProcess(before, options = '', binding = BINDING) {
  const source = `
    ${before}
    const { GatedMLP, Runtime } = await import(${JSON.stringify(new URL('index.js', binding).href)});
    const runtime = await Runtime.create({ threads: 2, ${options} });
    const used = runtime.bytesUsed;
    const mlp = await GatedMLP.create(96, 200, { runtime });
    console.log(runtime.threads, mlp.forward(new Float32Array(9600).fill(1)).length, used);
  `;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', source],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test('waiting threads do not keep a process alive', () => {
  assert.match(inAnotherProcess(''), /^2 9600 /);
});

test('where memory cannot be shared, or a page is not isolated, there is one thread and nothing fails', () => {
  assert.equal(inAnotherProcess('delete globalThis.SharedArrayBuffer;'), '1 9600 0');
  assert.equal(inAnotherProcess('globalThis.crossOriginIsolated = false;'), '1 9600 0');
});

test('where the modules for threads are not deployed there is one thread, unless memory was brought', (t) => {
  const folder = deployed(t);
  for (const name of ['gated-mlp-threads.wasm', 'gated-mlp-relaxed-threads.wasm'])
    rmSync(join(folder, name), { force: true });
  const binding = pathToFileURL(join(folder, '/'));
  assert.equal(inAnotherProcess('', '', binding), '1 9600 0');
  const memory = 'memory: new WebAssembly.Memory({ initial: 256, maximum: 320, shared: true })';
  assert.throws(() => inAnotherProcess('', memory, binding), /ERR_WASM_LOAD/);
});

test('where workers cannot start on memory that was brought there is one thread, and their stacks are given back', (t) => {
  const folder = deployed(t);
  writeFileSync(join(folder, 'thread-worker.js'), 'throw new Error("refused");');
  const memory = 'memory: new WebAssembly.Memory({ initial: 256, maximum: 320, shared: true })';
  assert.equal(inAnotherProcess('', memory, pathToFileURL(join(folder, '/'))), '1 9600 0');
});

test('a signal that outlives the start of threads is not listened to any more, and one that has fired ends it', async () => {
  const { signal } = new AbortController();
  const runtime = await Runtime.create({ threads: 2, signal });
  assert.equal(runtime.threads, 2);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  runtime.dispose();
  const late = new AbortController();
  const creating = Runtime.create({ threads: 2, signal: late.signal });
  late.abort('changed my mind');
  await assert.rejects(creating, (reason) => reason === 'changed my mind');
});
