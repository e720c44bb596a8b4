// Tries every deletion with as many judges as may work at once, and reports those that nothing noticed.

import { HARMLESS_DELETIONS } from './harmless-deletions.js';

/** @typedef {import('./deletions.js').Deletion} Deletion */
/** @typedef {(deletion: Deletion) => Promise<string | null>} Judge what notices a deletion; null: nothing */

/**
 * @param {Deletion[]} deletions
 * @param {Judge[]} judges
 * @returns {Promise<boolean>} whether each is noticed, or harmless for a known reason
 */
export async function tryDeletions(deletions, judges) {
  const queue = [...deletions];
  let [noticed, explained] = [0, 0];
  await Promise.all(
    judges.map(async (judge) => {
      for (let deletion = queue.shift(); deletion; deletion = queue.shift()) {
        const by = await judge(deletion);
        const reason = by === null ? reasonFor(deletion) : null;
        if (by !== null) noticed += 1;
        if (reason !== null) explained += 1;
        const outcome = by ?? (reason === null ? 'NOT NOTICED' : `harmless: ${reason}`);
        console.log(`${deletion.file}:${deletion.line}\t${deletion.what.slice(0, 80)}\t${outcome}`);
      }
    }),
  );
  const left = deletions.length - noticed - explained;
  console.log(
    `${deletions.length} validations deleted in turn: ${noticed} noticed, ${explained} harmless, ${left} not noticed`,
  );
  return left === 0;
}

/** @param {Deletion} deletion @returns {string | null} */
function reasonFor({ file, what }) {
  const known = HARMLESS_DELETIONS.find((h) => h.file === file && what.startsWith(h.what));
  return known?.reason ?? null;
}
