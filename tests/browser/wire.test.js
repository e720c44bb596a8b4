// What the page and its computing say to each other (web/protocol.js), over a channel without a browser: each request gets its
// answer, and what a request says on its way is heard only while no newer one of its kind has taken its place.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serveRequests, WorkerClient } from '../../web/protocol.js';

const { port1, port2 } = new MessageChannel();
for (const port of [port1, port2]) port.start();
after(() => port1.close());

/** @typedef {import('../../web/protocol.js').Emit} Emit */

test('what a load says on its way is not heard once another has been asked for', async () => {
  /** How each load goes on, in their order. @type {{ say: (bytes: number) => void, end: () => void }[]} */
  const loads = [];
  /** @type {(() => void)[]} */
  const begun = [];
  const show = (/** @type {unknown} */ _, /** @type {Emit} */ emit) =>
    new Promise((resolve) => {
      loads.push({
        say: (bytes) => emit('progress', { bytes, total: 9 }),
        end: () => resolve({ result: loads.length }),
      });
      begun.shift()?.();
    });
  const handlers = /** @type {import('../../web/protocol.js').Handlers} */ (
    /** @type {unknown} */ ({ show, digest: async () => ({ result: null }) })
  );
  serveRequests(handlers, /** @type {any} */ (port2));
  const client = new WorkerClient(/** @type {any} */ (port1));
  /** @type {number[]} */
  const heard = [];
  client.on('progress', ({ bytes }) => heard.push(bytes));
  const source = /** @type {const} */ ({ kind: 'shipped', layer: 24, prompt: 'chat' });
  const asked = () => {
    const isBegun = new Promise((resolve) => begun.push(() => resolve(undefined)));
    return { answer: client.request('show', { source, act: null }), isBegun };
  };

  const first = asked();
  await first.isBegun;
  loads[0].say(1);
  await client.request('digest', {});
  assert.deepEqual(heard, [1]);
  const second = asked();
  await second.isBegun;
  loads[0].say(2);
  loads[1].say(3);
  loads[0].say(4);
  await client.request('digest', {});
  assert.deepEqual(heard, [1, 3]);
  for (const { end } of loads) end();
  assert.deepEqual(await Promise.all([first.answer, second.answer]), [2, 2]);
});
