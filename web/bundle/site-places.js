// places.js of the built site: every file lies beside the script that asks for it, under a name with a hash of its content.
// build-site.js puts the table of those names in place of `globalThis.siteFiles`.

const files = /** @type {{ siteFiles: Record<string, string> }} */ (
  /** @type {unknown} */ (globalThis)
).siteFiles;

/** @param {string} name */
const url = (name) => new URL(files[name], import.meta.url);

export const dataUrl = (/** @type {string} */ name) => url(name).href;

export const wasmUrl = () => url('gated-mlp.wasm').href;

export const answersUrl = () => url('embedded-answers.js').href;

export const pageUrl = () => new URL('.', import.meta.url).href;

export const styleUrls = () => [url('gate-map.css').href];

export const startWorker = () => new Worker(url('worker.js'), { type: 'module' });
