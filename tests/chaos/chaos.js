// Seeded random sequences of faults against the loader until so many requests have been made: `node tests/chaos/chaos.js
// [requests] [seed]`, 50,000 and 1 by default. Every load must end in the right bytes, in one clear error, or in its abort.
// Ends with a failure at the first that does not, naming its seed.

import { FAULTS } from '../helpers/faults.js';
import { RoughLoad, randomFrom } from '../helpers/rough-load.js';

const [requests = 50_000, firstSeed = 1] = process.argv.slice(2).map(Number);
/** Of so many requests one is answered badly. */
const ONE_IN = 3;
/** Of so many loads one is aborted on its way. */
const ONE_ABORTED_IN = 12;
const REPORT_EVERY = 5000;

const rough = await RoughLoad.start();
/** @type {Record<string, number>} */
const outcomes = {};
let made = 0;
process.on('unhandledRejection', (reason) => {
  console.error('unhandled rejection:', reason);
  process.exit(1);
});

for (let seed = firstSeed, reported = 0; made < requests; seed++) {
  const random = randomFrom(seed);
  const controller = new AbortController();
  let abortAt = random(ONE_ABORTED_IN) === 0 ? random(5) : -1;
  /** @type {string[]} */
  const met = [];
  /** @type {import('../helpers/fault-server.js').Fault} */
  const fault = (exchange) => {
    if (abortAt-- === 0) controller.abort(new Error('aborted on purpose'));
    if (exchange.path.startsWith('/moved') || random(ONE_IN) > 0) return false;
    const { name, answer } = FAULTS[random(FAULTS.length)];
    met.push(name);
    return answer(exchange);
  };
  const { signal } = controller;
  const during = {
    opening: fault,
    reading: fault,
    concurrency: 1 + random(4),
    silent: true,
    signal,
  };
  try {
    const outcome = await rough.run(during);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  } catch (error) {
    console.error(`seed ${seed}, after ${met.join('; ')}:`, error);
    process.exit(1);
  }
  made += rough.server.log.length;
  if (Math.floor(made / REPORT_EVERY) > reported) {
    reported = Math.floor(made / REPORT_EVERY);
    console.log(`${made} requests, seed ${seed}:`, outcomes);
  }
}
await rough.close();
console.log(`${made} requests from seed ${firstSeed} on:`, outcomes, '0 wrong bytes, 0 hangs');
