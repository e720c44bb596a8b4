// Where the page finds what is not its own code: its worker, the wasm module, the data files. In the repository they lie
// where they were made; bundle/ puts another module of the same exports in place of this one for the built site, whose
// files have hashed names, and for the offline file, which carries them inside.

/** @param {string} name a file of fixtures/ */
export const dataUrl = (name) => new URL(`../fixtures/${name}`, import.meta.url).href;

/** The module for every machine; undefined: where the package itself keeps it. @returns {string | undefined} */
export const wasmUrl = () => undefined;

/** The computing of a map that is embedded elsewhere, a script that is fetched by its address. */
export const answersUrl = () => new URL('./embedded-answers.js', import.meta.url).href;

/** Where the page itself lies, for a map that is embedded elsewhere. */
export const pageUrl = () => new URL('.', import.meta.url).href;

/** The styles of such a map. */
export const styleUrls = () =>
  ['colours', 'map', 'gate-map'].map((name) => new URL(`styles/${name}.css`, import.meta.url).href);

export const startWorker = () =>
  new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
