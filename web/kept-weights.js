// The "keep" box of the load dialog: how many bytes of weights the loader's cache holds in this browser, and a way to forget
// them. Where there is no Cache API (a page from disk, plain http) the box is not shown.

import { byId } from './dom.js';
import { megabytes } from './format.js';
import { loadText } from './load-text.js';

/** The cache that the loader uses when it is told to keep. */
const CACHE = 'gated-mlp';

export class KeptWeights {
  #box = /** @type {HTMLInputElement} */ (byId('load-keep'));
  #size = byId('load-kept');
  #forget = byId('load-forget');

  constructor() {
    this.#forget.addEventListener('click', async () => {
      await caches.delete(CACHE);
      await this.refresh();
    });
  }

  get isWanted() {
    return this.#box.checked;
  }

  /** Counts anew. */
  async refresh() {
    const bytes = await keptBytes().catch(() => null);
    byId('load-keeping').hidden = bytes === null;
    if (bytes === null) return;
    this.#size.textContent = bytes === 0 ? loadText.nothingKept : loadText.kept(megabytes(bytes));
    this.#forget.hidden = bytes === 0;
  }
}

async function keptBytes() {
  if (!(await caches.has(CACHE))) return 0;
  const cache = await caches.open(CACHE);
  const sizes = await Promise.all(
    (await cache.keys()).map(async (key) => {
      const entry = await cache.match(key);
      return Number(entry?.headers.get('content-length') ?? 0);
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
