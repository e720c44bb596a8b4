/// <reference types="node" />
// The whole page in one HTML file that opens from disk without a server or a network: script and styles inline and
// named by hash in its content security policy, fonts and icon as data: addresses, everything that the page would fetch as
// gzipped blocks that offline-places.js unpacks. build-site.js writes it.

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  bundleScript,
  bundleStyles,
  CAPTURE_NAME,
  readCapture,
  readIcon,
  readPage,
  sheetsOf,
  textOf,
} from './bundles.js';
import { licences } from './data-files.js';

/** @typedef {import('./build-site.js').File} File */

/** A source expression of a content security policy for an inline block. @param {string} text */
const cspHash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only what is in the file, and what the reader asks for by name in the load dialog. */
const policy = (/** @type {string} */ script, /** @type {string} */ styles) =>
  [
    "default-src 'none'",
    `script-src ${cspHash(script)} 'wasm-unsafe-eval'`,
    `style-src ${cspHash(styles)}`,
    'worker-src blob:',
    'connect-src data: blob: https: http://localhost:* http://127.0.0.1:*',
    'img-src data: blob:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/** @param {File} file */
function block({ name, bytes }) {
  const packed = gzipSync(bytes, { level: 9 }).toString('base64');
  return `<script type="application/gzip" data-file="${name}">${packed}</script>`;
}

/**
 * @param {File[]} data what the page fetches elsewhere
 * @returns {Promise<Uint8Array>}
 */
export async function offlineFile(data) {
  const html = readPage();
  const options = /** @type {const} */ ({ loader: { '.woff2': 'dataurl' } });
  const script = textOf(await bundleScript('bundle/offline-main.js', 'offline-places.js'));
  const styles = textOf(await bundleStyles(sheetsOf(html), options));
  const worker = await bundleScript('bundle/offline-worker.js', 'offline-places.js', {
    format: 'iife',
    define: { 'import.meta.url': 'location.href' },
  });
  const icon = `data:image/svg+xml;base64,${Buffer.from(readIcon()).toString('base64')}`;
  const capture = `data:text/x-python;base64,${Buffer.from(readCapture()).toString('base64')}`;
  const texts = licences().map(({ name, bytes }) => `${name}\n\n${Buffer.from(bytes)}`);
  const blocks = [...data, { name: 'worker.js', bytes: worker.files[0].bytes }].map(block);
  const tail = [
    ...blocks,
    `<script type="text/plain" data-licences>${texts.join('\n\n')}</script>`,
    `<script type="module">${script}</script>`,
  ];
  const page = html
    .replace(/(http-equiv="Content-Security-Policy" content=")[^"]+/, `$1${policy(script, styles)}`)
    .replace(/<link rel="(preload|stylesheet)"[^>]*>\n/g, '')
    .replace('<script type="module" src="main.js"></script>', () => `<style>${styles}</style>`)
    .replace('href="icon.svg"', `href="${icon}"`)
    .replace(`href="${CAPTURE_NAME}" download`, `href="${capture}" download="${CAPTURE_NAME}"`)
    .replace('</body>', () => `${tail.join('\n')}\n</body>`);
  return Buffer.from(page);
}
