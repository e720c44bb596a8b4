/// <reference types="node" />
// What the built page takes along besides its code: the module, the shipped layers and texts, their checksums and licences.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layerFile, SHIPPED } from '../models.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CHECKSUMS = 'SHA256SUMS';

/** Files that the page fetches, by the names under which it asks for them. @returns {{ name: string, bytes: Uint8Array }[]} */
export function dataFiles() {
  const layers = SHIPPED.layers.map(layerFile);
  const { hiddenUrl, promptsUrl, whatIfUrl } = SHIPPED;
  const fixtures = [...layers, ...[hiddenUrl, promptsUrl, whatIfUrl].map((url) => basename(url))];
  return [
    { name: 'gated-mlp.wasm', bytes: readFileSync(`${ROOT}src/binding/gated-mlp.wasm`) },
    ...fixtures.map((name) => ({ name, bytes: readFileSync(`${ROOT}fixtures/${name}`) })),
    { name: CHECKSUMS, bytes: Buffer.from(checksums(layers)) },
  ];
}

/** Lines of the checksum list that the page looks up: those of the layers. @param {string[]} layers */
function checksums(layers) {
  const lines = readFileSync(`${ROOT}fixtures/${CHECKSUMS}`, 'utf8').split('\n');
  return lines.filter((line) => layers.some((name) => line.endsWith(` ${name}`))).join('\n');
}

/** Texts that must go wherever the files go. @returns {{ name: string, bytes: Uint8Array }[]} */
export function licences() {
  const places = {
    'LICENSE.txt': 'LICENSE',
    'LICENSE-smollm2.txt': 'fixtures/LICENSE-smollm2.txt',
    'LICENSE-source-sans-3.txt': 'web/fonts/LICENSE-source-sans-3.txt',
    'LICENSE-source-serif-4.txt': 'web/fonts/LICENSE-source-serif-4.txt',
  };
  return Object.entries(places).map(([name, path]) => ({ name, bytes: readFileSync(ROOT + path) }));
}
