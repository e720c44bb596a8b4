// The page's computing without a worker, for a map that is embedded in a page of another site: browsers start no worker from a
// foreign origin. It speaks the same protocol, over a channel whose both ends are here.

import { answersOf } from './answers.js';
import { Engine } from './engine.js';
import { serveRequests, WorkerClient } from './protocol.js';

/** An end to ask, and a way to give everything back. */
export function startInPage() {
  const { port1, port2 } = new MessageChannel();
  const engine = new Engine();
  serveRequests(answersOf(engine), port2);
  port1.start();
  port2.start();
  const end = () => {
    engine.end();
    port1.close();
    port2.close();
  };
  return { client: new WorkerClient(port1), end };
}
