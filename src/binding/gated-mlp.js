// GatedMLP: y = down_proj( act(gate_proj(x)) * up_proj(x) ), its weights in wasm memory.
// The arithmetic is src/core's; this file checks arguments, copies them in and results out, and owns the memory.

import { activationOf } from './activations.js';
import { integer, outputOf, realsOfLength, rowsOf } from './arrays.js';
import { makeDisposable } from './disposable.js';
import { disposedError, GatedMLPError, shapeError } from './errors.js';
import { checkedHolds, forwardCall, sliceOf } from './forward-options.js';
import { GatePreview, gatesOf } from './gate-preview.js';
import { GateTrace, layoutOf } from './gate-trace.js';
import { heldCode, heldFor, nativeDtype, storedDtype } from './held-dtype.js';
import { elements, fillTrace, layGradients, layTrace } from './layout.js';
import { Linear } from './linear.js';
import { loader, openCheckpoint } from './loader.js';
import { initialize, linearsOf, readParameter } from './parameters.js';
import { PCG32 } from './pcg32.js';
import { defaultRuntime, wasmOf } from './runtime.js';
import { entriesOf, parameterShapes, readStateDict, writeSafetensors } from './state-dict.js';
import { checkedVariant } from './variant.js';
import { packParts, streamParts } from './weights.js';

/** @typedef {import('./arrays.js').RealArray} RealArray */
/** @typedef {import('./arrays.js').RealInput} RealInput */
/** @typedef {import('./activations.js').Activation} Activation */
/** @typedef {import('./forward-options.js').ForwardOptions} ForwardOptions */
/** @typedef {import('./forward-options.js').Hold} Hold */
/** @typedef {import('./runtime.js').Runtime} Runtime */
/** @typedef {import('./held-dtype.js').HeldDtype} HeldDtype */
/** @typedef {import('./variant.js').Variant} Variant */

export class GatedMLP {
  #wasm;
  #address;
  #disposed = false;
  /** Forwards that other threads are computing from the weights. */
  #inFlight = 0;

  /**
   * A new MLP with nn.Linear's default initialization: gate, up and down drawn in that order, weight then bias. A norm's
   * weight is ones.
   * @param {number} d width of x and y
   * @param {number} dFf hidden width
   * @param {object} [options]
   * @param {string} [options.act] Hugging Face spelling, default 'silu'
   * @param {boolean} [options.bias]
   * @param {Variant} [options.variant] default: the plain formula
   * @param {PCG32} [options.rng] the generator, which is advanced; default a fresh PCG32(0)
   * @param {HeldDtype} [options.dtype] how weights are held; default what the runtime computes in. 'q8_0' and 'q4_1' are
   *   ggml's blocks of 32: 8.5 and 5 bits a weight, rounded to them when they are loaded
   * @param {Runtime} [options.runtime]
   * @returns {Promise<GatedMLP>}
   */
  static async create(
    d,
    dFf,
    { act = 'silu', bias = false, rng = new PCG32(0), dtype, variant, runtime } = {},
  ) {
    integer(d, 'd');
    integer(dFf, 'dFf');
    if (!(rng instanceof PCG32)) throw shapeError('rng: must be a PCG32');
    const home = runtime ?? (await defaultRuntime());
    const mlp = new GatedMLP(
      home,
      d,
      dFf,
      activationOf(act),
      Boolean(bias),
      dtype ?? nativeDtype(wasmOf(home)),
      null,
      variant,
    );
    try {
      initialize(mlp.#wasm, mlp.#address, rng);
    } catch (error) {
      mlp.dispose();
      throw error;
    }
    return mlp;
  }

  /**
   * Opens a checkpoint and loads one gated MLP from it; see openCheckpoint and fromCheckpoint.
   * @param {import('./checkpoint.js').CheckpointSource} source
   * @param {import('./checkpoint.js').OpenOptions & LoadOptions} [options]
   * @returns {Promise<GatedMLP>}
   */
  static async fromPretrained(source, options = {}) {
    const { onProgress, ...open } = options;
    return GatedMLP.fromCheckpoint(await openCheckpoint(source, open), options);
  }

  /**
   * Loads one gated MLP of an open checkpoint. Without layer, expert or prefix the checkpoint must hold exactly one.
   * Resolves when every byte is there and checked; a failed or aborted load leaves nothing behind.
   *
   * @typedef {object} LoadOptions
   * @property {number} [layer]
   * @property {number} [expert]
   * @property {string} [prefix] of the tensor names, as `checkpoint.mlps` lists it
   * @property {string} [act] overrides what the config says
   * @property {HeldDtype} [dtype] default: as stored for F32, F16 and BF16, else 'float32';
   *   also where the weights are changed as they are loaded (Falcon-H1, dense layers of Inkling, Zamba 2)
   * @property {'gate-up' | 'up-gate' | 'interleaved'} [fused] order of a fused tensor the families table does not know
   * @property {boolean} [transposed] the same, for its orientation
   * @property {AbortSignal} [signal]
   * @property {import('./checkpoint.js').OnProgress} [onProgress]
   * @property {(preview: GatePreview) => void} [onGateRows] called while gate_proj lands, before anything is verified;
   *   not for a sparse gate, whose act depends on all rows
   * @property {Runtime} [runtime] default: the checkpoint's
   *
   * @param {import('./checkpoint.js').Checkpoint} checkpoint
   * @param {LoadOptions} [options]
   * @returns {Promise<GatedMLP>}
   */
  static async fromCheckpoint(checkpoint, options = {}) {
    const { signal, onProgress, onGateRows } = options;
    signal?.throwIfAborted();
    const { adapt, resolveMLP, streamTensors } = await loader();
    const found = resolveMLP(checkpoint, options);
    const home = options.runtime ?? checkpoint.runtime;
    const { adapter } = found;
    const native = nativeDtype(wasmOf(home));
    const asked = options.dtype ?? heldFor(found.parts, native);
    heldCode(wasmOf(home), asked);
    const dtype = adapter ? native : asked;
    const preview = found.variant?.sparsity || adapter ? undefined : onGateRows;
    const source = { ...found.source, actSource: found.actSource };
    const mlp = new GatedMLP(
      home,
      found.d,
      found.dFf,
      activationOf(found.act),
      found.bias,
      dtype,
      source,
      found.variant,
    );
    try {
      await streamParts(
        mlp.#wasm,
        linearsOf(mlp.#wasm, mlp.#address),
        found.parts,
        (wanted) => streamTensors(checkpoint, wanted, { signal, onProgress }),
        preview &&
          ((parameter, rows) => {
            if (parameter === 'gate_proj.weight')
              preview(
                new GatePreview(rows, (x) => gatesOf(mlp.#alive(), mlp.#address, mlp, x, rows)),
              );
          }),
      );
      if (adapter)
        return await adapt(checkpoint, mlp, adapter, home, { GatedMLP, Linear }, options);
    } catch (error) {
      mlp.dispose();
      throw error;
    }
    return mlp;
  }

  /**
   * @internal use create, fromPretrained or fromCheckpoint
   * @param {Runtime} runtime
   * @param {number} d
   * @param {number} dFf
   * @param {Activation} act
   * @param {boolean} bias
   * @param {HeldDtype} dtype
   * @param {Record<string, unknown> | null} source
   * @param {Variant | null} [variant]
   */
  constructor(runtime, d, dFf, act, bias, dtype, source, variant = null) {
    const wasm = wasmOf(runtime);
    const code = heldCode(wasm, dtype);
    const varied = variant && checkedVariant(variant);
    const activation = wasm.activations.get(act);
    const held = [code, bias ? 1 : 0, variant?.normEps === undefined ? 0 : 1];
    this.#address = wasm.make(
      wasm.exports.mlp_bytes(d, dFf, ...held),
      `a gated MLP of d = ${d}, dFf = ${dFf} in ${dtype}`,
      this,
      () => wasm.exports.mlp_create(d, dFf, activation, ...held),
    );
    this.#wasm = wasm;
    if (varied) wasm.exports.mlp_vary(this.#address, ...varied);
    /** Width of x and y. */
    this.d = d;
    /** Hidden width: the number of units. */
    this.dFf = dFf;
    /** @type {Activation} */
    this.act = act;
    this.bias = bias;
    /** How the weights are held. */
    this.dtype = dtype;
    /** What it was loaded from: { url, revision, tensors, actSource }; null for one made by create. */
    this.source = source;
    /** What it computes besides the plain formula, or null. */
    this.variant = variant;
    makeDisposable(this);
  }

  /** 3 d dFf, 2 dFf + d more with biases, and dFf with a norm. */
  get numParameters() {
    return [...this.#shapes().values()].reduce((sum, shape) => sum + elements(shape), 0);
  }

  /**
   * @param {RealInput} x [..., d], flat and row-major
   * @param {ForwardOptions} [options]
   * @returns {RealArray} [..., d]: `out`, or a new array
   */
  forward(x, options) {
    const wasm = this.#alive();
    const { exports, team } = wasm;
    const call = forwardCall(wasm, this, x, options);
    const { y, tokens, begin, end, scale, accumulate, bytes } = call;
    if (tokens === 0) return y;
    const xAt = wasm.io(2 * bytes);
    const yAt = xAt + bytes;
    const mlp = this.#address;
    wasm.putReals(x, xAt);
    if (accumulate) wasm.putReals(y, yAt);
    // Arguments one by one, no array of them: of a cold call each thing that is touched takes its time.
    const status =
      team?.canWait && team.isWorth(call.products)
        ? exports.team_forward(yAt, xAt, mlp, tokens, begin, end, scale, accumulate, team.threads)
        : exports.mlp_forward(yAt, xAt, mlp, tokens, begin, end, scale, accumulate, -1, 0, 0, 0);
    wasm.done(status, 'forward');
    return wasm.takeReals(y, yAt);
  }

  /**
   * As forward, but where the runtime has threads a page's main thread does its part in slices of some milliseconds, and
   * waits for none of them. x is copied at once.
   * @param {RealInput} x
   * @param {ForwardOptions} [options] out is written, or added to, when the promise resolves
   * @returns {Promise<RealArray>}
   */
  async forwardAsync(x, options) {
    const wasm = this.#alive();
    const { team } = wasm;
    const call = forwardCall(wasm, this, x, options);
    if (!team || team.canWait || !team.isWorth(call.products)) return this.forward(x, options);
    const { y, tokens, begin, end, scale, accumulate, bytes } = call;
    const n = y.length;
    const xAt = wasm.alloc(2 * bytes, 'arguments and results');
    const yAt = xAt + bytes;
    this.#inFlight++;
    try {
      wasm.putReals(x, xAt);
      // What `out` holds may change meanwhile, by another expert's share for one: it is added to at the end.
      const args = [yAt, xAt, this.#address, tokens, begin, end, scale, 0];
      wasm.done(await team.forwardAsync(args), 'forward');
      wasm.check();
      // It may have been transferred elsewhere.
      outputOf(y, wasm, n);
      if (!accumulate) return wasm.takeReals(y, yAt);
      wasm.realsAt(yAt, n).forEach((value, i) => {
        y[i] += value;
      });
      return y;
    } finally {
      wasm.free(xAt);
      this.#inFlight--;
      this.#freeIfIdle();
    }
  }

  /**
   * A forward pass that keeps what happened inside.
   * @param {RealInput} x [..., d]
   * @param {object} [options]
   * @param {string} [options.act] another activation on the same weights
   * @param {Iterable<Hold>} [options.hold] gates held by hand; of two on the same cell the later counts
   * @returns {GateTrace} owns memory: dispose of it
   */
  trace(x, { act, hold = [] } = {}) {
    const wasm = this.#alive();
    const tokens = rowsOf(x, 'x', wasm, this.d, 'd');
    const used = act === undefined ? this.act : activationOf(act);
    const holds = checkedHolds(hold, this.dFf, tokens);
    const layout = layTrace(wasm, this, tokens, holds, used);
    const trace = new GateTrace(this, wasm, layout, tokens, used);
    try {
      fillTrace(wasm, this.#address, layout, x, tokens, this.dFf);
    } catch (error) {
      trace.dispose();
      throw error;
    }
    return trace;
  }

  /**
   * Gradients of sum(forward(x) * gradOutput) for x and every parameter, in Hugging Face's names.
   * @param {RealInput | GateTrace} x from a trace nothing is computed again (unless it is a variant), and the derivative is that of what was
   *   computed there: a held act is a constant
   * @param {RealInput} gradOutput [..., d]
   * @param {object} [options]
   * @param {[number, number]} [options.units] a slice of the hidden width; rows and columns of other units stay 0, but
   *   for those of a sparse gate, and of gate and up before a norm
   * @param {Record<string, RealArray>} [options.out] arrays to be written again, all that an earlier call gave, which share no memory
   *   with each other: a tenth of the time and more goes into new ones
   * @returns {Record<string, RealArray>} x, 'gate_proj.weight', ...: fresh arrays, or those of `out`
   */
  backward(x, gradOutput, { units, out } = {}) {
    const wasm = this.#alive();
    const trace = x instanceof GateTrace ? x : null;
    if (trace && trace.mlp !== this) throw shapeError('x: the trace was made by another GatedMLP');
    const tokens = trace ? trace.tokens : rowsOf(x, 'x', wasm, this.d, 'd');
    const n = tokens * this.d;
    realsOfLength(gradOutput, 'gradOutput', wasm, n);
    const { begin, end } = sliceOf(units, this.dFf);
    const layout = trace && layoutOf(trace);
    const gradients = layGradients(wasm, this.#shapes(), n, out);
    try {
      const width = wasm.realBytes;
      const dyAt = wasm.io(2 * n * width);
      wasm.putReals(gradOutput, dyAt);
      if (!layout) wasm.putReals(/** @type {RealArray} */ (x), dyAt + n * width);
      wasm.call(
        'mlp_backward',
        gradients.address,
        dyAt,
        layout?.x ?? dyAt + n * width,
        this.#address,
        tokens,
        begin,
        end,
        1,
        layout?.activation ?? -1,
        layout?.holds ?? 0,
        layout?.holdCount ?? 0,
        layout?.record ?? 0,
      );
      return gradients.read();
    } finally {
      wasm.free(gradients.address);
    }
  }

  /**
   * Names, shapes and values in Hugging Face's registration order; values are copies, whatever the dtype they are held in.
   * @returns {Generator<[string, { shape: number[], data: RealArray }]>}
   */
  *namedParameters() {
    for (const [name, shape] of this.#shapes()) {
      const wasm = this.#alive();
      const bytes = readParameter(wasm, this.#address, name, shape, wasm.realDtype);
      yield [name, { shape, data: new wasm.Real(bytes.buffer) }];
    }
  }

  /**
   * The parameters as they are held, in the files' own dtypes and bytes: exactly what was loaded. Copies. Of 'q8_0' and
   * 'q4_1' the F32 values that their blocks stand for.
   * @returns {Map<string, { dtype: string, shape: number[], data: Uint8Array }>}
   */
  stateDict() {
    const wasm = this.#alive();
    const dtype = storedDtype(this.dtype);
    return new Map(
      [...this.#shapes()].map(([name, shape]) => [
        name,
        { dtype, shape, data: readParameter(wasm, this.#address, name, shape, dtype) },
      ]),
    );
  }

  /**
   * Replaces the parameters. All of it is checked first; if anything is wrong, nothing has changed.
   * @param {Map<string, import('./state-dict.js').StateEntry> | Record<string, import('./state-dict.js').StateEntry>} state
   *   a fused gate_up_proj is accepted; any float dtype, converted to the one this MLP holds
   * @param {object} [options]
   * @param {boolean} [options.strict] false: leave out missing names and pass over unexpected ones
   * @returns {{ missing: string[], unexpected: string[] }}
   */
  loadStateDict(state, { strict = true } = {}) {
    const wasm = this.#alive();
    if (this.#inFlight > 0) {
      throw new GatedMLPError(
        'ERR_UNSUPPORTED',
        'loadStateDict: a forwardAsync still computes from these weights',
      );
    }
    const { parts, bytes, missing, unexpected } = readStateDict(
      entriesOf(state),
      this.#shapes(),
      strict,
      wasm.dtypes,
    );
    packParts(wasm, linearsOf(wasm, this.#address), parts, bytes);
    return { missing, unexpected };
  }

  /** The state dict as the bytes of a safetensors file. Activation and variant are a config's matter, and not in it. */
  toSafetensors() {
    return writeSafetensors(this.stateDict());
  }

  /** Gives the memory back. Calling it again is no error; any other call afterwards throws ERR_DISPOSED. */
  dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#freeIfIdle();
  }

  #freeIfIdle() {
    if (this.#disposed && this.#inFlight === 0) this.#wasm.free(this.#address, this);
  }

  /** The instance, unless it or this is no more. */
  #alive() {
    if (this.#disposed) throw disposedError('this GatedMLP');
    this.#wasm.check();
    return this.#wasm;
  }

  #shapes() {
    return parameterShapes(this.d, this.dFf, this.bias, this.variant);
  }
}
