// The nine faults that a user would not see until the output is fluent garbage: each is patched into a copy of the sources, built,
// and must be noticed by the test it names. `npm run test:mutation` does so with the others, and with mutants made by a program.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { NAMED_FAULTS, OTHER_FAULTS } from './mutation/faults.js';
import { HARMLESS } from './mutation/harmless.js';
import { copyTree, passes, tryFault, variantFor } from './mutation/patched-tree.js';

const tree = copyTree();
after(() => tree.dispose());

test('without a fault the tests they name pass', () => {
  assert.equal(NAMED_FAULTS.length, 9);
  tree.modules.prepare([...new Set(NAMED_FAULTS.map((fault) => variantFor(fault.test)))]);
  for (const { test: file, title } of NAMED_FAULTS)
    assert.ok(passes(tree.folder, file, title), title);
});

test('every fault that is patched in has its one place in the sources', () => {
  for (const { name, file, find } of [...NAMED_FAULTS, ...OTHER_FAULTS]) {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    assert.equal(source.split(find).length - 1, 1, `${name}: ${find}`);
  }
});

test('every mutant that is explained is one of a line of the sources', () => {
  for (const { file, before } of HARMLESS) {
    const source = readFileSync(new URL(`../src/core/${file}`, import.meta.url), 'utf8');
    assert.ok(
      source.split('\n').some((line) => line.trim() === before),
      `${file}: ${before}`,
    );
  }
});

for (const fault of NAMED_FAULTS) {
  test(`"${fault.name}" is noticed by "${fault.title}"`, () => {
    assert.equal(tryFault(tree, fault), 'noticed');
  });
}
