// Frees what nobody uses any more before a set-up is timed: what making its input left, and whoever was set up before, is
// otherwise given back to the system in its time. In Node only; a page cannot ask for it.

/** Buffers are given back by a thread in the background. */
const SETTLE_MS = 30;

const { getBuiltinModule } = globalThis.process ?? {};

export async function collectGarbage() {
  if (!getBuiltinModule) return;
  getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
  getBuiltinModule('node:vm').runInNewContext('gc')();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}
