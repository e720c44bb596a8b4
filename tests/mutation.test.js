// The nine faults that a user would not see until the output is fluent garbage: each is patched into a copy of the sources, built,
// and must be noticed by the test it names. `npm run test:mutation` does so with the others, and with mutants made by a program.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { NAMED_FAULTS } from './mutation/faults.js';
import { copyTree, passes, tryFault, variantFor } from './mutation/patched-tree.js';

const tree = copyTree();
after(() => tree.dispose());

test('without a fault the tests they name pass', () => {
  assert.equal(NAMED_FAULTS.length, 9);
  tree.modules.prepare([...new Set(NAMED_FAULTS.map((fault) => variantFor(fault.test)))]);
  for (const { test: file, title } of NAMED_FAULTS)
    assert.ok(passes(tree.folder, file, title), title);
});

for (const fault of NAMED_FAULTS) {
  test(`"${fault.name}" is noticed by "${fault.title}"`, () => {
    assert.equal(tryFault(tree, fault), 'noticed');
  });
}
