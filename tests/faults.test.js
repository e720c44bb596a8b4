// Every fault of helpers/faults.js, once and every time, while opening and while reading, then seeded random pairs: the
// right bytes or one clear error, and nothing left behind.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { FAULTS } from './helpers/faults.js';
import { RoughLoad, randomFrom } from './helpers/rough-load.js';

const PAIRS = 150;
/** What has not ended after so many milliseconds waits for ever. */
const HANGS = { timeout: 1_200_000 };

const rough = await RoughLoad.start();
after(() => rough.close());

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
  test(`${name}: once gives ${outcomeOnce}, always ${always}`, HANGS, async () => {
    for (const concurrency of [4, 1]) {
      assert.equal(
        await rough.run({ reading: once(answer), concurrency, silent }),
        outcomeOnce,
        'once while reading',
      );
    }
    assert.equal(await rough.run({ opening: answer, reading: answer, silent }), always, 'always');
    const opened = await rough.run({ opening: once(answer), silent });
    assert.ok(opened === outcomeOnce || opened === always, `once while opening: ${opened}`);
    const reading = await rough.run({ reading: answer, silent });
    assert.equal(reading === 'right', always === 'right', `always while reading: ${reading}`);
  });
}

test(
  `${PAIRS} random pairs of faults, each at a random request: right or one clear error`,
  HANGS,
  async () => {
    const random = randomFrom(20_261_129);
    let right = 0;
    for (let i = 0; i < PAIRS; i++) {
      const [a, b] = [FAULTS[random(FAULTS.length)], FAULTS[random(FAULTS.length)]];
      const [atA, atB] = [random(4), random(4)];
      let seen = 0;
      const outcome = await rough.run({
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
  },
);
