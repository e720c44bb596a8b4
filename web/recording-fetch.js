// A fetch that keeps a copy of the byte ranges that pass through it, so that a whole file can be hashed although it was
// only ever read by ranges and never twice. The worker hands it to openCheckpoint; it knows nothing of safetensors.

export class FileRecorder {
  /** Of the file; null: not known, since pages of other sites may not read content-range. @type {number | null} */
  #size = null;
  /** What was received, and where it begins. @type {{ start: number, bytes: Uint8Array }[]} */
  #pieces = [];

  /** @type {typeof globalThis.fetch} */
  fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (response.body === null || !response.ok) return response;
    const place = placeOf(response, new Headers(init?.headers).get('range') ?? '');
    if (place === null) return response;
    this.#size ??= place.size;
    let at = place.start;
    const tap = new TransformStream({
      transform: (/** @type {Uint8Array} */ chunk, controller) => {
        this.#pieces.push({ start: at, bytes: chunk.slice() });
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
   * SHA-256 of the file in hexadecimal; null where a byte of it never passed, or the browser cannot hash here.
   * @returns {Promise<string | null>}
   */
  async digest() {
    const file = joined(this.#pieces);
    this.#pieces = [];
    if (file === null || file.length !== (this.#size ?? file.length)) return null;
    const subtle = globalThis.crypto?.subtle;
    if (subtle === undefined) return null;
    const hash = new Uint8Array(await subtle.digest('SHA-256', file));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}

/**
 * Where a response's body lies in its file.
 * @param {Response} response
 * @param {string} asked the request's range
 * @returns {{ start: number, size: number | null } | null}
 */
function placeOf(response, asked) {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (range !== null) return { start: Number(range[1]), size: Number(range[2]) };
  const [, start] = /^bytes=(\d+)-/.exec(asked) ?? [];
  if (response.status === 206)
    return start === undefined ? null : { start: Number(start), size: null };
  const size = Number(response.headers.get('content-length') ?? Number.NaN);
  return response.status === 200 && size > 0 ? { start: 0, size } : null;
}

/**
 * One array from the beginning to the last byte; null where one between them is missing.
 * @param {{ start: number, bytes: Uint8Array }[]} pieces
 */
function joined(pieces) {
  if (pieces.length === 0) return null;
  const end = pieces.reduce((most, { start, bytes }) => Math.max(most, start + bytes.length), 0);
  const file = new Uint8Array(end);
  let reached = 0;
  for (const { start, bytes } of [...pieces].sort((p, q) => p.start - q.start)) {
    if (start > reached) return null;
    file.set(bytes, start);
    reached = Math.max(reached, start + bytes.length);
  }
  return file;
}
