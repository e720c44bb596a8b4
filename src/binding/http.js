// One file behind one URL, read by ranges: GET only, closed ranges, every answer checked before a byte of it counts.
// Retries resume at the last good byte. source.js chooses between this and the files that need no network; shard.js and
// stream.js read through `probe` and `read`. What the bytes mean is not known here.

import { GatedMLPError } from './errors.js';
import { endsEarly, FileIdentity } from './file-identity.js';
import { FileReplaced, networkFailure, PassingFailure, Patience, Watch } from './retry.js';

/**
 * @typedef {object} ReadRequest
 * @property {AbortSignal} [signal]
 * @property {import('./budget.js').Budget} budget
 * @property {(chunk: Uint8Array) => void} deliver gets the bytes in order; never an empty chunk
 */

/** A last byte that every file ends before: the server then sends what it has. */
const PAST_ANY_END = 2n ** 53n;
/** Longer than any config or index, and a text that every engine can hold. */
const MOST_TEXT = 2 ** 28;
/** Answers one read puts up with, where a server honestly gives less than it was asked for. */
const MAX_ANSWERS = 1000;

export class HttpFile {
  /** The URL without user name, password and query: fit for messages. */
  name;
  /** The server has answered a range with the whole file: read it in one pass. */
  ignoresRanges = false;

  #url;
  #client;
  #identity;
  /** Whether ranges are asked for: where they only lead to failures, the whole file may still come. */
  #asksRanges = true;

  /**
   * @param {URL} url
   * @param {import('./http-client.js').HttpClient} client
   */
  constructor(url, client) {
    this.#url = url;
    this.#client = client;
    this.name = url.origin === 'null' ? url.protocol : url.origin + url.pathname;
    this.#identity = new FileIdentity(this.name);
  }

  /** Bytes in the file, null until a server has said so. */
  get size() {
    return this.#identity.size;
  }

  /** What identifies this version of the file, or null where the server says nothing of the kind. */
  get version() {
    return this.#identity.version;
  }

  /**
   * The first `length` bytes, or the whole file where it is shorter. Begins anew: what was known of the file is dropped.
   * @param {number} length
   * @param {Omit<ReadRequest, 'deliver'>} request
   */
  async probe(length, request) {
    this.ignoresRanges = false;
    this.#asksRanges = true;
    this.#identity = new FileIdentity(this.name);
    const bytes = new Uint8Array(length);
    let filled = 0;
    /** @param {Uint8Array} chunk */
    const deliver = (chunk) => {
      bytes.set(chunk, filled);
      filled += chunk.length;
    };
    await this.#readPatiently(0n, BigInt(length), { ...request, deliver }, true);
    this.#identity.head = bytes.subarray(0, filled);
    return this.#identity.head;
  }

  /**
   * The whole of a small file as text, or null where there is none. Object stores answer 403 for what is not there.
   * @param {Omit<ReadRequest, 'deliver'>} request
   */
  async text(request) {
    const decoder = new TextDecoder();
    let text = '';
    /** @param {Uint8Array} chunk */
    const deliver = (chunk) => {
      text += decoder.decode(chunk, { stream: true });
      if (text.length <= MOST_TEXT) return;
      const message = `${this.name}: longer than ${MOST_TEXT} characters, which no config or index is`;
      throw new GatedMLPError('ERR_HTTP', message, { url: this.name });
    };
    try {
      await this.#readPatiently(0n, PAST_ANY_END, { ...request, deliver }, true);
    } catch (error) {
      if ([403, 404, 410].includes(Number(/** @type {{ status?: number }} */ (error).status)))
        return null;
      throw error instanceof FileReplaced
        ? new GatedMLPError('ERR_HTTP', error.message, { cause: error })
        : error;
    }
    return text + decoder.decode();
  }

  /**
   * Bytes [begin, end), all of them. Rejects with ERR_HTTP, with FileReplaced, or with the signal's reason.
   * @param {bigint} begin
   * @param {bigint} end
   * @param {ReadRequest} request
   */
  async read(begin, end, request) {
    await this.#readPatiently(begin, end, request, false);
  }

  /**
   * @param {bigint} begin
   * @param {bigint} end
   * @param {ReadRequest} request
   * @param {boolean} probing a file that ends before `end` is no error
   */
  async #readPatiently(begin, end, request, probing) {
    const patience = new Patience(this.#client.retry, request.signal, begin);
    let at = begin;
    /** @param {Uint8Array} chunk */
    const deliver = (chunk) => {
      request.deliver(chunk);
      at += BigInt(chunk.length);
    };
    for (let answers = 0; at < end && !this.#identity.endsAt(at); answers++) {
      const from = at;
      try {
        await this.#readOnce(at, end, { ...request, deliver }, probing && at === 0n);
        if (probing && this.size === null && at > from) return;
        this.#checkProgress(from, at, answers);
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (!(error instanceof PassingFailure)) throw error;
        const goesOn = await patience.outlasts(error, at);
        if (!goesOn) throw this.#failed(error, patience.failures, begin, at, end);
        // A browser refuses a compressed answer to a range before anybody sees it: one last try without.
        if (probing && at === 0n && patience.isNearlyOver) {
          this.#asksRanges = error.status !== undefined;
        }
      }
    }
    if (at < end && !probing) throw endsEarly(this.name, this.size, end);
  }

  /**
   * @param {bigint} from
   * @param {bigint} at
   * @param {number} answers before this one
   */
  #checkProgress(from, at, answers) {
    if (at === from && !this.#identity.endsAt(at)) {
      throw new PassingFailure('the answer was empty');
    }
    if (answers >= MAX_ANSWERS) {
      throw new PassingFailure('the server gives only a few bytes at a time', { once: true });
    }
  }

  /**
   * One request and its answer.
   * @param {bigint} begin
   * @param {bigint} end
   * @param {ReadRequest} request
   * @param {boolean} first nothing is known of the file yet
   */
  async #readOnce(begin, end, request, first) {
    const { retry } = this.#client;
    const watch = new Watch(request.signal, retry.idleTimeout);
    const range = this.#asksRanges ? `bytes=${begin}-${end - 1n}` : null;
    try {
      const answer = await watch
        .race(this.#client.get(this.#url, range, watch.signal))
        .catch((cause) => {
          throw cause instanceof PassingFailure || cause instanceof GatedMLPError
            ? cause
            : networkFailure(cause);
        });
      if (answer.response.status === 416)
        return this.#outOfRange(answer.response, begin, end, first);
      const skip = this.#judge(answer, begin, first);
      if (skip > 0n) request.budget.require(skip, this.name);
      await this.#pour(answer.response, skip, Number(end - begin), request, watch);
    } finally {
      watch.close();
    }
  }

  /**
   * 416 to the first request means an empty file; later it means that the file is shorter than its header says.
   * @param {Response} response
   * @param {bigint} begin
   * @param {bigint} end
   * @param {boolean} first
   */
  #outOfRange(response, begin, end, first) {
    const total = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
    if (first) {
      this.#identity.size = total ? BigInt(total[1]) : 0n;
      if (this.#identity.size > begin)
        throw new PassingFailure('416 for a range that the file has', { status: 416 });
      return;
    }
    this.#identity.checkSize(total ? BigInt(total[1]) : null);
    if (total && BigInt(total[1]) > begin) {
      throw new PassingFailure('416 for a range that the file has', { status: 416 });
    }
    throw endsEarly(this.name, this.size, end);
  }

  /**
   * Decides whether an answer counts, and says how many bytes of it come before the ones asked for.
   * @param {{ response: Response, redirected: boolean }} answer
   * @param {bigint} begin
   * @param {boolean} first
   * @returns {bigint}
   */
  #judge({ response, redirected }, begin, first) {
    const { status, headers } = response;
    if (status === 206) {
      this.#identity.takePart(headers, begin);
      return 0n;
    }
    if (status === 200) {
      this.#identity.takeWhole(headers);
      // Later on it may be one server of many that ignores them.
      if (first) this.ignoresRanges = true;
      return begin;
    }
    throw this.#client.refusal(this.name, response, redirected);
  }

  /**
   * Hands over what was asked for of an answer's body and leaves the rest.
   * @param {Response} response
   * @param {bigint} skip bytes before
   * @param {number} want
   * @param {ReadRequest} request
   * @param {Watch} watch
   */
  async #pour(response, skip, want, { budget, deliver }, watch) {
    const reader = response.body?.getReader();
    let before = skip;
    let left = want;
    while (reader && left > 0) {
      const { done, value } = await watch.race(reader.read()).catch((cause) => {
        throw cause instanceof PassingFailure ? cause : networkFailure(cause, response.status);
      });
      if (done) break;
      watch.touch();
      const skipped = before < BigInt(value.length) ? Number(before) : value.length;
      if (skipped > 0) this.#identity.checkHead(value.subarray(0, skipped), skip - before);
      before -= BigInt(skipped);
      const ours = value.subarray(skipped, skipped + left);
      budget.spend(ours.length, value.length - ours.length, this.name);
      if (ours.length > 0) deliver(ours);
      left -= ours.length;
    }
    // The end of a body that says its length is at hand; reading it lets the connection be used again.
    if (
      reader &&
      left === 0 &&
      skip === 0n &&
      response.headers.get('content-length') === String(want)
    ) {
      await watch.race(reader.read()).catch(() => {});
    }
    if (before > 0n)
      throw new PassingFailure('the answer ended before the range began', {
        status: response.status,
      });
  }

  /**
   * @param {PassingFailure} last
   * @param {number} attempts
   * @param {bigint} begin
   * @param {bigint} at
   * @param {bigint} end
   */
  #failed(last, attempts, begin, at, end) {
    const whole = end === PAST_ANY_END ? '' : ` of ${end - begin}`;
    const got = `${at - begin}${whole} bytes from byte ${begin} arrived`;
    return new GatedMLPError(
      'ERR_HTTP',
      `${this.name}: ${last.message}; ${attempts} attempts, ${got}`,
      {
        status: last.status,
        url: this.name,
        attempts,
        cause: last.cause,
      },
    );
  }
}
