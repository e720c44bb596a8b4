// Where the bench runs, and its clocks. In Node it counts the processor time of this process, which for one thread is what a quiet
// machine's wall clock would show, and leaves out the moments in which a shared machine runs somebody else. A browser
// has only the wall clock, and two threads are only faster by it. Nor is one thread all that a set-up keeps busy: while
// memory grows and code is new, V8 collects garbage and compiles in threads of its own, for which nobody waits.

/** Whether this is Node rather than a page. */
export const inNode = 'process' in globalThis;

let wall = !inNode;

/** For contestants of several threads. */
export function useWallClock() {
  wall = true;
}

/** @returns {'processor' | 'wall'} */
export const clockKind = () => (wall ? 'wall' : 'processor');

/** Milliseconds from some fixed moment that somebody who waits counts. */
export const wallNow = () => performance.now();

/** Milliseconds from some fixed moment, of calls that are computed. */
export function now() {
  if (wall) return wallNow();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
