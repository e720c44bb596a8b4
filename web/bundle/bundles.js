/// <reference types="node" />
// Bundles the page's scripts and styles with esbuild, for the built site and for the offline file. It knows which module
// stands in for places.js, and nothing of HTML or of where the results go.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @typedef {import('esbuild').BuildOptions} BuildOptions */
/** @typedef {{ entry: string, files: { name: string, bytes: Uint8Array }[] }} Bundle  `entry`: the name of the one to load */

/** The first with light-dark(), which the page's colours are written in. */
const BROWSERS = ['es2022', 'chrome123', 'firefox120', 'safari17.5'];
export const CAPTURE_NAME = 'capture_hidden.py';
const WEB = fileURLToPath(new URL('..', import.meta.url));

/** The page's markup as it is served in development. */
export const readPage = () => readFileSync(`${WEB}index.html`, 'utf8');

/** What the load dialog gives away, to capture hidden states with. */
export const readCapture = () => readFileSync(`${WEB}${CAPTURE_NAME}`);

export const readIcon = () => readFileSync(`${WEB}icon.svg`);

/**
 * One script of web/ with all that it imports.
 * @param {string} entry
 * @param {string} places the module of bundle/ that stands in for places.js
 * @param {BuildOptions} [options]
 */
export function bundleScript(entry, places, options = {}) {
  const standIn = {
    name: 'places',
    /** @param {import('esbuild').PluginBuild} context */
    setup(context) {
      context.onResolve({ filter: /\/places\.js$/ }, () => ({ path: `${WEB}bundle/${places}` }));
    },
  };
  return bundle({ entryPoints: [`${WEB}${entry}`], format: 'esm', plugins: [standIn], ...options });
}

/** The page that shows how a map is embedded. */
export const readExample = () => readFileSync(`${WEB}embed.html`);

/** The stylesheets that the markup names, in its order. @param {string} html */
export function sheetsOf(html) {
  return [...html.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)].map(([, href]) => href);
}

/** Those of a map that is embedded elsewhere, as places.js has them. */
export const EMBEDDED_SHEETS = ['colours', 'map', 'gate-map'].map((name) => `styles/${name}.css`);

/**
 * Some stylesheets as one.
 * @param {string[]} sheets
 * @param {BuildOptions} [options]
 */
export function bundleStyles(sheets, options = {}) {
  const contents = sheets.map((href) => `@import "./${href}";`).join('\n');
  const stdin = {
    contents,
    loader: /** @type {const} */ ('css'),
    resolveDir: WEB,
    sourcefile: 'page.css',
  };
  return bundle({ stdin, entryNames: 'page-[hash]', ...options });
}

/**
 * @param {BuildOptions} options
 * @returns {Promise<Bundle>}
 */
async function bundle(options) {
  const { outputFiles = [], metafile } = await build({
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: WEB,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    target: BROWSERS,
    logLevel: 'error',
    ...options,
  });
  const entry = Object.entries(metafile?.outputs ?? {}).find(([, { entryPoint }]) => entryPoint);
  if (entry === undefined) throw new Error('esbuild made no entry');
  return {
    entry: basename(entry[0]),
    files: outputFiles.map(({ path, contents }) => ({ name: basename(path), bytes: contents })),
  };
}

/** The entry's own text. @param {Bundle} bundle */
export function textOf({ entry, files }) {
  const file = files.find(({ name }) => name === entry);
  return new TextDecoder().decode(file?.bytes);
}
