// Patience with a network: which failures may pass, how long to wait, how often to try. Used by http.js; knows nothing
// of files or tensors.

import { integer } from './arrays.js';
import { GatedMLPError, wordsOf } from './errors.js';

/**
 * @typedef {object} RetryOptions
 * @property {number} [tries] how often one range is asked for before the load fails (default 5)
 * @property {number} [baseDelay] milliseconds before the second try, doubling from there (default 500)
 * @property {number} [maxDelay] longest wait in milliseconds, a Retry-After included (default 60,000)
 * @property {number} [idleTimeout] milliseconds without a byte after which a connection is given up (default 30,000)
 */

/** @type {Required<RetryOptions>} */
const DEFAULT_RETRY = { tries: 5, baseDelay: 500, maxDelay: 60_000, idleTimeout: 30_000 };

/** A timer that is set for longer goes off at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The options, with the defaults for what is not given; undefined is not given.
 * @param {RetryOptions} options
 * @returns {Required<RetryOptions>}
 */
export function retryOptions({
  tries = DEFAULT_RETRY.tries,
  baseDelay = DEFAULT_RETRY.baseDelay,
  maxDelay = DEFAULT_RETRY.maxDelay,
  idleTimeout = DEFAULT_RETRY.idleTimeout,
}) {
  integer(tries, 'retry.tries');
  for (const [name, value, fine] of /** @type {const} */ ([
    ['baseDelay', baseDelay, baseDelay >= 0],
    ['maxDelay', maxDelay, maxDelay >= 0],
    ['idleTimeout', idleTimeout, idleTimeout > 0],
  ])) {
    if (typeof value === 'number' && fine) continue;
    const message = `retry.${name} is ${String(value)}; it must be a number of milliseconds`;
    throw new GatedMLPError('ERR_SHAPE', message, { value });
  }
  return { tries, baseDelay, maxDelay, idleTimeout };
}

/** A failure that another try may not meet: a broken connection, a busy server, an answer to another question. */
export class PassingFailure extends Error {
  /**
   * @param {string} message
   * @param {{ status?: number, retryAfter?: number | null, once?: boolean, cause?: unknown }} [context]
   *   retryAfter: milliseconds the server asked for; once: worth exactly one more try
   */
  constructor(message, { status, retryAfter = null, once = false, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfter = retryAfter;
    this.once = once;
  }
}

/**
 * A connection that failed, as a failure that may pass.
 * @param {unknown} cause
 * @param {number} [status] of the answer whose body broke off
 */
export function networkFailure(cause, status) {
  const words = wordsOf(cause);
  return new PassingFailure(
    status === undefined
      ? `no answer (${words}); is the server up, the file there, and may this page read it (CORS)?`
      : `the answer broke off (${words})`,
    { status, cause },
  );
}

/** The file behind a name is no longer the one whose header was read. */
export class FileReplaced extends Error {}

/**
 * Milliseconds to wait after the given number of failed tries: what the server asked for, else a doubling delay of
 * which the second half is random, so that many clients do not come back at once.
 * @param {number} failed
 * @param {number | null} retryAfter
 * @param {Required<RetryOptions>} retry
 */
export function retryDelay(failed, retryAfter, retry) {
  const doubling = retry.baseDelay * 2 ** (failed - 1) * (0.5 + Math.random() / 2);
  return Math.min(retryAfter ?? doubling, retry.maxDelay);
}

/**
 * Retry-After is a number of seconds or a date. Null where it is neither.
 * @param {string | null} value
 * @param {number} [now]
 */
export function parseRetryAfter(value, now = Date.now()) {
  if (value === null) return null;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/**
 * Resolves after so many milliseconds; an abort rejects at once with the signal's reason.
 * @param {number} milliseconds
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(milliseconds, LONGEST_TIMER),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Progress after which earlier failures no longer count: a long file over a bad line may break many times. */
const FORGIVING_BYTES = 1n << 20n;

/** Counts the failures of one read, and waits between its tries. */
export class Patience {
  failures = 0;
  #retry;
  #signal;
  #forgivenAt;

  /**
   * @param {Required<RetryOptions>} retry
   * @param {AbortSignal | undefined} signal
   * @param {bigint} begin where the read begins
   */
  constructor(retry, signal, begin) {
    this.#retry = retry;
    this.#signal = signal;
    this.#forgivenAt = begin;
  }

  /** Whether the next try is the last. */
  get isNearlyOver() {
    return this.failures === this.#retry.tries - 1;
  }

  /**
   * Waits until the next try may be made. False: there is to be none.
   * @param {PassingFailure} failure
   * @param {bigint} at how far the read has come
   */
  async outlasts(failure, at) {
    if (at - this.#forgivenAt >= FORGIVING_BYTES) {
      this.#forgivenAt = at;
      this.failures = 0;
    }
    this.failures += 1;
    if (this.failures >= (failure.once ? 2 : this.#retry.tries)) return false;
    await sleep(retryDelay(this.failures, failure.retryAfter, this.#retry), this.#signal);
    return true;
  }
}

/**
 * Watches one request: ends it when the caller aborts or when no byte has come for too long. `race` also ends the wait
 * for a fetch that does not heed its signal.
 */
export class Watch {
  #outer;
  #controller = new AbortController();
  #idleTimeout;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Promise<never>} */
  #ended;

  /**
   * @param {AbortSignal | undefined} signal
   * @param {number} idleTimeout
   */
  constructor(signal, idleTimeout) {
    this.#outer = signal;
    this.#idleTimeout = idleTimeout;
    const inner = this.#controller.signal;
    this.#ended = new Promise((_, reject) => {
      inner.addEventListener('abort', () => reject(inner.reason), { once: true });
    });
    this.#ended.catch(() => {});
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    this.touch();
  }

  #onAbort = () => this.#controller.abort(this.#outer?.reason);

  get signal() {
    return this.#controller.signal;
  }

  /** Something arrived: the clock starts anew. */
  touch() {
    clearTimeout(this.#timer);
    const milliseconds = Math.min(this.#idleTimeout, LONGEST_TIMER);
    this.#timer = setTimeout(() => {
      this.#controller.abort(new PassingFailure(`no byte for ${milliseconds / 1000} s`));
    }, milliseconds);
  }

  /**
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T>}
   */
  race(promise) {
    return Promise.race([promise, this.#ended]);
  }

  /** Ends the request, finished or not, so that no socket stays open behind it. */
  close() {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#onAbort);
    this.#controller.abort(new Error('the request is over'));
  }
}
