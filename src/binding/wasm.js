// One instance of the module: its exports, its memory and who owns what in it.
// Internal: runtime.js makes it, the other files of the binding use it, users never see it. Addresses are byte offsets
// into linear memory; they leave the module as signed 32-bit numbers and are made unsigned here.

import { newArray } from './arrays.js';
import { GatedMLPError, shapeError } from './errors.js';

/**
 * What src/core/exports.c exports; documented there. Addresses and sizes are numbers, 64-bit ones bigint.
 * @typedef {Record<string, (...values: any[]) => any> & { memory: WebAssembly.Memory, _initialize?: () => void }} WasmExports
 */

/** Status codes, in the order of gated_mlp_status. */
const STATUS = /** @type {const} */ ([
  null,
  'ERR_SHAPE',
  'ERR_DTYPE',
  'ERR_ACTIVATION',
  'ERR_SHAPE',
  'ERR_OUT_OF_MEMORY',
]);

/**
 * So many elements are copied in a loop, which touches less code and data than the engine's own copy: that counts in a cold
 * call, of one token.
 */
const LOOPED = 2048;

export class Wasm {
  /**
   * safetensors dtype -> its code, width and whether weights can be made from it, read from the module.
   * @type {Map<string, { code: number, bits: number, loadable: boolean }>}
   */
  dtypes = new Map();
  /** activation -> code, read from the module. @type {Map<string, number>} */
  activations = new Map();
  /** The threads that work on this memory, if there are several. @type {import('./team.js').Team | null} */
  team = null;
  /** Bytes handed out and not given back. */
  bytesUsed = 0;
  disposed = false;
  /** Whether anybody outside has had the memory, so that views of it may come in. */
  isExposed = false;
  #why = 'the runtime has been disposed';

  /** @type {Map<number, number>} address -> bytes */
  #blocks = new Map();
  // Views of memory that has since grown, or none yet.
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /** @type {Float32Array} */
  #reals = new Float32Array(0);
  #io = 0;
  #ioBytes = 0;
  /** Gives memory back when its owner was dropped without dispose(). @type {FinalizationRegistry<number>} */
  #forgotten = new FinalizationRegistry((address) => this.free(address));

  /**
   * @param {WebAssembly.Instance} instance
   * @param {WebAssembly.Memory} [memory] the one it was given, where it has none of its own
   */
  constructor(instance, memory) {
    /** A copy: the engine looks functions up faster in it than in the frozen original. @type {WasmExports} */
    this.exports = /** @type {any} */ ({ memory, ...instance.exports });
    this.exports._initialize?.();
    /** Bytes of an element of `Real`. @type {number} */
    this.realBytes = this.exports.real_bytes();
    const double = this.realBytes === 8;
    /** Array class of the arithmetic: Float32Array, or Float64Array in the float64 build; see RealArray. @type {Float32ArrayConstructor} */
    this.Real = double ? /** @type {any} */ (Float64Array) : Float32Array;
    /** Its name. */
    this.realName = this.Real.name;
    /** Safetensors dtype of `Real`. @type {'F32' | 'F64'} */
    this.realDtype = double ? 'F64' : 'F32';
    for (const [code, name] of this.#names('dtype_name')) {
      const loadable = this.exports.dtype_loadable(code) === 1;
      this.dtypes.set(name, { code, bits: this.exports.dtype_bits(code), loadable });
    }
    for (const [code, name] of this.#names('activation_name')) this.activations.set(name, code);
  }

  /** All of memory. Made anew when the memory has grown: never keep it across a call that may allocate. */
  get bytes() {
    this.#refresh();
    return this.#bytes;
  }

  /** As `bytes`, for single fields. */
  get view() {
    this.#refresh();
    return this.#view;
  }

  /**
   * A view of n bytes; the rule of `bytes` holds for it.
   * @param {number} address
   * @param {number} n
   */
  u8(address, n) {
    return this.bytes.subarray(address, address + n);
  }

  /**
   * A block that begins a cache line. Throws ERR_OUT_OF_MEMORY. `owner`: the object with which the block is given back
   * if it is dropped without dispose().
   * @param {number} bytes
   * @param {string} what for the message
   * @param {object} [owner]
   * @returns {number} its address
   */
  alloc(bytes, what, owner) {
    this.check();
    return this.adopt(this.exports.memory_alloc(BigInt(bytes)), bytes, what, owner);
  }

  /**
   * Takes note of a block the module has allocated itself; an address of 0 is its way to say there was no memory.
   * @param {number} address
   * @param {number} bytes
   * @param {string} what
   * @param {object} [owner]
   */
  adopt(address, bytes, what, owner) {
    const at = address >>> 0;
    if (at === 0) throw this.#outOfMemory(bytes, what);
    this.#blocks.set(at, bytes);
    this.bytesUsed += bytes;
    if (owner) this.giveTo(at, owner);
    return at;
  }

  /**
   * Makes something that may be larger than a module can address.
   * @param {bigint} bytes 0n: more than can be counted
   * @param {string} what
   * @param {object} owner
   * @param {() => number} make gives its address
   */
  make(bytes, what, owner, make) {
    if (bytes === 0n || bytes > 0xffffffffn) {
      throw shapeError(`${what} does not fit the 4 GiB that a wasm module can address`);
    }
    return this.adopt(make(), Number(bytes), what, owner);
  }

  /**
   * From now on a block is given back with its owner, if that is dropped without dispose().
   * @param {number} address
   * @param {object} owner
   */
  giveTo(address, owner) {
    this.#forgotten.register(owner, address, owner);
  }

  /**
   * Gives a block back; a second time, or after the runtime's end, is no error.
   * @param {number} address
   * @param {object} [owner] as given to alloc
   */
  free(address, owner) {
    if (owner) this.#forgotten.unregister(owner);
    const bytes = this.#blocks.get(address);
    if (bytes === undefined || this.disposed) return;
    this.#blocks.delete(address);
    this.bytesUsed -= bytes;
    this.exports.memory_free(address);
  }

  /**
   * The block through which arguments and results pass: grown when a call needs more, kept between calls,
   * overwritten by the next call.
   * @param {number} bytes
   */
  io(bytes) {
    if (bytes > this.#ioBytes) {
      this.free(this.#io);
      // Where there is no memory for the next one, another's block may come to lie there.
      this.#io = this.#ioBytes = 0;
      this.#io = this.alloc(bytes, 'arguments and results');
      this.#ioBytes = bytes;
    }
    return this.#io;
  }

  /**
   * The text of n bytes of UTF-8; a decoder takes none from shared memory, so that is copied.
   * @param {TextDecoder} decoder
   * @param {number} address
   * @param {number} n
   */
  text(decoder, address, n) {
    const bytes = this.u8(address, n);
    return decoder.decode(bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice());
  }

  /**
   * @param {ArrayLike<number>} values
   * @param {number} address
   */
  putReals(values, address) {
    const n = values.length;
    const first = address / this.realBytes;
    const reals = this.#realsTo(first + n);
    if (n > LOOPED) reals.set(values, first);
    else for (let i = 0; i < n; i++) reals[first + i] = values[i];
  }

  /**
   * Fills an array from an address on, and gives it back.
   * @template {import('./arrays.js').RealInput} T
   * @param {T} into
   * @param {number} address
   */
  takeReals(into, address) {
    const n = into.length;
    const first = address / this.realBytes;
    const reals = this.#realsTo(first + n);
    if (n > LOOPED) into.set(reals.subarray(first, first + n));
    else for (let i = 0; i < n; i++) into[i] = reals[first + i];
    return into;
  }

  /**
   * A copy of n elements of `Real`. Throws ERR_OUT_OF_MEMORY.
   * @param {number} address
   * @param {number} n
   */
  copyReals(address, n) {
    return newArray(this.Real, this.realsAt(address, n));
  }

  /**
   * A view of n elements of `Real`; the rule of `bytes` holds for it.
   * @param {number} address
   * @param {number} n
   */
  realsAt(address, n) {
    const first = address / this.realBytes;
    return this.#realsTo(first + n).subarray(first, first + n);
  }

  /**
   * Calls a function of the core that gives a status, and throws unless that is 0.
   * @param {string} name
   * @param {...unknown} values
   */
  call(name, ...values) {
    this.done(this.exports[name](...values), name);
  }

  /**
   * Throws unless a status is 0. What a user can get wrong is told in words before the call; this is the last line.
   * @param {number} status
   * @param {string} what
   */
  done(status, what) {
    const code = STATUS[status];
    if (code) throw new GatedMLPError(code, `${what}: the core refused it with ${code}`);
  }

  check() {
    if (this.disposed) throw new GatedMLPError('ERR_DISPOSED', this.#why);
  }

  /** @param {string} [why] what later calls are told, where nobody asked for it */
  dispose(why = this.#why) {
    this.#why = why;
    this.disposed = true;
    this.team?.dispose();
    this.#blocks.clear();
    this.bytesUsed = 0;
    // What still refers to this object must not keep the memory alive.
    this.exports = /** @type {WasmExports} */ (
      /** @type {unknown} */ ({ memory: { buffer: new ArrayBuffer(0) } })
    );
    this.#refresh();
  }

  /**
   * Memory up to an element at least: index = address / real bytes. What a view has lost by growth it has in length, and
   * nothing else is asked: memory's buffer is far more to fetch in a cold call.
   * @param {number} end
   */
  #realsTo(end) {
    if (end > this.#reals.length) this.#refresh();
    return this.#reals;
  }

  #refresh() {
    const { buffer } = this.exports.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
      this.#reals = new this.Real(buffer);
    }
  }

  /** @param {number} bytes @param {string} what */
  #outOfMemory(bytes, what) {
    const mib = (/** @type {number} */ n) => `${(n / 2 ** 20).toFixed(1)} MiB`;
    return new GatedMLPError(
      'ERR_OUT_OF_MEMORY',
      `${what}: ${mib(bytes)} could not be had; ${mib(this.bytesUsed)} are in use by this runtime. Dispose of what is no longer needed`,
      { bytes, bytesUsed: this.bytesUsed },
    );
  }

  /**
   * @param {'dtype_name' | 'activation_name'} table
   * @returns {Generator<[number, string]>}
   */
  *#names(table) {
    for (let code = 0; ; code++) {
      const at = this.exports[table](code) >>> 0;
      if (at === 0) return;
      const end = this.bytes.indexOf(0, at);
      yield [code, String.fromCharCode(...this.bytes.subarray(at, end))];
    }
  }
}
