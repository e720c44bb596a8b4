// Every fault of helpers/faults.js, once and every time, while opening and while reading, then seeded random pairs: the
// right bytes or one clear error, and nothing left behind.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { streamTensors } from '../src/binding/checkpoint.js';
import { GatedMLPError, openCheckpoint, Runtime } from '../src/binding/index.js';
import { FaultServer } from './helpers/fault-server.js';
import { FAULTS } from './helpers/faults.js';
import { makeSafetensors, pattern } from './helpers/make-safetensors.js';

/** @typedef {import('./helpers/faults.js').Outcome} Outcome */

const RETRY = { baseDelay: 1, maxDelay: 5 };
/** Only where silence is the fault: a busy machine may be silent for a while. */
const SHORT_PATIENCE = { ...RETRY, idleTimeout: 150 };
const PAIRS = 150;
const tensors = {
  first: pattern(90_000, 1),
  second: pattern(70_001, 2),
  third: pattern(120_000, 3),
  last: pattern(3, 4),
};
const file = makeSafetensors(
  Object.fromEntries(
    Object.entries(tensors).map(([name, data]) => [
      name,
      { dtype: 'U8', shape: [data.length], data },
    ]),
  ),
);

const server = await FaultServer.start({ '/f.safetensors': file, '/moved/f.safetensors': file });
const runtime = await Runtime.create();
after(() => server.close());

/**
 * Opens the file, meets the faults of `during`, and reads tensors.
 * @param {{ opening?: import('./helpers/fault-server.js').Fault, reading?: import('./helpers/fault-server.js').Fault, concurrency?: number, silent?: boolean }} during
 * @returns {Promise<Outcome>}
 */
async function load({ opening, reading, concurrency = 4, silent = false }) {
  server.reset();
  const used = runtime.bytesUsed;
  try {
    server.fault = opening ?? null;
    const options = { runtime, retry: silent ? SHORT_PATIENCE : RETRY, concurrency };
    const checkpoint = await openCheckpoint(`${server.origin}/f.safetensors`, options);
    server.fault = reading ?? null;
    /** @type {Record<string, Uint8Array>} */
    const read = {};
    const wanted = ['third', 'last', 'first'].map((name) => ({
      name,
      /** @param {Uint8Array} chunk @param {number} offset */
      sink(chunk, offset) {
        if (offset === 0)
          read[name] = new Uint8Array(
            /** @type {Record<string, Uint8Array>} */ (tensors)[name].length,
          );
        read[name].set(chunk, offset);
      },
    }));
    await streamTensors(checkpoint, wanted);
    for (const { name } of wanted)
      assert.deepEqual(read[name], /** @type {Record<string, Uint8Array>} */ (tensors)[name]);
    return 'right';
  } catch (error) {
    if (!(error instanceof GatedMLPError)) throw error;
    assert.ok(
      error.message.length > 20 && !/undefined|\[object/.test(error.message),
      error.message,
    );
    return /** @type {Outcome} */ (error.code);
  } finally {
    server.fault = null;
    while (server.active > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(runtime.bytesUsed, used, 'memory is given back');
  }
}

/** @param {import('./helpers/fault-server.js').Fault} fault */
function once(fault) {
  let met = false;
  return (/** @type {import('./helpers/fault-server.js').Exchange} */ exchange) => {
    if (met && !exchange.path.startsWith('/moved')) return false;
    met = true;
    return fault(exchange);
  };
}

for (const { name, answer, once: outcomeOnce, always, silent } of FAULTS) {
  test(`${name}: once gives ${outcomeOnce}, always ${always}`, { timeout: 120_000 }, async () => {
    for (const concurrency of [4, 1]) {
      assert.equal(
        await load({ reading: once(answer), concurrency, silent }),
        outcomeOnce,
        'once while reading',
      );
    }
    assert.equal(await load({ opening: answer, reading: answer, silent }), always, 'always');
    const opened = await load({ opening: once(answer), silent });
    assert.ok(opened === outcomeOnce || opened === always, `once while opening: ${opened}`);
    const reading = await load({ reading: answer, silent });
    assert.equal(reading === 'right', always === 'right', `always while reading: ${reading}`);
  });
}

test(`${PAIRS} random pairs of faults, each at a random request: right or one clear error`, {
  timeout: 120_000,
}, async () => {
  let state = 20_261_129;
  const random = (/** @type {number} */ n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  let right = 0;
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = [FAULTS[random(FAULTS.length)], FAULTS[random(FAULTS.length)]];
    const [atA, atB] = [random(4), random(4)];
    let seen = 0;
    const outcome = await load({
      reading(exchange) {
        if (exchange.path.startsWith('/moved')) return false;
        const now = seen++;
        return now === atA ? a.answer(exchange) : now === atB ? b.answer(exchange) : false;
      },
      concurrency: i % 2 === 0 ? 4 : 1,
      silent: a.silent || b.silent,
    });
    if (outcome === 'right') right += 1;
  }
  assert.ok(right > PAIRS / 2, `${right} of ${PAIRS} ridden out`);
});
