// The worker's message loop: one Engine, one handler a request. All wasm work of the page happens behind this file.

import { answersOf } from './answers.js';
import { Engine } from './engine.js';
import { LessonBench } from './lesson-bench.js';
import { serveRequests } from './protocol.js';

const engine = new Engine();
const lesson = new LessonBench(() => engine.runtime());

serveRequests({
  ...answersOf(engine),
  lessonRuns: async ({ runs }) => ({ result: await lesson.runs(runs) }),
  lessonCurve: async ({ act }) => ({ result: await lesson.activation(act) }),
  lessonWidth: async (question) => ({ result: await lesson.width(question) }),
});
