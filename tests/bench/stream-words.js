// What threads of the stream limit tell each other through shared words: shared-stream.js writes, stream-thread.js obeys.

/** How often readers were told something, how many listen and how many are done, where they begin, and bytes for each. */
export const [TURN, LISTENING, DONE, BEGIN, BYTES] = [0, 1, 2, 3, 4];
export const WORDS = 5;
