// Kinds of checkpoints in the load dialog: experts, several files with an index, layers with a formula of their own, other
// formats, missing tensors, and layers that are too large. What is computed is worked out here from the definition.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, settledBadge } from '../helpers/browser.js';
import {
  ask,
  CORS,
  errorOf,
  loadChosen,
  openDialog,
  pressLoad,
  startPageAndServer,
} from '../helpers/load-dialog.js';
import { llamaTensors, makeSafetensors } from '../helpers/make-safetensors.js';

/** @typedef {import('playwright-core').Page} Page */
const FAMILIES = fileURLToPath(new URL('../../fixtures/goldens/families/', import.meta.url));
const GEMMA = 'model.language_model.layers';
const gemma = {
  model_type: 'gemma3n_text',
  hidden_activation: 'gelu_pytorch_tanh',
  num_hidden_layers: 2,
  activation_sparsity_pattern: [0.9, 0],
};
const first = llamaTensors('model.layers.0.mlp', 8, 24);
const second = llamaTensors('model.layers.1.mlp', 8, 24, 2);
const { 'model.layers.0.mlp.up_proj.weight': up, ...withoutUp } = first;
const json = (/** @type {unknown} */ value) => JSON.stringify(value);
/** @param {string} name @param {string} file */
const family = (name, file) => readFileSync(`${FAMILIES}${name}/${file}`);

const { server, browser, site } = await startPageAndServer({
  '/mixtral/model.safetensors': family('mixtral', 'model.safetensors'),
  '/mixtral/config.json': family('mixtral', 'config.json'),
  '/gpt-oss/model.safetensors': family('gpt_oss', 'model.safetensors'),
  '/gpt-oss/config.json': family('gpt_oss', 'config.json'),
  '/gemma/model.safetensors': makeSafetensors({
    ...llamaTensors(`${GEMMA}.0.mlp`, 8, 60),
    ...llamaTensors(`${GEMMA}.1.mlp`, 8, 60, 3),
  }),
  '/gemma/config.json': json(gemma),
  '/gemma-odd/model.safetensors': makeSafetensors(llamaTensors(`${GEMMA}.0.mlp`, 8, 24)),
  '/gemma-odd/config.json': json({ ...gemma, activation_sparsity_pattern: 'some' }),
  '/parts/model.safetensors.index.json': json({
    weight_map: {
      ...Object.fromEntries(Object.keys(first).map((name) => [name, 'a.safetensors'])),
      ...Object.fromEntries(Object.keys(second).map((name) => [name, 'b.safetensors'])),
    },
  }),
  '/parts/a.safetensors': makeSafetensors(first),
  '/parts/b.safetensors': makeSafetensors(second),
  '/parts/config.json': json({ model_type: 'llama', hidden_act: 'silu' }),
  '/model.gguf': Buffer.concat([Buffer.from('GGUF\x03\0\0\0'), Buffer.alloc(4096)]),
  '/lacking/config.json': json({ model_type: 'llama', hidden_act: 'silu' }),
  '/lacking/model.safetensors': makeSafetensors({
    ...withoutUp,
    'model.layers.0.mlp.up_projection.weight': up,
  }),
});

const opened = async () => (await openDialog(browser, site)).tab;

/** @param {Page} tab */
const options = (tab) => tab.locator('#load-list option').allTextContents();

/** The rows of the CSV of the token on show, as numbers by column. @param {Page} tab */
async function csvOf(tab) {
  const [file] = await Promise.all([tab.waitForEvent('download'), tab.click('#export-csv')]);
  const [head, ...rows] = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, Number(row[i])])));
}

/** What the page says of the time it takes without the least units. @param {Page} tab */
async function timed(tab) {
  await tab.locator('#errors-reading').filter({ hasText: 'by |a|' }).waitFor();
  const result = tab.locator('#timing-result p');
  // The curves of the layer before may still be there.
  await eventually(async () => {
    await tab.click('#timing-start');
    await tab.locator('#timing-start:not([aria-busy])').waitFor({ timeout: 0 });
    assert.ok((await result.count()) > 0);
  });
  return String(await tab.locator('#timing-result').textContent());
}

test('of a mixture of experts one expert is chosen, loaded alone and named in the link', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/mixtral/model.safetensors`);
  await tab.locator('#load-status').filter({ hasText: '6 gated MLPs found' }).waitFor();
  const names = await options(tab);
  const wanted = names.findIndex((name) => /layers\.1\..* expert 2 /.test(name));
  assert.ok(wanted >= 0, names.join('\n'));
  await tab.selectOption('#load-list', String(wanted));
  const badge = await loadChosen(tab);
  assert.equal(badge.state, 'warning');
  assert.equal(await tab.locator('#unit-count').textContent(), '20');
  await eventually(async () =>
    assert.match(await tab.evaluate(() => location.hash), /mlp=model\.layers\.1\.[^&]*&expert=2&/),
  );
  await tab.context().close();
});

test('a model in parts opens by its index, and only the part of the chosen layer is read', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/parts/model.safetensors.index.json`);
  await tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  const weightsOf = (/** @type {string} */ part) =>
    server.log.filter(({ path }) => path === `/parts/${part}`).length;
  const before = weightsOf('a.safetensors');
  await tab.selectOption('#load-list', '1');
  await loadChosen(tab);
  assert.equal(await tab.locator('#unit-count').textContent(), '24');
  assert.equal(weightsOf('a.safetensors'), before);
  assert.match(await tab.evaluate(() => location.hash), /m=http.*index\.json&mlp=model\.layers\.1/);
  await tab.context().close();
});

test('Gemma 3n’s sparse gates are computed by their own formula, which the page states', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/gemma/model.safetensors`);
  await tab.locator('#load-status').filter({ hasText: '2 gated MLPs' }).waitFor();
  const badge = await loadChosen(tab);
  assert.match(badge.words, /formula of its own: it keeps the largest 10\.0\u202f%/);
  const rows = await csvOf(tab);
  const mean = rows.reduce((sum, { g }) => sum + g, 0) / rows.length;
  const spread = Math.sqrt(rows.reduce((sum, { g }) => sum + (g - mean) ** 2, 0) / rows.length);
  // The 0.9 quantile of the normal distribution.
  const cut = mean + spread * 1.2815515655446004;
  let open = 0;
  for (const { unit, g, a, u, h } of rows) {
    const over = Math.max(0, g - cut);
    const z = Math.sqrt(2 / Math.PI) * (over + 0.044715 * over ** 3);
    const gelu = (over / 2) * (1 + Math.tanh(z));
    assert.ok(Math.abs(a - gelu) < 1e-5, `unit ${unit}: ${a} for ${gelu}`);
    assert.ok(Math.abs(h - a * u) < 1e-6 * Math.max(1, Math.abs(h)), `unit ${unit}`);
    if (over > 0) open++;
  }
  assert.ok(open > 0 && open < 15, `${open} of 60 above the cut`);
  await tab.locator('.cell-grid').focus();
  await tab.keyboard.press('Enter');
  await tab.locator('.what-if-row output').filter({ hasText: 'Not for this layer' }).waitFor();
  assert.equal(await tab.locator('#what-if').isDisabled(), true);
  assert.match(await timed(tab), /each unit depends on all others/);
  await pressLoad(tab);
  await ask(tab, `${server.origin}/gemma/model.safetensors`);
  await tab.locator('#load-choice').waitFor();
  await tab.selectOption('#load-list', '1');
  await tab.click('#load-layer');
  await tab.locator('#load-dialog').waitFor({ state: 'hidden' });
  await eventually(async () => {
    assert.doesNotMatch(String(await tab.locator('#badge').textContent()), /formula of its own/);
  });
  await tab.context().close();
});

test('gpt-oss says what its formula adds, and a × u is h all the same', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/gpt-oss/model.safetensors`);
  await tab.locator('#load-choice').waitFor();
  const badge = await loadChosen(tab);
  assert.match(badge.words, /act sees at most 7, and u is held within ±7; 1 is added to u/);
  for (const { unit, a, u, h } of await csvOf(tab)) {
    assert.ok(Math.abs(h - a * u) < 1e-6 * Math.max(1, Math.abs(h)), `unit ${unit}`);
  }
  // The formula goes along with the units that are kept.
  const [, difference] = /\(to ([^ ]+) of its length\)/.exec(await timed(tab)) ?? [];
  assert.ok(Number(difference.replace('\u2212', '-')) < 1e-5, difference);
  await tab.context().close();
});

test('what cannot be computed is refused by its name, with a way out', async () => {
  const tab = await opened();
  await ask(tab, `${server.origin}/gemma-odd/model.safetensors`);
  await tab
    .locator('#load-question')
    .filter({ hasText: /cannot be shown.*activation_sparsity_pattern/s })
    .waitFor();
  assert.equal(await tab.locator('#load-layer').isDisabled(), true);
  await ask(tab, `${server.origin}/model.gguf`);
  await errorOf(tab, /not a safetensors file.*GGUF.*most models on huggingface\.co/s);
  await ask(tab, `${server.origin}/lacking/model.safetensors`);
  await errorOf(
    tab,
    /No gated MLP.*missing: model\.layers\.0\.mlp\.up_projection\.weight \(for up_proj\)\. If/,
  );
  await tab.context().close();
});

/**
 * A checkpoint of one layer, of which there are only the first bytes: they say how large it is.
 * @param {number} d
 * @param {number} dFf
 */
function hugeCheckpoint(d, dFf) {
  const bytes = 4 * d * dFf;
  const shapes = { down_proj: [d, dFf], gate_proj: [dFf, d], up_proj: [dFf, d] };
  const header = Buffer.from(
    json(
      Object.fromEntries(
        Object.entries(shapes).map(([name, shape], i) => [
          `model.layers.0.mlp.${name}.weight`,
          { dtype: 'F32', shape, data_offsets: [i * bytes, (i + 1) * bytes] },
        ]),
      ),
    ),
  );
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const start = Buffer.concat([size, header]);
  const total = start.length + 3 * bytes;
  return { start, total };
}

for (const [d, dFf, size, words] of /** @type {const} */ ([
  [
    16_384,
    65_536,
    '12.9 GB',
    /larger than a page\u2019s memory.*dFf = 65536.*4 GiB.*smaller model/s,
  ],
  [8192, 28_672, '2.8 GB', /Not enough memory.*2688\.\d MiB could not be had.*smaller model/s],
])) {
  test(`a layer of ${size}, more than memory has, says how much it would take`, async () => {
    const tab = await opened();
    const { start, total } = hugeCheckpoint(d, dFf);
    let weights = 0;
    await tab.context().route('**/huge.safetensors', async (route) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(route.request().headers().range ?? '') ?? [];
      if (Number(from) > 0) weights++;
      const body = Buffer.alloc(Math.min(Number(to) - Number(from) + 1, 65_536));
      start.copy(body, 0, Number(from));
      const headers = {
        ...CORS,
        'access-control-expose-headers': 'content-range',
        'content-range': `bytes ${from}-${Number(from) + body.length - 1}/${total}`,
      };
      await route.fulfill({ status: 206, headers, body });
    });
    await ask(tab, `${server.origin}/huge.safetensors`);
    await tab
      .locator('#load-question')
      .filter({ hasText: `${size} to fetch` })
      .waitFor();
    await tab.click(`text=Load ${size}`);
    await errorOf(tab, words);
    assert.equal(weights, 0);
    assert.match((await settledBadge(tab)).words, /Checked/);
    await tab.context().close();
  });
}
