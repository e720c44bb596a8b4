// A TypeScript user of the package: package.test.js type-checks this against the packed types, without skipLibCheck.

import type {
  ErrorCode,
  ForwardOptions,
  FoundMLP,
  HeldDtype,
  Hold,
  LoadOptions,
  OpenOptions,
  RuntimeOptions,
} from 'gated-mlp';
import { GatedMLP, GatedMLPError, llamaFfnDim, openCheckpoint, PCG32, Runtime } from 'gated-mlp';

const runtime: Runtime = await Runtime.create({ variant: 'simd128' });
const width: number = await llamaFfnDim(4096, 1024, 1.3);
const mlp: GatedMLP = await GatedMLP.create(64, width, {
  act: 'gelu_tanh',
  rng: new PCG32(1n),
  runtime,
});
const trace = mlp.trace(new Float32Array(64), { hold: [{ unit: 3, value: 0 }] });
const tokens: number = trace.tokens;
const gate: Float32Array = trace.gate;
const y: Float32Array = mlp.forward(new Float32Array(64), { out: new Float32Array(64) });
const gradients: Record<string, Float32Array> = mlp.backward(trace, y);
const checkpoint = await openCheckpoint('https://example.org/model.safetensors', {
  onProgress: () => {},
});
for (const { prefix, d, dFf } of checkpoint.mlps) {
  console.log(prefix, d, dFf, tokens, gate.length, gradients.x.length);
}
for (const [name, { shape }] of mlp.namedParameters()) console.log(name, shape.length);
try {
  mlp.forward(new Float32Array(3));
} catch (error) {
  if (error instanceof GatedMLPError && error.code === 'ERR_SHAPE') console.log(error.message);
  if (error instanceof GatedMLPError && error.code === 'ERR_HTTP') {
    const told: [number | undefined, string | undefined, number | undefined, string | undefined] = [
      error.status,
      error.url,
      error.attempts,
      error.kind,
    ];
    console.log(told);
  }
}

// @ts-expect-error an act is a string
await GatedMLP.create(64, 128, { act: 1 });

/** What a wrapper of the package names. */
export interface Wrapper {
  open: OpenOptions;
  load: LoadOptions;
  forward: ForwardOptions;
  runtime: RuntimeOptions;
  held: HeldDtype;
  hold: Hold;
  code: ErrorCode;
  found: FoundMLP;
}
