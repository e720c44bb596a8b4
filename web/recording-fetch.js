// A fetch that keeps a copy of the byte ranges that pass through it, so that a whole file can be hashed although it was
// only ever read by ranges and never twice. The worker hands it to openCheckpoint; it knows nothing of safetensors.

export class FileRecorder {
  /** @type {Uint8Array<ArrayBuffer> | null} */
  #file = null;
  /** Received pieces as [start, end), end exclusive. @type {[number, number][]} */
  #pieces = [];

  /** @type {typeof globalThis.fetch} */
  fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (response.body === null || !response.ok) return response;
    const place = placeOf(response);
    if (place === null) return response;
    this.#file ??= new Uint8Array(place.size);
    let at = place.start;
    const tap = new TransformStream({
      transform: (/** @type {Uint8Array} */ chunk, controller) => {
        this.#take(chunk, at);
        at += chunk.length;
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers, url, redirected } = response;
    const tapped = new Response(response.body.pipeThrough(tap), { status, statusText, headers });
    // A constructed Response has no address of its own, and the loader may want the one a redirect led to.
    Object.defineProperties(tapped, { url: { value: url }, redirected: { value: redirected } });
    return tapped;
  };

  /**
   * @param {Uint8Array} chunk
   * @param {number} at
   */
  #take(chunk, at) {
    if (this.#file === null || at + chunk.length > this.#file.length) return;
    this.#file.set(chunk, at);
    this.#pieces.push([at, at + chunk.length]);
  }

  /**
   * SHA-256 of the file in hexadecimal; null where a byte of it never passed, or the browser cannot hash here.
   * @returns {Promise<string | null>}
   */
  async digest() {
    if (this.#file === null || !isCovered(this.#pieces, this.#file.length)) return null;
    const subtle = globalThis.crypto?.subtle;
    if (subtle === undefined) return null;
    const hash = new Uint8Array(await subtle.digest('SHA-256', this.#file));
    this.#file = null;
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}

/**
 * Where a response's body lies in its file.
 * @param {Response} response
 */
function placeOf(response) {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (range !== null) return { start: Number(range[1]), size: Number(range[2]) };
  const size = Number(response.headers.get('content-length') ?? Number.NaN);
  return response.status === 200 && size > 0 ? { start: 0, size } : null;
}

/**
 * @param {[number, number][]} pieces
 * @param {number} size
 */
function isCovered(pieces, size) {
  let reached = 0;
  for (const [start, end] of [...pieces].sort((p, q) => p[0] - q[0])) {
    if (start > reached) return false;
    reached = Math.max(reached, end);
  }
  return reached === size;
}
