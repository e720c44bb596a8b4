// Which compiled files of src/core a change to one of its files reaches, and whether it made a difference there.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} folder that holds the core
 * @param {string} changed a .c or .h file in it
 * @returns {string[]} the .c files that are it or include it, directly or not
 */
export function touchedBy(folder, changed) {
  /** @type {Set<string>} */
  const reached = new Set([changed]);
  const sources = readdirSync(folder)
    .filter((name) => /\.[ch]$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  // A set is walked in the order in which it grows: headers that include a header come after it.
  for (const name of reached) {
    for (const source of sources) {
      if (source.text.includes(`#include "${name}"`)) reached.add(source.name);
    }
  }
  return [...reached].filter((name) => name.endsWith('.c'));
}

/** @param {string} a @param {string} b paths of two files */
export const sameBytes = (a, b) => readFileSync(a).equals(readFileSync(b));
