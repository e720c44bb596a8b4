// Where the bench runs, and its clocks. In Node it counts the processor time of this process, which for one thread is what a quiet
// machine's wall clock would show, and leaves out the moments in which a shared machine runs somebody else. A browser
// has only the wall clock, and two threads are only faster by it. By it set-ups are timed, too: while memory grows and
// code is new, V8 looks for garbage and compiles in threads of its own, and with a core to spare nobody waits for those.

/** Whether this is Node rather than a page. */
export const inNode = 'process' in globalThis;

let wall = !inNode;

/** For contestants of several threads. */
export function useWallClock() {
  wall = true;
}

/** @returns {'processor' | 'wall'} */
export const clockKind = () => (wall ? 'wall' : 'processor');

/** The wall clock in milliseconds, by which set-ups are timed. */
export const wallNow = () => performance.now();

/** Milliseconds from some fixed moment, by the clock by which calls are timed. */
export function now() {
  if (wall) return wallNow();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
