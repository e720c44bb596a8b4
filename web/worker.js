// The worker's message loop: one Engine, one handler a request. All wasm work of the page happens behind this file.

import { Engine } from './engine.js';
import { serveRequests } from './protocol.js';

const engine = new Engine();

serveRequests({
  show: async ({ source }, emit) => {
    const result = await engine.show(source, emit);
    const { gate, activated, up, hidden, contribution } = result;
    return { result, transfer: [gate, activated, up, hidden, contribution].map((a) => a.buffer) };
  },
  verify: async ({ layer, prompt }) => ({ result: await engine.verify(layer, prompt) }),
  hold: async ({ token, holds }) => ({ result: engine.shown.hold(token, holds) }),
  curves: async ({ token }) => ({ result: engine.shown.curves(token) }),
  open: async ({ url }) => ({ result: await engine.open(url) }),
  cancel: async () => {
    engine.cancel();
    return { result: {} };
  },
});
