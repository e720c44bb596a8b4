// Two small charts of the inspector: the output channels that a closed gate moves, and recorded next-token probabilities
// before and after. Each is drawn anew from plain numbers; the bars carry their figures.

import { el, svg } from './dom.js';
import { number, percent } from './format.js';
import { text } from './text.js';

const WIDTH = 360;

const CHANNEL_ROW = 14;
const CHANNEL_LABEL = 30;
const CHANNEL_COLUMNS = 2;
const COLUMN_GAP = 12;

/**
 * A line from the old value of each channel to the new one, around a common zero; in two columns.
 * @param {import('./protocol.js').ChannelChange[]} channels
 */
export function channelChanges(channels) {
  const largest = Math.max(
    1e-30,
    ...channels.flatMap((c) => [Math.abs(c.before), Math.abs(c.after)]),
  );
  const perColumn = Math.ceil(channels.length / CHANNEL_COLUMNS);
  const columnWidth = (WIDTH - COLUMN_GAP * (CHANNEL_COLUMNS - 1)) / CHANNEL_COLUMNS;
  const half = (columnWidth - CHANNEL_LABEL - 6) / 2;
  const height = perColumn * CHANNEL_ROW;
  const rows = channels.map((change, place) => {
    const left = Math.floor(place / perColumn) * (columnWidth + COLUMN_GAP);
    const x = (/** @type {number} */ value) =>
      left + CHANNEL_LABEL + half + (value / largest) * half;
    return channelRow(change, left, ((place % perColumn) + 0.5) * CHANNEL_ROW, x);
  });
  return svg(
    'svg',
    {
      class: 'channels',
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: 'img',
      'aria-label': `${text.inspector.channels}: ${channels.map(channelLabel).join('; ')}`,
    },
    ...rows,
  );
}

/** @param {import('./protocol.js').ChannelChange} change */
const channelLabel = ({ channel, before, after }) =>
  text.inspector.channelLabel(channel, number(before), number(after));

/**
 * @param {import('./protocol.js').ChannelChange} change
 * @param {number} left
 * @param {number} y
 * @param {(value: number) => number} x
 */
function channelRow({ channel, before, after }, left, y, x) {
  return svg(
    'g',
    {},
    svg('title', {}, channelLabel({ channel, before, after })),
    svg('text', { x: left + CHANNEL_LABEL - 6, y: y + 4, 'text-anchor': 'end' }, String(channel)),
    svg('path', { class: 'zero', d: `M${x(0)} ${y - CHANNEL_ROW / 2}v${CHANNEL_ROW}` }),
    svg('path', { class: 'moved', d: `M${x(before)} ${y}H${x(after)}` }),
    svg('circle', { class: 'before', cx: x(before), cy: y, r: 3 }),
    svg('circle', { class: 'after', cx: x(after), cy: y, r: 3 }),
  );
}

/**
 * The likeliest next tokens, as bars; with the gate closed the old value stays as a line.
 * @param {import('./recorded-runs.js').Guess[]} guesses
 * @param {boolean} closed
 */
export function nextTokenBars(guesses, closed) {
  const figure = (/** @type {import('./recorded-runs.js').Probability} */ { value, isBound }) =>
    isBound ? text.inspector.below(percent(value)) : percent(value);
  const rows = guesses.map(({ piece, open, shut }) => {
    const shown = closed ? shut : open;
    const ghost = el('i', { class: 'ghost' });
    ghost.style.width = open.isBound ? '0' : `${open.value * 100}%`;
    const bar = el('i', { class: 'solid' });
    bar.style.width = shown.isBound ? '0' : `${shown.value * 100}%`;
    return el(
      'li',
      {},
      el('span', { class: 'guess' }, piece),
      el('span', { class: 'track', 'aria-hidden': 'true' }, ghost, bar),
      el(
        'span',
        { class: 'figure' },
        closed ? `${figure(open)} \u2192 ${figure(shut)}` : figure(open),
      ),
    );
  });
  return el('ul', { class: 'next-tokens' }, ...rows);
}
