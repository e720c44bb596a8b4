// Who is asked, with which headers, and how many at once: the part of the network that all files of a checkpoint share.
// Secrets (a token, the caller's own headers) go to the origin they were given for and nowhere else; http.js reads
// files through `get`.

import { GatedMLPError } from './errors.js';
import { PassingFailure, parseRetryAfter, retryOptions } from './retry.js';

/**
 * @typedef {object} HttpOptions
 * @property {string} [token] sent as a bearer token, to the source's own origin only
 * @property {Record<string, string>} [headers] sent to the source's own origin only
 * @property {typeof fetch} [fetch]
 * @property {import('./retry.js').RetryOptions} [retry]
 */

const MAX_REDIRECTS = 10;
/** Besides 5xx: refusals that another try may not meet. */
const PASSING_STATUS = new Set([408, 425, 429]);

export class HttpClient {
  /** @type {Required<import('./retry.js').RetryOptions>} */
  retry;
  #origin;
  #token;
  #headers;
  #fetch;

  /**
   * @param {string} origin whose secrets the options hold
   * @param {HttpOptions} options
   */
  constructor(origin, { token, headers = {}, fetch = globalThis.fetch, retry = {} }) {
    this.retry = retryOptions(retry);
    this.#origin = origin;
    this.#token = token;
    this.#headers = headers;
    this.#fetch = fetch;
  }

  /**
   * @param {URL} url
   * @param {string | null} range
   * @param {AbortSignal} signal
   * @returns {Promise<{ response: Response, redirected: boolean }>}
   */
  async get(url, range, signal) {
    const secret = this.#token !== undefined || Object.keys(this.#headers).length > 0;
    if (!secret) {
      const response = await this.#send(url, this.#headersFor(url, range), signal, 'follow');
      return { response, redirected: response.redirected };
    }
    let at = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.#send(at, this.#headersFor(at, range), signal, 'manual');
      if (response.type === 'opaqueredirect') return this.#followBlindly(at, range, signal);
      const location =
        response.status >= 300 && response.status < 400 && response.headers.get('location');
      if (!location) return { response, redirected: hops > 0 };
      await response.body?.cancel();
      at = new URL(location, at);
      if (!/^https?:$/.test(at.protocol)) {
        throw new PassingFailure(`a redirect to ${at.protocol}`, { once: true });
      }
    }
    throw new PassingFailure(`more than ${MAX_REDIRECTS} redirects`, { once: true });
  }

  /**
   * A browser does not tell where a redirect leads, but drops `Authorization` by itself where it leads elsewhere. It
   * would carry other headers along, so those stay behind.
   * @param {URL} url
   * @param {string | null} range
   * @param {AbortSignal} signal
   */
  async #followBlindly(url, range, signal) {
    const headers = this.#headersFor(url, range);
    for (const name of Object.keys(this.#headers)) headers.delete(name);
    if (this.#token !== undefined && url.origin === this.#origin) {
      headers.set('authorization', `Bearer ${this.#token}`);
    }
    return { response: await this.#send(url, headers, signal, 'follow'), redirected: true };
  }

  /**
   * @param {URL} url
   * @param {string | null} range
   */
  #headersFor(url, range) {
    const own = url.origin === this.#origin;
    const headers = new Headers(own ? this.#headers : {});
    if (own && this.#token !== undefined) headers.set('authorization', `Bearer ${this.#token}`);
    if (range !== null) headers.set('range', range);
    return headers;
  }

  /**
   * Past the browser's own cache: it would queue requests for one URL behind each other, and may mix two versions.
   * @param {URL} url
   * @param {Headers} headers
   * @param {AbortSignal} signal
   * @param {RequestRedirect} redirect
   */
  #send(url, headers, signal, redirect) {
    const send = this.#fetch;
    return send(url.href, { headers, signal, redirect, cache: 'no-store' });
  }

  /**
   * The error an answer that is neither 200 nor 206 stands for.
   * @param {string} name of the file, for the message
   * @param {Response} response
   * @param {boolean} redirected
   */
  refusal(name, { status, headers }, redirected) {
    if (PASSING_STATUS.has(status) || status >= 500) {
      const retryAfter = parseRetryAfter(headers.get('retry-after'));
      return new PassingFailure(`the server answered ${status}`, { status, retryAfter });
    }
    if (status === 403 && redirected) {
      const words = '403 after a redirect; has the link expired?';
      return new PassingFailure(words, { status, once: true });
    }
    const context = { status, url: name, attempts: 1 };
    return new GatedMLPError('ERR_HTTP', `${name}: ${this.#wordsFor(status)}`, context);
  }

  /**
   * What a refusal means, in words.
   * @param {number} status
   */
  #wordsFor(status) {
    switch (status) {
      case 401:
        return this.#token === undefined
          ? '401: the server wants to know who asks. Pass { token }'
          : '401: the server does not accept the token it was given';
      case 403:
        return '403: access is not granted. A gated or private repository, or an expired link?';
      case 404:
        return '404: there is no such file';
      default:
        return `the server answered ${status}, which is no answer to a request for a file`;
    }
  }
}

/**
 * Headers that a request may not carry are a mistake of the caller, told before any request is made.
 * @param {HttpOptions} options
 */
export function checkHttpOptions({ token, headers = {} }) {
  try {
    const made = new Headers(headers);
    if (token !== undefined) made.set('authorization', `Bearer ${token}`);
  } catch {
    throw new GatedMLPError(
      'ERR_HTTP',
      'headers or token: not values that an HTTP header can have',
    );
  }
}
