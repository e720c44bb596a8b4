// How many threads of a runtime computed, counted in its memory: each puts x in the order of the kernels for itself (pack.h:
// four rows side by side) when it takes its first step, and what it wrote stays there. Runs in Node and in a page.

const ROWS = 32;
const GROUP = 4;
/** Values that nothing else in memory has, one for each row of a group. */
const MARKS = Float32Array.of(0.12345678, 0.23456789, 0.34567891, 0.45678912);
/** What is asked for, in calls, before a thread counts as one that never computes. */
const MOST_ROUNDS = 500;
const CALLS_IN_ROUND = 10;

/** x [32, d] whose rows are recognised. @param {number} d */
export function markedInput(d) {
  return Float32Array.from({ length: ROWS * d }, (_, i) => MARKS[Math.floor(i / d) % GROUP]);
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
    count = packedCopies(memory) / ((ROWS / GROUP) * d);
  }
  return count;
}

/** @param {WebAssembly.Memory} memory */
function packedCopies({ buffer }) {
  const words = new Float32Array(buffer);
  let found = 0;
  for (let i = 0; i < words.length; i += GROUP) {
    if (MARKS.every((mark, row) => words[i + row] === mark)) found++;
  }
  return found;
}
