// places.js of the offline file: what the page needs lies gzipped in <script> blocks of the document, which `unpack` turns
// into blob: addresses before the page starts. The worker is a blob as well, since a page from disk may start no other;
// its first statement is the table of addresses.

const WORKER = 'worker.js';

/** Addresses by file name; the worker finds the table there. */
const shared = /** @type {{ unpackedFiles?: Record<string, string> }} */ (
  /** @type {unknown} */ (globalThis)
);
shared.unpackedFiles ??= {};
const files = shared.unpackedFiles;
/** @type {Blob | undefined} */
let workerCode;

export const dataUrl = (/** @type {string} */ name) => files[name];

export const wasmUrl = () => files['gated-mlp.wasm'];

/** Unpacks every block of the document. Only in the page. */
export async function unpack() {
  const blocks = document.querySelectorAll('script[data-file]');
  await Promise.all(
    [...blocks].map(async (block) => {
      const packed = await fetch(`data:;base64,${block.textContent?.trim()}`);
      const bytes = /** @type {ReadableStream<BufferSource>} */ (packed.body);
      const stream = bytes.pipeThrough(new DecompressionStream('gzip'));
      const blob = await new Response(stream).blob();
      const name = String(block.getAttribute('data-file'));
      if (name === WORKER) workerCode = blob;
      else files[name] = URL.createObjectURL(blob);
      block.remove();
    }),
  );
}

export function startWorker() {
  const table = `globalThis.unpackedFiles = ${JSON.stringify(files)};\n`;
  const code = new Blob([table, workerCode ?? ''], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(code));
}
