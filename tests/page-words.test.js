// What the page says in fixed words of its shipped layers and of the activations: the tour's findings and the prose's figures,
// each held against the layers themselves (real-layers.test.js holds those against Hugging Face) and the recorded runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { GatedMLP, Runtime } from '../src/binding/index.js';
import { text } from '../web/text.js';
import { fixture, readJson, readSafetensors, values } from './helpers/goldens.js';

const NAME = 'smollm2-135m-instruct';
const [D, D_FF] = [576, 1536];
const TAU = 0.05;
/** Where SiLU is lowest. */
const DIP = -1.27846;

const hidden = readSafetensors(`${NAME}-hidden.safetensors`);
const { prompts } = readJson(`${NAME}-prompts.json`);
const prose = readFileSync(new URL('../web/index.html', import.meta.url), 'utf8').replace(
  /\s+/g,
  ' ',
);
const runtime = await Runtime.create();
after(() => runtime.dispose());

/** The words of a stop of the tour. @param {string} title */
const wordsOf = (title) =>
  String(text.tour.stops.find((stop) => stop.title === title)?.words.join(' '));

/**
 * A layer on a shipped text, and questions about it. `contribution`: |h| ||d|| of a unit at a token.
 * @param {number} layer
 * @param {string} prompt
 */
async function shown(layer, prompt) {
  const number = String(layer).padStart(2, '0');
  const bytes = readFileSync(fixture(`${NAME}-layer${number}.safetensors`));
  const mlp = await GatedMLP.fromPretrained(new Blob([bytes]), { layer, runtime });
  const trace = mlp.trace(Float32Array.from(values(hidden, `layer${number}/${prompt}/x`)));
  const { tokens, gate, act, up, hidden: h, output } = trace;
  trace.dispose();
  const down = Array.from(mlp.namedParameters()).find(([name]) => name === 'down_proj.weight')?.[1];
  mlp.dispose();
  const column = (/** @type {number} */ unit) =>
    Math.hypot(...Array.from({ length: D }, (_, k) => Number(down?.data[k * D_FF + unit])));
  const norms = Array.from({ length: D_FF }, (_, unit) => column(unit));
  return {
    tokens,
    gate: (/** @type {number} */ token) => gate.subarray(token * D_FF, (token + 1) * D_FF),
    act: (/** @type {number} */ token) => act.subarray(token * D_FF, (token + 1) * D_FF),
    up: (/** @type {number} */ token) => up.subarray(token * D_FF, (token + 1) * D_FF),
    contributions: (/** @type {number} */ token) =>
      norms.map((norm, unit) => Math.abs(h[token * D_FF + unit]) * norm),
    length: (/** @type {number} */ token) =>
      Math.hypot(...output.subarray(token * D, (token + 1) * D)),
  };
}

/** @param {ArrayLike<number>} row @param {(value: number) => boolean} holds */
const count = (row, holds) => Array.from(row).filter(holds).length;

test('unit 1005 matters most where the tour begins, leaks at most tokens and opens widest there', async () => {
  const { tokens, act, contributions } = await shown(24, 'chat');
  const here = contributions(41);
  assert.equal(here.indexOf(Math.max(...here)), 1005);
  const own = Array.from({ length: tokens }, (_, token) => act(token)[1005]);
  assert.ok(count(own, (a) => a <= -TAU) > tokens / 2);
  assert.equal(own.indexOf(Math.max(...own)), 41);
  const { tokens: pieces } = prompts.find((/** @type {any} */ { name }) => name === 'chat');
  assert.match(pieces.slice(0, 42).join(''), /The capital of France is$/);
});

test('the recorded run without it is told as it is', () => {
  const { base, shut } = readJson(`${NAME}-whatif.json`).prompts.chat;
  const run = shut.find((/** @type {any} */ { layer, unit }) => layer === 24 && unit === 1005);
  const [before, after] = [base, run].map(({ p_next }) => (100 * p_next[41]).toFixed(0));
  assert.match(wordsOf('Close it'), new RegExp(`from ${before}\\s% to ${after}\\s%`));
  assert.equal(run.top3[41][0][0], ' France');
});

test('three quarters of the gates of layer 5 are negative where the tour stops, nearly all of them leaking', async () => {
  const layer = await shown(5, 'code');
  const negative = count(layer.gate(10), (g) => g < 0);
  assert.ok(Math.abs(negative / D_FF - 0.75) < 0.02, `${negative}`);
  assert.ok(count(layer.act(10), (a) => a <= -TAU) > 0.9 * negative);
});

test('the barn door of layer 11 is where the tour says, and the only gate that is shut at every other token', async () => {
  const words = wordsOf('One gate as wide as a barn door');
  for (const { name } of prompts) {
    const { tokens, gate, act, up, length } = await shown(11, name);
    const rest = Array.from({ length: tokens - 1 }, (_, i) => i + 1);
    const ratio = length(0) / Math.max(...rest.map(length));
    assert.ok(ratio > 200 && ratio < 1000, `${name}: ${ratio}`);
    const isShut = (/** @type {number} */ token, /** @type {number} */ unit) =>
      gate(token)[unit] < DIP && Math.abs(act(token)[unit]) < TAU;
    const always = Array.from({ length: D_FF }, (_, unit) => unit).filter((unit) =>
      rest.every((token) => isShut(token, unit)),
    );
    assert.deepEqual(always, [1229], name);
    if (name !== 'english') continue;
    const [g, u] = [gate(0)[1229], up(0)[1229]].map(Math.round);
    assert.ok(words.includes(`g is ${g} and u is ${u}`), `${g}, ${u}`);
  }
});

test('what the prose says of the curves is what the module computes', async () => {
  const at = async (/** @type {string} */ act, /** @type {number} */ g) => {
    const mlp = await GatedMLP.create(1, 1, { act, runtime });
    const one = { data: Float32Array.of(1) };
    mlp.loadStateDict({ 'gate_proj.weight': one, 'up_proj.weight': one, 'down_proj.weight': one });
    const trace = mlp.trace(Float32Array.of(g));
    const [a] = trace.act;
    trace.dispose();
    mlp.dispose();
    return Math.abs(a);
  };
  assert.match(
    prose,
    /dips to −0\.278 at g = −1\.278.*at g = −4\.5, before it is down to a twentieth/,
  );
  assert.equal((await at('silu', -1.278)).toFixed(3), '0.278');
  assert.equal((await at('silu', -4.5)).toFixed(2), '0.05');
  assert.match(
    prose,
    /at g = −5 it passes less than a millionth, at −10 less than 10<sup>−36<\/sup>/,
  );
  assert.ok((await at('gelu_tanh', -5)) < 1e-6);
  assert.ok((await at('gelu_tanh', -10)) < 1e-36);
});
