// The goldens of checkpoint families: which there are, their files as a server has them, and a server that has them.

import { readdirSync, readFileSync } from 'node:fs';
import { FaultServer } from './fault-server.js';
import { fixture, readJson } from './goldens.js';

/** @typedef {{ family: string, kind: 'split' | 'fused' | 'moe', layers: string[] }} FamilyGolden */

export const FOLDER = 'goldens/families';
export const ROWS = 'goldens/family-rows';

/** Whole models, with gradients where they are dense. @type {FamilyGolden[]} */
export const goldens = readJson('goldens/index.json').families;
/** Further rows of the table. @type {{ family: string, mlps: { prefix: string, expert: number | null, layer?: number }[] }[]} */
export const rows = readJson('goldens/family-rows.json').rows;

/** By path, which begins with the family. @type {Record<string, Buffer>} */
export const files = {};
for (const folder of [
  ...goldens.map((g) => `${FOLDER}/${g.family}`),
  ...rows.map((r) => `${ROWS}/${r.family}`),
]) {
  for (const name of readdirSync(fixture(folder))) {
    files[`/${folder.split('/').at(-1)}/${name}`] = readFileSync(fixture(`${folder}/${name}`));
  }
}

/** A server of all of them, which the caller closes. */
export const serveFamilies = () => FaultServer.start(files);
