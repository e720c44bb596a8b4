/// <reference types="node" />
// npm run build:site: the page as a static folder, build/site, that works under any path of any host without special
// headers. Every file but index.html, what is saved from it and what others embed has a hash of its content in its name, so a host
// may let browsers keep it for ever. Beside it lie gated-mlp-offline.html, the whole page in one file (offline-file.js), and
// gate-map.js with an example, embed.html.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleScript,
  bundleStyles,
  CAPTURE_NAME,
  EMBEDDED_SHEETS,
  readCapture,
  readExample,
  readIcon,
  readPage,
  sheetsOf,
  textOf,
} from './bundles.js';
import { dataFiles, licences } from './data-files.js';
import { offlineFile } from './offline-file.js';

/** @typedef {{ name: string, bytes: Uint8Array }} File */

export const SITE = fileURLToPath(new URL('../../build/site/', import.meta.url));
export const OFFLINE_NAME = 'gated-mlp-offline.html';

/** @param {File} file */
function hashed({ name, bytes }) {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 10);
  const { name: stem, ext } = parse(name);
  return `${stem}-${hash}${ext}`;
}

/**
 * @param {string} html
 * @param {string} before
 * @param {string} after
 */
function replaced(html, before, after) {
  if (!html.includes(before)) throw new Error(`index.html has no ${before}`);
  return html.replace(before, after);
}

/**
 * The markup with the built files' names in it.
 * @param {string} html
 * @param {{ script: string, styles: string, icon: string, fonts: string[] }} names
 * @param {number} offlineBytes
 */
function siteMarkup(html, { script, styles, icon, fonts }, offlineBytes) {
  let page = html.replace(/(<link rel="stylesheet" href=")[^"]+(">\n)/, `$1${styles}$2`);
  page = page.replace(/<link rel="stylesheet" href="styles\/[^"]+">\n/g, '');
  page = replaced(page, 'src="main.js"', `src="${script}"`);
  page = replaced(page, 'href="icon.svg"', `href="${icon}"`);
  for (const font of fonts) {
    const stem = font.replace(/-[A-Z0-9]+\.woff2$/, '');
    page = replaced(page, `href="fonts/${stem}.woff2"`, `href="${font}"`);
  }
  const size = `${(offlineBytes / 1e6).toFixed(0)} MB`;
  return replaced(
    page,
    '<span id="offline-file" hidden></span>',
    `<a id="offline-file" href="${OFFLINE_NAME}" download>This page as one file that works offline (${size})</a>`,
  );
}

/** Builds everything into `folder`, which is made anew. @param {string} [folder] */
export async function buildSite(folder = SITE) {
  const html = readPage();
  const data = dataFiles();
  const worker = await bundleScript('worker.js', 'site-places.js', siteTable(data));
  const answers = await bundleScript('embedded-answers.js', 'site-places.js', siteTable(data));
  const embeddedStyles = Buffer.from(textOf(await bundleStyles(EMBEDDED_SHEETS)));
  const named = [
    ...data,
    { name: 'worker.js', bytes: worker.files[0].bytes },
    { name: 'embedded-answers.js', bytes: answers.files[0].bytes },
    { name: 'gate-map.css', bytes: embeddedStyles },
  ];
  const script = await bundleScript('main.js', 'site-places.js', {
    ...siteTable(named),
    splitting: true,
  });
  const embedded = await bundleScript('gate-map.js', 'site-places.js', {
    ...siteTable(named),
    splitting: true,
    entryNames: '[name]',
  });
  const styles = await bundleStyles(sheetsOf(html), { loader: { '.woff2': 'file' } });
  const icon = { name: 'icon.svg', bytes: readIcon() };
  const offline = await offlineFile(data);
  const fonts = styles.files.map(({ name }) => name).filter((name) => name.endsWith('.woff2'));
  const names = { script: script.entry, styles: styles.entry, icon: hashed(icon), fonts };
  /** @type {File[]} */
  const files = [
    ...[...named, icon].map((file) => ({ name: hashed(file), bytes: file.bytes })),
    ...script.files,
    ...embedded.files,
    ...styles.files,
    ...licences(),
    { name: OFFLINE_NAME, bytes: offline },
    { name: CAPTURE_NAME, bytes: readCapture() },
    { name: 'embed.html', bytes: readExample() },
    { name: 'index.html', bytes: Buffer.from(siteMarkup(html, names, offline.length)) },
  ];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of files) writeFileSync(`${folder}/${name}`, bytes);
  return files;
}

/** @param {File[]} files */
function siteTable(files) {
  const table = Object.fromEntries(files.map((file) => [file.name, hashed(file)]));
  return { define: { 'globalThis.siteFiles': JSON.stringify(table) } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await buildSite();
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  process.stdout.write(`${SITE}: ${files.length} files, ${(total / 1e6).toFixed(1)} MB\n`);
}
