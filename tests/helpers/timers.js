// Timers of one length, started in another way than by the clock, for tests of patience: with that of the loader (rough-load) or
// with a cache. Those of other lengths, such as the engine's own for a connection, stay what they are.

/**
 * @param {number} milliseconds
 * @param {(callback: () => void, setTimeout: typeof globalThis.setTimeout) => unknown} start gives what clearTimeout takes
 * @returns {() => void} what ends it
 */
export function startOtherwise(milliseconds, start) {
  const { setTimeout } = globalThis;
  /** @param {[callback: () => void, milliseconds?: number]} timer */
  const chosen = (...timer) =>
    timer[1] === milliseconds ? start(timer[0], setTimeout) : setTimeout(...timer);
  Object.assign(globalThis, { setTimeout: chosen });
  return () => void Object.assign(globalThis, { setTimeout });
}
