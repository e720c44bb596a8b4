// places.js of the offline file: what the page needs lies gzipped in <script> blocks of the document, which `unpack` turns
// into bytes before the page starts. The worker is a blob, since a page from disk may start no other. WebKit lets such a
// worker read no blob, not even its own, so it is sent the bytes, and offline-worker.js answers its requests from them.

const WORKER = 'worker.js';
/** A host that cannot exist. */
const INSIDE = 'https://inside.invalid/';

/** @typedef {Record<string, ArrayBuffer>} Files by name */

/** @type {Files} */
let files = {};
/** @type {(name: string) => string} */
let addressOf = () => '';

export const dataUrl = (/** @type {string} */ name) => addressOf(name);

export const wasmUrl = () => addressOf('gated-mlp.wasm');

/** In the worker: takes the files; their addresses mean something to `answerFor` alone. @param {Files} sent */
export function adopt(sent) {
  files = sent;
  addressOf = (name) => INSIDE + name;
}

/**
 * What a server would answer for one of the worker's addresses; null: an address of another kind.
 * @param {string} address
 * @param {string | null} range the header
 */
export function answerFor(address, range) {
  if (!address.startsWith(INSIDE)) return null;
  const bytes = files[address.slice(INSIDE.length)];
  if (bytes === undefined) return new Response(null, { status: 404 });
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const begin = Number(first ?? 0);
  const part = bytes.slice(begin, last === undefined ? undefined : Number(last) + 1);
  const headers = { 'content-length': String(part.byteLength) };
  if (first === undefined) return new Response(part, { headers });
  const place = `bytes ${begin}-${begin + part.byteLength - 1}/${bytes.byteLength}`;
  return new Response(part, { status: 206, headers: { ...headers, 'content-range': place } });
}

/** In the page: unpacks every block. What it fetches itself gets an address. */
export async function unpack() {
  const blocks = [...document.querySelectorAll('script[data-file]')];
  const entries = await Promise.all(
    blocks.map(async (block) => {
      const packed = await fetch(`data:;base64,${block.textContent?.trim()}`);
      const bytes = /** @type {ReadableStream<BufferSource>} */ (packed.body);
      const stream = bytes.pipeThrough(new DecompressionStream('gzip'));
      block.remove();
      const name = String(block.getAttribute('data-file'));
      return /** @type {const} */ ([name, await new Response(stream).arrayBuffer()]);
    }),
  );
  files = Object.fromEntries(entries);
  const own = Object.fromEntries(
    entries
      .filter(([name]) => /\.js(on)?$/.test(name))
      .map(([name, bytes]) => [name, URL.createObjectURL(new Blob([bytes]))]),
  );
  addressOf = (name) => own[name] ?? '';
}

export function startWorker() {
  const worker = new Worker(addressOf(WORKER));
  worker.postMessage(files, Object.values(files));
  return worker;
}
