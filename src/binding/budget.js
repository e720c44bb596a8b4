// How many bytes one operation may receive. Bytes that were not asked for come from servers that ignore ranges and send
// whole files; this is what stops a 5 MB layer from costing a 140 GB download.
import { GatedMLPError } from './errors.js';

/** Bytes nobody wanted that one operation puts up with where the caller has set no budget. */
const UNWANTED_LIMIT = 2 ** 31;

export class Budget {
  #limit;
  #received = 0;
  #unwanted = 0;

  /** @param {number | undefined} maxBytes the caller's limit on everything received; none: only the unwanted is limited */
  constructor(maxBytes) {
    if (maxBytes !== undefined && !(typeof maxBytes === 'number' && maxBytes >= 0)) {
      const message = `maxBytes is ${String(maxBytes)}; it must be a number of bytes`;
      throw new GatedMLPError('ERR_SHAPE', message, { value: maxBytes });
    }
    this.#limit = maxBytes;
  }

  /**
   * Counts bytes that have arrived.
   * @param {number} wanted
   * @param {number} unwanted
   * @param {string} url
   */
  spend(wanted, unwanted, url) {
    this.#received += wanted + unwanted;
    this.#unwanted += unwanted;
    this.require(0n, url);
  }

  /**
   * Bytes counted as wanted turn out to lie between wanted ones.
   * @param {number} bytes
   * @param {string} url
   */
  regret(bytes, url) {
    this.#unwanted += bytes;
    this.require(0n, url);
  }

  /**
   * Throws if so many more unwanted bytes would pass the budget, before any of them is read.
   * @param {bigint} unwanted
   * @param {string} url
   */
  require(unwanted, url) {
    const overall = this.#limit !== undefined && BigInt(this.#received) + unwanted > this.#limit;
    const inVain = this.#limit === undefined && BigInt(this.#unwanted) + unwanted > UNWANTED_LIMIT;
    if (!overall && !inVain) return;
    throw new GatedMLPError(
      'ERR_HTTP',
      `${url}: passes the budget of ${this.#limit ?? UNWANTED_LIMIT} bytes` +
        (unwanted > 0n
          ? `; the server ignores ranges, so ${unwanted} bytes would be skipped`
          : '') +
        '. Raise maxBytes, or use a server with ranges',
      { url },
    );
  }
}
