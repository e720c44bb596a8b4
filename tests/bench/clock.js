// Where the bench runs, and its clock. In Node it counts the processor time of this process, which for one thread is what a quiet
// machine's wall clock would show, and leaves out the moments in which a shared machine runs somebody else. A browser
// has only the wall clock, and two threads are only faster by it.

/** Whether this is Node rather than a page. */
export const inNode = 'process' in globalThis;

/** @type {'processor' | 'wall'} */
export const clockKind = inNode ? 'processor' : 'wall';

/** Milliseconds from some fixed moment. @returns {number} */
export const now = inNode ? processorMs : () => performance.now();

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
