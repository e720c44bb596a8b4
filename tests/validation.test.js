// What happens when arguments are wrong: a GatedMLPError that says what and why, never a trap, and a runtime that works on.
// core-validation.test.js calls the C entry points with the same nonsense.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GatedMLP, GatedMLPError, PCG32, Runtime } from '../src/binding/index.js';
import { layerAtWork } from './helpers/layer-at-work.js';

const { runtime, mlp, x, worksOn } = await layerAtWork();
after(() => runtime.dispose());

/**
 * @param {string} title
 * @param {import('../src/binding/errors.js').ErrorCode} code
 * @param {RegExp} message
 * @param {() => unknown} call
 */
function refuses(title, code, message, call) {
  test(title, async () => {
    const before = runtime.bytesUsed;
    await assert.rejects(
      async () => call(),
      (error) => {
        assert.ok(error instanceof GatedMLPError, String(error));
        assert.equal(error.code, code, error.message);
        assert.match(error.message, message);
        return true;
      },
    );
    assert.equal(runtime.bytesUsed, before, 'nothing was left behind');
    await worksOn();
  });
}

/** Lets a test hand over what the types forbid. @param {unknown} value @returns {never} */
const wrong = (value) => /** @type {never} */ (value);

// ---------------------------------------------------------------------------------------- creation

for (const act of ['swishglu', '', 'SILU', null, 3, {}, 'toString', '__proto__']) {
  refuses(
    `activation ${JSON.stringify(act)} is refused with a list of the known ones`,
    'ERR_ACTIVATION',
    /silu.*gelu_tanh.*gelu.*relu.*relu2.*sigmoid.*quick_gelu.*none/s,
    () => GatedMLP.create(4, 6, { act: wrong(act), runtime }),
  );
}

const WIDTHS = [
  0,
  -1,
  -4096,
  2.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 31,
  2 ** 53,
  1e300,
  '4',
  null,
  undefined,
  4n,
  [4],
];
for (const width of WIDTHS) {
  const shown = typeof width === 'bigint' ? '4n' : `${typeof width} ${String(width)}`;
  refuses(`d of ${shown} is refused`, 'ERR_SHAPE', /^d is .* integer/, () =>
    GatedMLP.create(wrong(width), 6, { runtime }),
  );
  refuses(`dFf of ${shown} is refused`, 'ERR_SHAPE', /^dFf is .* integer/, () =>
    GatedMLP.create(4, wrong(width), { runtime }),
  );
}

for (const [d, dFf] of [
  [2 ** 31 - 1, 2 ** 31 - 1],
  [2 ** 31 - 1, 1],
  [65_536, 65_536],
  [2 ** 16, 2 ** 14],
  [3, 2 ** 31 - 1],
]) {
  for (const dtype of /** @type {const} */ (['float32', 'bfloat16'])) {
    const bytes = 3 * d * dFf * (dtype === 'float32' ? 4 : 2);
    if (bytes < 2 ** 32) continue;
    refuses(
      `${d} x ${dFf} in ${dtype}, more bytes than an address can count, is refused`,
      'ERR_SHAPE',
      /does not fit the 4 GiB/,
      () => GatedMLP.create(d, dFf, { dtype, runtime }),
    );
  }
}

refuses(
  'an MLP that fits an address but not the memory is refused as out of memory',
  'ERR_OUT_OF_MEMORY',
  /MiB could not be had.*in use/,
  async () => {
    const held = [];
    try {
      for (;;)
        held.push(
          new Wrapped(await GatedMLP.create(16_384, 16_384, { dtype: 'bfloat16', runtime })),
        );
    } finally {
      for (const each of held) each.mlp.dispose();
    }
  },
);

/** Keeps an MLP whose 1.5 GiB were drawn. */
class Wrapped {
  /** @param {GatedMLP} mlp */
  constructor(mlp) {
    this.mlp = mlp;
  }
}

refuses(
  'float64 on a float32 runtime is refused, and says so',
  'ERR_DTYPE',
  /computes in float32/,
  () => GatedMLP.create(4, 6, { dtype: 'float64', runtime }),
);
for (const dtype of ['int8', 'F32', '', 8, 'constructor']) {
  refuses(
    `dtype ${JSON.stringify(dtype)} is refused`,
    'ERR_DTYPE',
    /float32, float16, bfloat16/,
    () => GatedMLP.create(4, 6, { dtype: wrong(dtype), runtime }),
  );
}
refuses('a generator that is none is refused', 'ERR_SHAPE', /rng.*PCG32/, () =>
  GatedMLP.create(4, 6, { rng: wrong(42), runtime }),
);
refuses('a runtime that is none is refused', 'ERR_UNSUPPORTED', /Runtime/, () =>
  GatedMLP.create(4, 6, { runtime: wrong({}) }),
);

// ---------------------------------------------------------------------------------------- forward, trace, backward

/** Every way in which an array of numbers can be none. @type {[string, () => unknown, 'ERR_SHAPE' | 'ERR_DTYPE', RegExp][]} */
const ARRAYS = [
  ['an array', () => [1, 2, 3, 4], 'ERR_DTYPE', /Array.*Float32Array/],
  ['a Float64Array', () => new Float64Array(4), 'ERR_DTYPE', /Float64Array.*Float32Array/],
  ['an Int32Array', () => new Int32Array(4), 'ERR_DTYPE', /Int32Array.*Float32Array/],
  ['an ArrayBuffer', () => new ArrayBuffer(16), 'ERR_DTYPE', /ArrayBuffer.*Float32Array/],
  ['null', () => null, 'ERR_DTYPE', /null.*Float32Array/],
  ['undefined', () => undefined, 'ERR_DTYPE', /undefined.*Float32Array/],
  ['a number', () => 4, 'ERR_DTYPE', /Number.*Float32Array/],
  ['5 values, no multiple of d,', () => new Float32Array(5), 'ERR_SHAPE', /5 elements/],
  [
    'an array whose buffer is detached',
    () => {
      const array = new Float32Array(4);
      structuredClone(array.buffer, { transfer: [array.buffer] });
      return array;
    },
    'ERR_SHAPE',
    /detached/,
  ],
];
const good = new Float32Array(4);
for (const [what, make, code, message] of ARRAYS) {
  refuses(`${what} as x of forward is refused`, code, message, () => mlp.forward(wrong(make())));
  refuses(`${what} as x of forwardAsync is refused`, code, message, () =>
    mlp.forwardAsync(wrong(make())),
  );
  refuses(`${what} as x of trace is refused`, code, message, () => mlp.trace(wrong(make())));
  refuses(`${what} as x of backward is refused`, code, message, () =>
    mlp.backward(wrong(make()), good),
  );
  if (what !== 'undefined' && what !== 'null') {
    refuses(`${what} as out of forward is refused`, code, message, () =>
      mlp.forward(good, { out: wrong(make()) }),
    );
  }
  refuses(`${what} as gradOutput is refused`, code, message, () =>
    mlp.backward(good, wrong(make())),
  );
  refuses(`${what} in out of backward is refused`, code, message, () =>
    mlp.backward(good, good, {
      out: { ...mlp.backward(good, good), 'up_proj.weight': wrong(make()) },
    }),
  );
  refuses(`${what} as gradOutput of a trace is refused`, code, message, () => {
    const trace = mlp.trace(good);
    try {
      return mlp.backward(trace, wrong(make()));
    } finally {
      trace.dispose();
    }
  });
}

for (const scale of [Number.NaN, Number.POSITIVE_INFINITY, '2', null]) {
  refuses(`scale ${String(scale)} is refused`, 'ERR_SHAPE', /scale/, () =>
    mlp.forward(good, { scale: wrong(scale) }),
  );
}
refuses('accumulate without out is refused', 'ERR_SHAPE', /accumulate.*out/, () =>
  mlp.forward(good, { accumulate: true }),
);
for (const [what, hold] of /** @type {[string, unknown][]} */ ([
  ['a unit past the last', { unit: 6, value: 0 }],
  ['a negative unit', { unit: -1, value: 0 }],
  ['no unit', { value: 0 }],
  ['a token past the last', { unit: 0, token: 1, value: 0 }],
  ['a negative token', { unit: 0, token: -1, value: 0 }],
  ['no value', { unit: 0 }],
  ['NaN as value', { unit: 0, value: Number.NaN }],
  ['nothing', null],
])) {
  refuses(`a hold with ${what} is refused`, 'ERR_SHAPE', /hold\[0\]/, () =>
    mlp.trace(good, { hold: [wrong(hold)] }),
  );
}
refuses('a trace with an unknown activation is refused', 'ERR_ACTIVATION', /known/i, () =>
  mlp.trace(good, { act: 'mish' }),
);
refuses(
  'a trace of another MLP is refused by backward',
  'ERR_SHAPE',
  /another GatedMLP/,
  async () => {
    const other = await GatedMLP.create(4, 6, { runtime });
    const trace = other.trace(good);
    try {
      return mlp.backward(trace, good);
    } finally {
      trace.dispose();
      other.dispose();
    }
  },
);

// ---------------------------------------------------------------------------------------- fused products, Runtime

for (const [what, call] of /** @type {[string, () => unknown][]} */ ([
  ['up shorter than gate', () => runtime.siluMul(new Float32Array(4), new Float32Array(3))],
  ['out longer than gate', () => runtime.siluMul(good, good, new Float32Array(5))],
  ['gradOutput too short', () => runtime.geluTanhMulBackward(good, good, new Float32Array(3))],
  ['no whole rows', () => runtime.siluAndMul(new Float32Array(5), 2)],
  ['dFf of 0', () => runtime.siluAndMul(new Float32Array(4), 0)],
  ['dFf of 2^31', () => runtime.geluTanhAndMul(new Float32Array(4), 2 ** 31)],
  ['gradOutput of the full width', () => runtime.siluAndMulBackward(good, 2, new Float32Array(4))],
])) {
  refuses(`a fused product with ${what} is refused`, 'ERR_SHAPE', /./, call);
}
refuses('a fused product of Float64Arrays is refused', 'ERR_DTYPE', /Float64Array/, () =>
  runtime.geluTanhMul(new Float64Array(4), good),
);
for (const threads of [0, -1, 1.5, Number.NaN]) {
  refuses(`${threads} threads are refused`, 'ERR_SHAPE', /threads/, () =>
    Runtime.create({ threads }),
  );
}
refuses('an unknown variant is refused', 'ERR_UNSUPPORTED', /variant/, () =>
  Runtime.create({ variant: wrong('avx512') }),
);

// ---------------------------------------------------------------------------------------- after the end

test('everything of a disposed MLP throws ERR_DISPOSED; disposing of it again does nothing', async () => {
  const gone = await GatedMLP.create(4, 6, { runtime });
  const trace = gone.trace(good);
  gone.dispose();
  gone.dispose();
  const calls = [
    () => gone.forward(good),
    () => gone.trace(good),
    () => gone.backward(good, good),
    () => gone.backward(trace, good),
    () => [...gone.namedParameters()],
    () => gone.stateDict(),
    () => gone.loadStateDict({}),
    () => gone.toSafetensors(),
  ];
  for (const call of calls) assert.throws(call, { code: 'ERR_DISPOSED' });
  await assert.rejects(gone.forwardAsync(good), { code: 'ERR_DISPOSED' });
  trace.dispose();
  await worksOn();
});

test('a disposed trace keeps what was read, throws for the rest, and is refused by backward', async () => {
  const trace = mlp.trace(x);
  const { gate } = trace;
  trace.dispose();
  trace.dispose();
  assert.equal(trace.gate, gate);
  assert.throws(() => trace.up, { code: 'ERR_DISPOSED' });
  assert.throws(() => mlp.backward(trace, x), { code: 'ERR_DISPOSED' });
  await worksOn();
});

test('everything of a disposed runtime throws ERR_DISPOSED, and nothing it made is harmed by dispose', async () => {
  const ended = await Runtime.create();
  const left = await GatedMLP.create(4, 6, { runtime: ended });
  const trace = left.trace(good);
  ended.dispose();
  ended.dispose();
  assert.equal(ended.bytesUsed, 0);
  for (const call of [
    () => left.forward(good),
    () => trace.output,
    () => left.backward(trace, good),
    () => ended.siluMul(good, good),
    () => ended.llamaFfnDim(64),
    () => ended.memory,
  ]) {
    assert.throws(call, { code: 'ERR_DISPOSED' });
  }
  await assert.rejects(GatedMLP.create(4, 6, { runtime: ended }), { code: 'ERR_DISPOSED' });
  trace.dispose();
  left.dispose();
  await worksOn();
});

test('a generator can be shared by layers after a refused one, and has not been advanced by it', async () => {
  const [rng, twin] = [new PCG32(3n), new PCG32(3n)];
  await assert.rejects(GatedMLP.create(4, 6, { rng, act: 'no', runtime }));
  await assert.rejects(GatedMLP.create(0, 6, { rng, runtime }));
  assert.equal(rng.nextUint32(), twin.nextUint32());
});
