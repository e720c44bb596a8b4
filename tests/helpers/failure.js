// What a promise was rejected with, for tests that look closely at the loader's errors.

import assert from 'node:assert/strict';

/** @typedef {import('../../src/binding/index.js').GatedMLPError & Record<string, unknown>} LoadError */

/** @param {Promise<unknown>} promise @returns {Promise<LoadError>} */
export const failure = (promise) =>
  promise.then(
    () => assert.fail('resolved'),
    (reason) => reason,
  );
