// places.js of the offline file: what the page needs lies gzipped in <script> blocks of the document, which `unpack` turns
// into blobs before the page starts. The worker is a blob as well, since a page from disk may start no other. A blob:
// address means nothing outside of the place that made it, so the worker is sent the blobs and makes its own.

const WORKER = 'worker.js';

/** @typedef {Record<string, Blob>} Blobs by file name */

/** @type {Blobs} */
let blobs = {};
/** @type {Record<string, string>} */
let addresses = {};

export const dataUrl = (/** @type {string} */ name) => addresses[name];

export const wasmUrl = () => addresses['gated-mlp.wasm'];

/** Gives every file an address here. @param {Blobs} files */
export function adopt(files) {
  blobs = files;
  addresses = Object.fromEntries(
    Object.entries(files).map(([name, blob]) => [name, URL.createObjectURL(blob)]),
  );
}

/** The file behind an address of this table, as an answer. @param {string} address */
export function answerFor(address) {
  const name = Object.keys(addresses).find((candidate) => addresses[candidate] === address);
  if (name === undefined) return null;
  return new Response(blobs[name], { headers: { 'content-length': String(blobs[name].size) } });
}

/** Unpacks every block of the document. Only in the page. */
export async function unpack() {
  const blocks = [...document.querySelectorAll('script[data-file]')];
  const entries = await Promise.all(
    blocks.map(async (block) => {
      const packed = await fetch(`data:;base64,${block.textContent?.trim()}`);
      const bytes = /** @type {ReadableStream<BufferSource>} */ (packed.body);
      const stream = bytes.pipeThrough(new DecompressionStream('gzip'));
      block.remove();
      return [String(block.getAttribute('data-file')), await new Response(stream).blob()];
    }),
  );
  adopt(Object.fromEntries(entries));
}

export function startWorker() {
  const worker = new Worker(addresses[WORKER]);
  worker.postMessage(blobs);
  return worker;
}
