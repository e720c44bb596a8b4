// The computing end of an embedded map: what answers its questions, wherever it runs. embedded-computing.js starts it, in a
// worker of the page that embeds the map, or in that page itself; it is a script of its own, asked for by its address.

import { answersOf } from './answers.js';
import { Engine } from './engine.js';
import { serveRequests } from './protocol.js';

/**
 * @param {MessagePort} port where the questions come from
 * @returns {() => void} gives everything back
 */
export function answerOn(port) {
  const engine = new Engine();
  serveRequests(answersOf(engine), port);
  port.start();
  return () => {
    engine.end();
    port.close();
  };
}
