// The bench in Chromium: bundles page.js, serves it from a loopback address to a cross-origin isolated page (whose clock
// is fine enough), and passes on what the page reports.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { findBrowser } from '../helpers/tools.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = '/tests/bench/page.html';
const SCRIPT = '/tests/bench/page.bundle.js';
const MODULES = '/tests/bench/node_modules/';
const TYPES = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};

/**
 * @param {import('./suite.js').Plan} plan
 * @param {string} only
 * @param {import('./suite.js').Listener} listener
 */
export async function runInBrowser(plan, only, listener) {
  await withPage(async ({ page, modules, engine, about }) => {
    await page.exposeFunction('missing', listener.missing);
    await page.exposeFunction('measured', listener.measured);
    listener.started(engine, about.variant, about.clock);
    await page.evaluate(`runBench(${JSON.stringify({ plan, modules, only })})`);
  });
}

/**
 * @typedef {object} Opened
 * @property {import('playwright-core').Page} page in which page.js runs
 * @property {string} origin of the repository's files
 * @property {string} modules URL of the folder in which the peers are installed
 * @property {string} engine
 * @property {{ variant: 'simd128' | 'relaxed', clock: string }} about
 */

/**
 * Server, browser and page for as long as the work takes.
 * @template T
 * @param {(opened: Opened) => Promise<T>} work
 */
export async function withPage(work) {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('There is no Chromium here; CHROMIUM names one.');
  const server = await serve(await bundle());
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(error));
    const { origin } = server;
    await page.goto(`${origin}${PAGE}`);
    const about = await page.evaluate('about()');
    if (!about.isolated) {
      throw new Error('The page is not cross-origin isolated: its clock is coarse.');
    }
    const engine = `Chromium ${browser.version()}`;
    return await work({ page, origin, modules: `${origin}${MODULES}`, engine, about });
  } finally {
    await browser.close();
    server.close();
  }
}

/** page.js and all that it imports; the library itself is loaded as it is, from where it is. */
async function bundle() {
  const { outputFiles } = await build({
    absWorkingDir: join(root, 'tests/bench'),
    entryPoints: ['page.js'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    outdir: '.',
    alias: { 'onnxruntime-web': 'onnxruntime-web/wasm' },
    external: ['node:*', 'fs', 'path', 'crypto', '../../src/binding/*'],
    logLevel: 'error',
  });
  return outputFiles[0].contents;
}

/** @param {Uint8Array} script */
async function serve(script) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url ?? '/', 'http://localhost');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    response.setHeader(
      'Content-Type',
      TYPES[/** @type {keyof typeof TYPES} */ (extname(pathname))] ?? '',
    );
    try {
      response.end(await content(pathname, script));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** @param {string} pathname @param {Uint8Array} script */
async function content(pathname, script) {
  if (pathname === SCRIPT) return script;
  if (pathname === PAGE) return `<!doctype html><script type="module" src="${SCRIPT}"></script>`;
  return readFile(join(root, normalize(decodeURIComponent(pathname))));
}
