// What threads of the limits tell each other through shared words: together.js writes, together-thread.js obeys.

/** How often they were told something, how many listen and how many are done, where the first begins, and how far each goes. */
export const [TURN, LISTENING, DONE, FROM, EACH] = [0, 1, 2, 3, 4];
export const WORDS = 5;
