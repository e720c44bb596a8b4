// The offline file's worker: takes the files that the page unpacked, then becomes the worker that it is anywhere else.

import { adopt, answerFor } from './offline-places.js';

const fetchElsewhere = globalThis.fetch;
globalThis.fetch = async (input, init) =>
  answerFor(String(input), new Headers(init?.headers).get('range')) ??
  fetchElsewhere.call(globalThis, input, init);

addEventListener(
  'message',
  ({ data }) => {
    adopt(data);
    // Bundled, this waits for nothing but microtasks, so worker.js listens before the next message is handed out.
    import('../worker.js');
  },
  { once: true },
);
