// The worker's message loop: one Engine, one handler a request. All wasm work of the page happens behind this file.

import { answersOf } from './answers.js';
import { Engine } from './engine.js';
import { serveRequests } from './protocol.js';

const engine = new Engine();
/** @type {Promise<import('./lesson-bench.js').LessonBench> | null} */
let bench = null;

/** Its code is fetched with the first question of the lesson; where that fails, it is tried anew with the next. */
function lesson() {
  bench ??= import('./lesson-bench.js').then(
    ({ LessonBench }) => new LessonBench(() => engine.runtime()),
    (error) => {
      bench = null;
      throw error;
    },
  );
  return bench;
}

serveRequests({
  ...answersOf(engine),
  lessonRuns: async ({ runs }) => ({ result: await (await lesson()).runs(runs) }),
  lessonCurve: async ({ act }) => ({ result: await (await lesson()).activation(act) }),
  lessonWidth: async (question) => ({ result: await (await lesson()).width(question) }),
});
