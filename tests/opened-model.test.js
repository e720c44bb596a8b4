// What the page lists of a checkpoint that its reader brought, and which of its layers it does not show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Runtime } from '../src/binding/index.js';
import { OpenedModel } from '../web/opened-model.js';
import { llamaTensors, makeSafetensors } from './helpers/make-safetensors.js';

const [D, F] = [8, 12];
const MODULE = 'model.layers.0.mlp';

/** @param {Record<string, unknown>} config @param {Record<string, import('./helpers/make-safetensors.js').FileTensor>} [more] */
async function listed(config, more = {}) {
  const runtime = await Runtime.create();
  const source = new Blob([makeSafetensors({ ...llamaTensors(MODULE, D, F), ...more })]);
  const question = { source, config, token: '', keep: false };
  const model = await OpenedModel.open(question, runtime, new AbortController().signal);
  const [summary] = model.summaries();
  runtime.dispose();
  return summary;
}

test('a layer whose units share a norm is listed with why it is not shown, others without', async () => {
  const data = new Uint8Array(4 * F);
  const norm = { [`${MODULE}.ffn_sub_norm.weight`]: { dtype: 'F32', shape: [F], data } };
  const normed = await listed({ model_type: 'bitnet' }, norm);
  assert.match(String(normed.refusal), /^a norm divides its units/);
  const refused = await listed({ model_type: 'llama' }, norm);
  assert.match(String(refused.refusal), /ffn_sub_norm\.weight/);
  const plain = await listed({ model_type: 'llama', hidden_act: 'silu' });
  assert.equal(plain.refusal, null);
  assert.deepEqual([plain.d, plain.dFf, plain.act], [D, F, 'silu']);
});
