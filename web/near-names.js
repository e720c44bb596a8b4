// For a checkpoint in which no gated MLP was found: the names in it that come nearest to the three that are looked for, so that a
// reader sees what the file calls them. Pure; opened-model.js asks it in the worker.

const WANTED = ['gate_proj', 'up_proj', 'down_proj'];
/** Letters to change, as a share of the longer name: beyond it two names have nothing in common. */
const MOST_CHANGES = 0.5;
/** Paths that an MLP may have. */
const MLP_PATH = /mlp|ffn|feed_?forward|expert|\bff\b/i;

/** @param {string} name */
const ownName = (name) =>
  name
    .replace(/\.weight$/, '')
    .split('.')
    .pop() ?? '';

/**
 * @param {Iterable<string>} names of tensors
 * @returns {string[]} "NAME (for up_proj)", of those that are missing
 */
export function nearNames(names) {
  const all = [...names];
  const has = WANTED.filter((wanted) => all.some((name) => ownName(name) === wanted));
  const others = all.filter((name) => MLP_PATH.test(name) && !WANTED.includes(ownName(name)));
  return WANTED.filter((wanted) => !has.includes(wanted)).flatMap((wanted) => {
    let [nearest, least] = ['', MOST_CHANGES];
    for (const name of others) {
      const own = ownName(name);
      const share = changesBetween(own, wanted) / Math.max(own.length, wanted.length);
      if (share < least) [nearest, least] = [name, share];
    }
    return nearest === '' ? [] : [`${nearest} (for ${wanted})`];
  });
}

/**
 * Letters to add, drop or change on the way from one word to another.
 * @param {string} from
 * @param {string} to
 */
function changesBetween(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const other = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(other, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
