// How many threads of a runtime computed, counted in its memory: each puts x in the order of the kernels for itself (pack.h:
// a few rows side by side) when it takes its first step, and what it wrote stays there. Runs in Node and in a page.

const ROWS = 32;
/** Values that nothing else in memory has: of the first row and of the second, which any group of rows puts side by side. */
const MARKS = Float32Array.of(0.12345678, 0.23456789);
/** What is asked for, in calls, before a thread counts as one that never computes: it is up to the scheduler when one does. */
const MOST_ROUNDS = 5_000;
const CALLS_IN_ROUND = 10;

/** x [32, d] whose first rows are recognised. @param {number} d */
export function markedInput(d) {
  return Float32Array.from({ length: ROWS * d }, (_, i) => MARKS[Math.floor(i / d)] ?? 0.5);
}

/**
 * Calls until so many threads have computed from markedInput(d), or for long; how many have.
 * @param {WebAssembly.Memory} memory
 * @param {number} d
 * @param {number} threads
 * @param {() => unknown} call
 */
export async function threadsAtWork(memory, d, threads, call) {
  let count = 0;
  for (let round = 0; round < MOST_ROUNDS && count < threads; round++) {
    for (let i = 0; i < CALLS_IN_ROUND; i++) await call();
    count = packedCopies(memory, d);
  }
  return count;
}

/** @param {WebAssembly.Memory} memory @param {number} d */
function packedCopies({ buffer }, d) {
  const words = new Float32Array(buffer);
  let pairs = 0;
  for (let i = 1; i < words.length; i++) {
    if (words[i - 1] === MARKS[0] && words[i] === MARKS[1]) pairs++;
  }
  // One for each column; and one where the rows of an x that is not packed meet.
  return Math.floor(pairs / d);
}
