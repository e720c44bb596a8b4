// Runtimes as they are on a page's main thread, in Node, and copies of the binding whose files a test replaces.
// For the tests of threads; what needs a browser is in tests/browser/threads.test.js.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Runtime } from '../../src/binding/index.js';

export const BINDING = new URL('../../src/binding/', import.meta.url);

/**
 * A runtime as it is on a page's main thread, which must not wait for others.
 * @param {number} threads
 * @param {typeof Runtime} [Class] of another copy of the binding
 */
export async function pageRuntime(threads, Class = Runtime) {
  Object.assign(globalThis, { document: {} });
  try {
    return await Class.create({ variant: 'simd128', threads });
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
}

/** A copy of the binding, as it may be deployed. @param {import('node:test').TestContext} t */
export function deployed(t) {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-threads-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(BINDING, folder, { recursive: true });
  return folder;
}
