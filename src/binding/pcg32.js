// O'Neill's PCG XSH-RR 64/32, the generator of default initialization, as a value a caller can hold and pass on.
// Source: the reference C library's pcg32_srandom_r and pcg32_random_r (pcg-random.org). The bulk drawing of a whole
// layer is done by src/core/pcg32.c from the same state; a test holds the two to the same sequence.

import { shapeError } from './errors.js';

const MULTIPLIER = 6364136223846793005n;
const u64 = (/** @type {bigint} */ n) => BigInt.asUintN(64, n);

export class PCG32 {
  /** @type {bigint} */
  #state;
  /** @type {bigint} */
  #increment;

  /**
   * @param {bigint | number} seed any 64-bit integer; a number must be a safe integer
   * @param {bigint | number} [stream] which of the 2^63 sequences
   */
  constructor(seed, stream = 0n) {
    this.#increment = u64((integer64(stream, 'stream') << 1n) | 1n);
    this.#state = 0n;
    this.nextUint32();
    this.#state = u64(this.#state + integer64(seed, 'seed'));
    this.nextUint32();
  }

  /** The next of the sequence, 0 to 2^32 - 1. */
  nextUint32() {
    const old = this.#state;
    this.#state = u64(old * MULTIPLIER + this.#increment);
    const xorshifted = Number(BigInt.asUintN(32, ((old >> 18n) ^ old) >> 27n));
    const rotation = Number(old >> 59n);
    return ((xorshifted >>> rotation) | (xorshifted << (-rotation & 31))) >>> 0;
  }

  /** The next as a float32 in [0, 1): its upper 24 bits / 2^24. */
  nextFloat() {
    return (this.nextUint32() >>> 8) / 2 ** 24;
  }

  /**
   * Lets `draw` advance the generator by working on its state [state, increment].
   * @internal
   * @param {(state: [bigint, bigint]) => bigint} draw returns the new state
   */
  advance(draw) {
    this.#state = u64(draw([this.#state, this.#increment]));
  }
}

/** @param {unknown} value @param {string} name */
function integer64(value, name) {
  if (typeof value === 'bigint') return u64(value);
  if (Number.isSafeInteger(value)) return u64(BigInt(/** @type {number} */ (value)));
  throw shapeError(`${name} is ${String(value)}; it must be a bigint or a safe integer`, { value });
}
