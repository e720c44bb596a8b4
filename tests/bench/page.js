// The bench inside a page: bundled, served and started by browser.js, to which it reports each case.

import { clockKind } from './clock.js';
import { bestVariant, runSuite } from './suite.js';
import { runWholeModels } from './whole-model/wllama.js';

Object.assign(globalThis, {
  about: () => ({ variant: bestVariant(), clock: clockKind(), isolated: crossOriginIsolated }),
  /** @param {{ plan: import('./suite.js').Plan, modules: string, only: string }} options */
  async runBench({ plan, modules, only }) {
    const { missing, measured } = /** @type {any} */ (globalThis);
    for await (const one of runSuite(plan, modules, only, missing)) await measured(one);
  },
  /** @param {import('./whole-model/wllama.js').Job} job */
  runWholeModels(job) {
    const { checkAnswer, processorMs } = /** @type {any} */ (globalThis);
    return runWholeModels(job, checkAnswer, processorMs);
  },
});
