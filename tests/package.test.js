// What a user gets: the package is packed, installed into an empty folder, and used from there as the README says.
// Also the one place where byte budgets are held.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { publint } from 'publint';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gated-mlp-package-'));
after(() => rmSync(folder, { recursive: true }));

const packed = JSON.parse(
  npm(['pack', '--json', '--loglevel=error', '--pack-destination', folder], root).replace(
    /^[^[{]*(?=[[{])/,
    '',
  ),
);
const [{ filename, files, size }] = Object.values(packed);
const tarball = join(folder, filename);
const consumer = join(folder, 'consumer');
mkdirSync(consumer);
writeFileSync(join(consumer, 'package.json'), '{ "name": "consumer", "private": true }\n');
npm(['install', '--offline', '--no-audit', '--no-fund', tarball], consumer);
const installed = join(consumer, 'node_modules/gated-mlp');
const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));

/** @param {string[]} args @param {string} cwd */
function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 16 << 20 });
}

/** @param {string} source an ES module @param {string[]} [flags] */
function runModule(source, flags = []) {
  const file = join(consumer, 'use.mjs');
  writeFileSync(file, source);
  return spawnSync(process.execPath, [...flags, file], { cwd: consumer, encoding: 'utf8' });
}

test("the README's lines of use run from an installed package and print the worked example", () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const source = readme.match(/^## Use[^\n]*\n[\s\S]*?^```js\n([\s\S]*?)^```/m)?.[1];
  assert.ok(source, 'README.md has no js block under "## Use"');
  assert.ok(source.trim().split('\n').length <= 10);
  const { status, stdout, stderr } = runModule(source);
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.match(/\d\.\d{6}/g), ['4.386352', '5.047152']);
  assert.equal(stderr, '');
});

test('the package holds the binding, the command, the module, its C sources and types, and nothing else', () => {
  const paths = files.map((/** @type {{ path: string }} */ { path }) => path);
  const known =
    /^(src\/binding\/[\w-]+\.(js|wasm)|src\/cli\/[\w-]+\.js|src\/core\/\w+\.[ch]|types\/[\w-]+\.d\.ts|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
  assert.deepEqual(
    paths.filter((/** @type {string} */ path) => !known.test(path)),
    [],
  );
  for (const path of [
    'src/binding/index.js',
    'src/binding/gated-mlp.wasm',
    'src/core/gated_mlp.h',
    'LICENSE',
  ]) {
    assert.ok(paths.includes(path), path);
  }
});

test('every file that exports names is there', () => {
  const targets = Object.values(manifest.exports).flatMap((value) =>
    typeof value === 'string' ? [value] : Object.values(value),
  );
  for (const target of targets) assert.ok(existsSync(join(installed, target)), target);
});

test('the package has no runtime dependency and publint finds nothing in it', async () => {
  assert.equal(manifest.dependencies, undefined);
  const { messages } = await publint({
    pkgDir: installed,
    level: 'suggestion',
    strict: true,
    pack: false,
  });
  assert.deepEqual(messages, []);
});

test('importing it does nothing: no wasm, no fetch, no worker is needed until something is made', () => {
  const { status, stderr } = runModule(`
    delete globalThis.WebAssembly;
    delete globalThis.fetch;
    delete globalThis.Worker;
    const { GatedMLP } = await import('gated-mlp');
    if (typeof GatedMLP.create !== 'function') throw new Error('no GatedMLP');
  `);
  assert.equal(status, 0, stderr);
});

test('the module can be had by its own sub-path and handed in', () => {
  const { status, stdout, stderr } = runModule(`
    import { readFileSync } from 'node:fs';
    import { createRequire } from 'node:module';
    import { Runtime } from 'gated-mlp';
    const path = createRequire(import.meta.url).resolve('gated-mlp/gated-mlp.wasm');
    const runtime = await Runtime.create({ wasm: await WebAssembly.compile(readFileSync(path)) });
    console.log(runtime.llamaFfnDim(4096));
  `);
  assert.equal(status, 0, stderr);
  assert.equal(stdout.trim(), '11008');
});

for (const [module, resolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]) {
  test(`its types are found and hold under moduleResolution ${resolution}`, () => {
    writeFileSync(
      join(consumer, 'use.mts'),
      readFileSync(join(root, 'tests/helpers/consumer.mts')),
    );
    const { status, stdout } = spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', ''].concat([
        '--module',
        module,
        '--moduleResolution',
        resolution,
        'use.mts',
      ]),
      { cwd: consumer, encoding: 'utf8' },
    );
    assert.equal(stdout, '');
    assert.equal(status, 0);
  });
}

test('byte budgets hold: module, minified binding, tarball', (t) => {
  const [wasm, relaxed] = ['gated-mlp.wasm', 'gated-mlp-relaxed.wasm'].map((name) =>
    readFileSync(join(installed, 'src/binding', name)),
  );
  const { outputs } = buildSync({
    entryPoints: [join(installed, 'src/binding/index.js')],
    outdir: join(folder, 'bundle'),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    metafile: true,
  }).metafile;
  const binding = together(outputs, 'index.js');
  const loader = new Set([...together(outputs, 'checkpoint.js')].filter((p) => !binding.has(p)));
  const bytes = (/** @type {Set<string>} */ paths) => [...paths].map((path) => readFileSync(path));
  const raw = (/** @type {Set<string>} */ paths) => Buffer.concat(bytes(paths)).length;
  const gz = (/** @type {Set<string>} */ paths) =>
    bytes(paths).reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
  const sizes = {
    // Without relaxed SIMD a register tile of its own expands bfloat16, which is a fifth of a few tokens' time; quantised
    // weights of many tokens are added up over runs of blocks, which is 7 to 18 %. Many panels at a time are 4 to 17 % of one token's
    // time, panels abreast 3 to 10 % of up to 31 tokens'. A tile that goes by two steps is 4 to 5 % of 16 tokens' time and more, and
    // tiles of Q8_0 apart, for the first rows and the others, 2 to 3 %.
    'module, raw': [wasm.length, 75_500],
    'module, gzip': [gzipSync(wasm, { level: 9 }).length, 40_000],
    // The newer LLVM that knows these opcodes makes more of the same sources, quantised weights have kernels on bytes,
    // too, for the processors that multiply those at once, and the register tile has six rows and reads bfloat16, too.
    // All strips of a panel in quads are expanded together, which is 7 % of 16 tokens' time out of memory. Where there are no
    // quads, many tokens are added up over runs of blocks, which is 7 to 18 %, panels lie abreast, which is 3 to 10 %, and the
    // first rows have a tile of Q8_0 of their own.
    'relaxed module, raw': [relaxed.length, 90_500],
    'relaxed module, gzip': [gzipSync(relaxed, { level: 9 }).length, 40_000],
    // A dtype that cannot be held is refused before the weights of an adapted family are fetched, and a runtime whose thread
    // has ended ends, or whoever waits for that thread would wait for ever.
    'binding, minified': [raw(binding), 30_300],
    'binding, minified and gzip': [gz(binding), 14_000],
    // Scales of stacked experts, biases of another shape and limits of a class are refused by name, each in words of its own.
    'loader, fetched with the first checkpoint, minified and gzip': [gz(loader), 19_200],
    tarball: [size, 400_000],
  };
  assert.equal(size, statSync(tarball).size);
  for (const [what, [found, limit]] of Object.entries(sizes)) {
    t.diagnostic(`${what}: ${found} of ${limit} bytes`);
    assert.ok(found <= limit, `${what}: ${found} bytes, more than ${limit}`);
  }
});

/**
 * The bundle files that come with one: its own and those it imports at once.
 * @param {import('esbuild').Metafile['outputs']} outputs
 * @param {string} source the file that has it as its entry
 */
function together(outputs, source) {
  const start = Object.keys(outputs).find((path) => outputs[path].entryPoint?.endsWith(source));
  const reached = new Set([/** @type {string} */ (start)]);
  for (const path of reached) {
    for (const { path: next, kind } of outputs[path].imports) {
      if (kind === 'import-statement') reached.add(next);
    }
  }
  return reached;
}
