// Results for which the engine has no room: each call says so with ERR_OUT_OF_MEMORY, keeps nothing, and works again once there
// is room. The engine's refusal is played: what it throws, from the constructor that it throws it from.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GatedMLP, Linear, Runtime } from '../src/binding/index.js';

const [D, D_FF, TOKENS] = [8, 12, 3];
const x = Float32Array.from({ length: TOKENS * D }, (_, i) => Math.sin(i));
const wide = Float32Array.from({ length: TOKENS * 2 * D_FF }, (_, i) => Math.cos(i));

/** Elements of the largest array that can be had. */
let room = Infinity;

/** @template {Float32ArrayConstructor | Uint8ArrayConstructor} T @param {T} Class @returns {T} */
const limited = (Class) =>
  new Proxy(Class, {
    construct(target, args, newTarget) {
      // A number of elements, or what is copied; of a buffer that is viewed there is no length.
      if ((args[0].length ?? args[0]) > room)
        throw new RangeError('Array buffer allocation failed');
      return Reflect.construct(target, args, newTarget);
    },
  });

const { Float32Array: Real, Uint8Array: Bytes } = globalThis;
/** @type {Runtime} */
let runtime;
/** @type {GatedMLP} */
let mlp;
/** @type {Linear} */
let linear;
before(async () => {
  Object.assign(globalThis, { Float32Array: limited(Real), Uint8Array: limited(Bytes) });
  runtime = await Runtime.create();
  mlp = await GatedMLP.create(D, D_FF, { bias: true, runtime });
  linear = await Linear.create(D, D_FF, { runtime });
});
after(() => {
  Object.assign(globalThis, { Float32Array: Real, Uint8Array: Bytes });
  runtime.dispose();
});

/** What `call` throws while nothing larger than a few elements can be had. @param {() => unknown} call */
function thrownWithoutRoom(call) {
  room = 4;
  try {
    call();
  } catch (error) {
    return /** @type {import('../src/binding/index.js').GatedMLPError & { bytes?: number }} */ (
      error
    );
  } finally {
    room = Infinity;
  }
  return assert.fail('nothing was thrown');
}

for (const [name, bytes, call] of /** @type {[string, number, () => unknown][]} */ ([
  ['forward', 4 * TOKENS * D, () => mlp.forward(x)],
  ['backward', 4 * TOKENS * D, () => mlp.backward(x, x)],
  ['namedParameters', 4 * D_FF * D, () => [...mlp.namedParameters()]],
  ['stateDict', 4 * D_FF * D, () => mlp.stateDict()],
  ['Linear.forward', 4 * TOKENS * D_FF, () => linear.forward(x)],
  ['siluMul', 4 * TOKENS * D, () => runtime.siluMul(x, x)],
  ['siluMulBackward', 4 * TOKENS * D, () => runtime.siluMulBackward(x, x, x)],
  ['geluTanhAndMul', 4 * TOKENS * D_FF, () => runtime.geluTanhAndMul(wide, D_FF)],
  [
    'siluAndMulBackward',
    4 * wide.length,
    () => runtime.siluAndMulBackward(wide, D_FF, wide.subarray(0, TOKENS * D_FF)),
  ],
])) {
  test(`${name} says when there is no room for its result, and works when there is`, () => {
    call();
    const used = runtime.bytesUsed;
    const error = thrownWithoutRoom(call);
    assert.deepEqual([error.code, error.bytes], ['ERR_OUT_OF_MEMORY', bytes], error.message);
    assert.match(error.message, new RegExp(`: an array of ${bytes} bytes could not be had$`));
    assert.ok(error.cause instanceof RangeError);
    assert.equal(runtime.bytesUsed, used);
    call();
  });
}

test('a trace has each of its tensors as soon as there is room for that', () => {
  const trace = mlp.trace(x);
  for (const name of /** @type {const} */ (['gate', 'act', 'up', 'hidden', 'output'])) {
    const error = thrownWithoutRoom(() => trace[name]);
    assert.equal(error.code, 'ERR_OUT_OF_MEMORY');
    assert.equal(trace[name].byteLength, error.bytes);
  }
  assert.deepEqual(trace.output, mlp.forward(x));
  trace.dispose();
});

test('a preview of gates that has no room ends the load, which keeps nothing', async () => {
  const file = mlp.toSafetensors();
  const used = runtime.bytesUsed;
  const load = GatedMLP.fromPretrained(file, {
    act: 'silu',
    runtime,
    onGateRows: (preview) => {
      throw thrownWithoutRoom(() => preview.trace(x));
    },
  });
  await assert.rejects(load, { code: 'ERR_OUT_OF_MEMORY', bytes: 4 * TOKENS * D_FF });
  assert.equal(runtime.bytesUsed, used);
});

test('a forward into an array of the caller needs no room at all', () => {
  const expected = mlp.forward(x);
  const out = new Float32Array(x.length);
  room = 0;
  try {
    mlp.forward(x, { out });
  } finally {
    room = Infinity;
  }
  assert.deepEqual(out, expected);
});

test('the bytes of a file are more than those of any parameter: no room for them is said, too', () => {
  const state = mlp.stateDict();
  const largest = Math.max(...[...state.values()].map(({ data }) => data.length));
  room = largest;
  try {
    assert.throws(() => mlp.toSafetensors(), {
      code: 'ERR_OUT_OF_MEMORY',
      message: /^the file: an array of \d+ bytes could not be had$/,
    });
  } finally {
    room = Infinity;
  }
});

test('a call for whose arguments there is no memory leaves the next one nothing of others to give back', async () => {
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 320, shared: true });
  const small = await Runtime.create({ memory });
  const first = await GatedMLP.create(64, 64, { runtime: small });
  // What lies below the block for arguments is not free, so that the next of about its size takes its place.
  for (let i = 0; i < 8; i++) await Linear.create(4, 4, { runtime: small });
  first.forward(new Float32Array(1000 * 64));
  assert.throws(() => first.forward(new Float32Array(60_000 * 64)), { code: 'ERR_OUT_OF_MEMORY' });
  const next = await GatedMLP.create(64, 600, { runtime: small });
  const parameters = next.toSafetensors();
  const used = small.bytesUsed;
  first.forward(new Float32Array(64));
  assert.equal(small.bytesUsed, used + 2 * 4 * 64);
  assert.deepEqual(next.toSafetensors(), parameters);
  small.dispose();
});
