// The C core as a native program under AddressSanitizer and UBSan: each tests/native/test_*.c is one test here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSanitizingCompilers } from './helpers/tools.js';
import { nativeTests, PRECISIONS, runNativeTest } from './native/run.js';

const [compiler] = findSanitizingCompilers();

test('there is a compiler with sanitizers, and something to compile', () => {
  assert.ok(compiler, 'neither gcc nor clang can build with -fsanitize=address,undefined');
  assert.ok(nativeTests().length > 0);
});

for (const [precision, flags] of Object.entries(PRECISIONS)) {
  for (const source of nativeTests()) {
    test(`${source} in ${precision} passes under ASan and UBSan`, (t) => {
      const lines = runNativeTest(compiler, source, flags).trimEnd().split('\n');
      t.diagnostic(`${lines.length} lines, the last: ${lines.at(-1)}`);
    });
  }
}
