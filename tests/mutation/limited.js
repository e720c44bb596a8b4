// Runs a program in a process group of its own, which is ended as a whole: after a time limit, as soon as its output shows that
// it has failed, or with this process. A mutant that never ends leaves nothing behind.

import { spawn } from 'node:child_process';

/** @type {Set<number>} */
const groups = new Set();

/** @param {number} group */
function end(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}

process.on('exit', () => groups.forEach(end));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, seconds?: number, input?: Uint8Array, failsAt?: RegExp }} options failsAt: a line that is enough
 * @returns {Promise<{ status: number | null, stdout: string }>} status null: it was ended
 */
export function runLimited(program, args, { cwd, seconds = 600, input, failsAt }) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const group = Number(child.pid);
  groups.add(group);
  const timer = setTimeout(() => end(group), 1000 * seconds);
  /** @type {Buffer[]} */
  const chunks = [];
  child.stdout.on('data', (chunk) => {
    chunks.push(chunk);
    if (failsAt?.test(Buffer.concat(chunks.slice(-2)).toString())) end(group);
  });
  // A mutant may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      end(group);
      groups.delete(group);
      resolve({ status, stdout: Buffer.concat(chunks).toString() });
    });
  });
}
