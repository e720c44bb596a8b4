// Under the map, where its units are sorted into groups: how far each group reaches and how many units it has. By class at the
// selected token, or by what a unit's weights do to what they read; then with the cut-off, and whose classes they are.

import { CLASS_NAMES } from './definitions.js';
import { el } from './dom.js';
import { ioGroups } from './orders.js';
import { text } from './text.js';
import { ALIGNED, IO_CLASSES } from './unit-weights.js';

/** @typedef {import('./scene.js').Scene} Scene */

export class GroupAxis {
  #host;
  /** What is drawn: the order and the counts that it came from. @type {unknown[]} */
  #drawn = [];

  /** @param {HTMLElement} host */
  constructor(host) {
    this.#host = host;
  }

  /** @param {Scene} scene */
  update(scene) {
    const { sort, token } = scene.state;
    const key = [sort, scene.order, scene.counts[token], scene.ofAll.cosines];
    if (key.every((part, i) => part === this.#drawn[i])) return;
    this.#drawn = key;
    const groups = groupsOf(scene).filter(({ count }) => count > 0);
    this.#host.hidden = groups.length === 0;
    if (groups.length === 0) return;
    const reach = el('div', { class: 'group-reach', 'aria-hidden': 'true' });
    for (const { count } of groups) {
      const part = el('span');
      part.style.flexGrow = String(count);
      reach.append(part);
    }
    const names = groups.map(({ name, count }) => text.group(name, count)).join(' \u00b7 ');
    const note = sort === 'cosine' ? ` ${text.parts.cutOff(String(ALIGNED))}` : '';
    this.#host.replaceChildren(reach, el('p', {}, `${text.groups} ${names}.${note}`));
  }
}

/**
 * From the left of the map to the right; none where the order has no groups.
 * @param {Scene} scene
 * @returns {{ name: string, count: number }[]}
 */
function groupsOf({ state, counts, ofAll, isWhole }) {
  if (state.sort === 'class' && isWhole) {
    const { counts: here } = counts[state.token];
    return CLASS_NAMES.map((_, i) => ({ name: text.classes[i], count: here[i] }));
  }
  if (state.sort !== 'cosine' || ofAll.cosines === null) return [];
  const units = IO_CLASSES.map(() => 0);
  for (const group of ioGroups(ofAll.cosines)) units[group]++;
  return IO_CLASSES.map((name, i) => ({ name, count: units[i] }));
}
