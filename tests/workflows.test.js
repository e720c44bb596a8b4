// The workflows in .github/: the commands they run are there, and the site is published from where it is built. Whether GitHub
// would accept the files is actionlint's to say.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SITE } from '../web/bundle/build-site.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = `${ROOT}.github/workflows/`;
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const workflows = new Map(
  readdirSync(FOLDER).map((name) => [name, readFileSync(FOLDER + name, 'utf8')]),
);

/** The entries of a list in YAML. @param {string} yaml @param {string} key */
function listOf(yaml, key) {
  const [, block = ''] = new RegExp(`^ +${key}:\\n((?: +- .+\\n)+)`, 'm').exec(yaml) ?? [];
  return [...block.matchAll(/- (.+)/g)].map(([, entry]) => entry);
}

test('every command that a workflow runs is a script of package.json', () => {
  for (const [name, yaml] of workflows) {
    const commands = [...yaml.matchAll(/run: npm run (\S.*)/g)].flatMap(([, command]) =>
      command.includes('matrix.command') ? listOf(yaml, 'command') : [command],
    );
    assert.ok(commands.length > 0, name);
    for (const command of commands) assert.ok(command in scripts, `${name}: ${command}`);
  }
});

test('the published folder is the one that build:site writes', () => {
  const [, path] = /path: (\S+)/.exec(workflows.get('pages.yml') ?? '') ?? [];
  assert.equal(path, relative(ROOT, SITE));
});
