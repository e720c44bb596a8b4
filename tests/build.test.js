// What build.sh makes: the same bytes anywhere, nothing in them that tells where, and no more imports than the binding gives.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const wasm = readFileSync(join(root, 'src/binding/gated-mlp.wasm'));
const module = new WebAssembly.Module(wasm);

test('a build in another folder gives the same bytes', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src/binding'), { recursive: true });
  cpSync(join(root, 'build.sh'), join(folder, 'build.sh'));
  cpSync(join(root, 'src/core'), join(folder, 'src/core'), { recursive: true });
  execFileSync('bash', ['build.sh'], { cwd: folder });
  assert.ok(readFileSync(join(folder, 'src/binding/gated-mlp.wasm')).equals(wasm));
});

test('the module has no debug, name or producers section', () => {
  for (const section of ['name', 'producers', 'sourceMappingURL', '.debug_info', '.debug_line']) {
    assert.equal(WebAssembly.Module.customSections(module, section).length, 0, section);
  }
});

test('the module asks its host for nothing but to hear of memory growth', () => {
  const imports = WebAssembly.Module.imports(module).map(
    ({ module: from, name }) => `${from}.${name}`,
  );
  assert.deepEqual(
    imports.filter((each) => each !== 'env.emscripten_notify_memory_growth'),
    [],
  );
});

test('every EXPORT of exports.c is exported', () => {
  const source = readFileSync(join(root, 'src/core/exports.c'), 'utf8');
  const wanted = [...source.matchAll(/^EXPORT\((\w+)\)/gm)].map(([, name]) => name);
  assert.ok(wanted.length > 0);
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  assert.deepEqual(
    wanted.filter((name) => !exported.has(name)),
    [],
  );
});
