// forwardAsync on a page's main thread, when others do not do as they should: a thread that never comes, one that ends, a turn
// that is refused, a wait that is none. The workers of these tests compute nothing; what they would is in threads.test.js.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { GatedMLP, PCG32, Runtime } from '../src/binding/index.js';
import { deployed, pageRuntime } from './helpers/page-runtime.js';

/** @typedef {import('node:test').TestContext} TestContext */

const [D, D_FF, TOKENS] = [96, 400, 64];
const rng = new PCG32(77);
const x = Float32Array.from({ length: TOKENS * D }, () => 2 * rng.nextFloat() - 1);
const alone = await Runtime.create({ variant: 'simd128' });
const expected = (await GatedMLP.create(D, D_FF, { rng: new PCG32(4), runtime: alone })).forward(x);

/**
 * An MLP on a page of two threads, the other of which serves nobody.
 * @param {TestContext} t
 * @param {string} [then] what that does besides
 */
async function pageAlone(t, then = '') {
  const folder = deployed(t);
  const idle = `import { parentPort } from 'node:worker_threads';
    ${then}
    parentPort.on('message', () => parentPort.postMessage('ready'));`;
  writeFileSync(join(folder, 'thread-worker.js'), idle);
  const copy = await import(pathToFileURL(join(folder, 'index.js')).href);
  const runtime = await pageRuntime(2, copy.Runtime);
  t.after(() => runtime.dispose());
  assert.equal(runtime.threads, 2);
  return copy.GatedMLP.create(D, D_FF, { rng: new copy.PCG32(4), runtime });
}

/**
 * Has team_help say first that another thread has the last step of the stage.
 * @param {TestContext} t
 * @param {number} times
 */
function holdSteps(t, times) {
  const { instantiate } = WebAssembly;
  let left = times;
  const held = async (/** @type {[WebAssembly.Module, WebAssembly.Imports]} */ ...args) => {
    const { exports } = await instantiate(...args);
    const help = /** @type {() => number} */ (exports.team_help);
    return { exports: { ...exports, team_help: () => (left-- > 0 ? 0 : help()) } };
  };
  t.mock.method(WebAssembly, 'instantiate', /** @type {any} */ (held));
}

/** How many turns others have until a call is over, and what it gives. @param {Promise<unknown>} call */
async function turnsOf(call) {
  let [turns, over] = [0, false];
  const result = call.finally(() => {
    over = true;
  });
  for (; !over; turns++) await new Promise((resolve) => setTimeout(resolve));
  return { turns, y: await result };
}

/** A clock by which every step takes a slice. @param {TestContext} t */
function slowClock(t) {
  let milliseconds = 0;
  t.mock.method(performance, 'now', () => (milliseconds += 10));
}

test('a thread that never comes holds up nobody, and others have their turn between slices', async (t) => {
  const mlp = await pageAlone(t);
  slowClock(t);
  const { turns, y } = await turnsOf(mlp.forwardAsync(x));
  assert.ok(turns > 3, `${turns} turns`);
  assert.deepEqual(y, expected);
});

test('where scheduler.yield refuses, since the task was aborted, others have their turn all the same', async (t) => {
  const mlp = await pageAlone(t);
  slowClock(t);
  let refused = 0;
  const refuse = async () => {
    refused++;
    throw new DOMException('aborted', 'AbortError');
  };
  Object.assign(globalThis, { scheduler: { yield: refuse } });
  t.after(() => Reflect.deleteProperty(globalThis, 'scheduler'));
  const { turns, y } = await turnsOf(mlp.forwardAsync(x));
  assert.ok(refused > 3, `${refused} refused`);
  assert.ok(turns > 3, `${turns} turns`);
  assert.deepEqual(y, expected);
});

test('where the next stage was opened before the wait for it began, others have their turn', async (t) => {
  holdSteps(t, 6);
  const mlp = await pageAlone(t);
  const none = t.mock.method(/** @type {any} */ (Atomics), 'waitAsync', () => ({
    async: false,
    value: 'not-equal',
  }));
  const { turns, y } = await turnsOf(mlp.forwardAsync(x));
  assert.equal(none.mock.callCount(), 6);
  assert.ok(turns > 3, `${turns} turns`);
  assert.deepEqual(y, expected);
});

for (const [end, what] of [
  ["throw new Error('unreachable')", 'fails'],
  ['process.exit(3)', 'is gone'],
]) {
  test(`a thread that ${what} ends the forwards that wait for it, and the runtime`, async (t) => {
    const channel = new BroadcastChannel(`end of a thread that ${what}`);
    t.after(() => channel.close());
    holdSteps(t, Number.POSITIVE_INFINITY);
    const mlp = await pageAlone(
      t,
      `new BroadcastChannel('${channel.name}').onmessage = () => { ${end}; };`,
    );
    const calls = [mlp.forwardAsync(x), mlp.forwardAsync(x)];
    channel.postMessage('now');
    const ended = {
      code: 'ERR_DISPOSED',
      message: /one of its threads: (unreachable|exit code 3)$/,
    };
    await Promise.all(calls.map((call) => assert.rejects(call, ended)));
    assert.throws(() => mlp.forward(x), ended);
  });
}
