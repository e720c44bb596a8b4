// What the page's computing answers, request by request: one handler for each that is about a layer. worker.js serves them from
// the page's worker, embedded-answers.js for an embedded map.

/**
 * @param {import('./engine.js').Engine} engine
 * @returns {Omit<import('./protocol.js').Handlers, 'lessonRuns' | 'lessonCurve' | 'lessonWidth'>}
 */
export function answersOf(engine) {
  return {
    show: async ({ source, act }, emit) => {
      const result = await engine.show(source, act, emit);
      const { gate, activated, up, hidden, contribution, codes, sorted } = result;
      const arrays = [gate, activated, up, hidden, contribution, codes, sorted.sizes];
      return { result, transfer: arrays.map((array) => array.buffer) };
    },
    verify: async ({ layer, prompt }) => ({ result: await engine.verify(layer, prompt) }),
    hold: async ({ token, ...held }) => ({ result: engine.shown.hold(token, held) }),
    curves: async ({ token }) => ({ result: engine.shown.curves(token) }),
    agree: async ({ states }) => ({ result: await engine.agree(states) }),
    unit: async ({ token, unit }) => ({ result: engine.shown.unit(token, unit) }),
    gradient: async ({ token, direction }) => {
      const result = engine.shown.gradient(token, direction);
      return { result, transfer: [result.arriving, result.up, result.gate].map((a) => a.buffer) };
    },
    along: async () => {
      const result = await engine.shown.along(await engine.runtime());
      return { result, transfer: [result.buffer] };
    },
    digest: async () => ({ result: await engine.shown.digest }),
    cosines: async () => ({ result: engine.shown.cosines() }),
    timing: async (question) => ({ result: await engine.timing(question) }),
    measures: async ({ tau }) => ({ result: engine.shown.measures(tau) }),
    open: async (question) => ({ result: await engine.open(question) }),
    states: async ({ file }) => ({ result: await engine.bring(file) }),
    cancel: async () => {
      engine.cancel();
      return { result: {} };
    },
  };
}
