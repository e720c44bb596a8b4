// One unit as a drawing: the input goes two ways, through the gate and through up, and both meet in a product. The way out of
// the activation is drawn in its class, as a valve that is shut, leaks or is open. The same figures stand beside it in words.

import { CLASS_NAMES } from './definitions.js';
import { svg } from './dom.js';
import { exact } from './format.js';
import { lessonText as words } from './lesson-text.js';

/** @typedef {import('./lesson-stops.js').Setting} Setting */
/** @typedef {import('./lesson-bench.js').TinyTrace} TinyTrace */
/** @typedef {import('./definitions.js').GateClass} GateClass */

const [WIDTH, HEIGHT] = [620, 96];
const [UPPER, MIDDLE, LOWER] = [28, 50, 78];
const BOX_HEIGHT = 24;
/** Where things stand, from left to right. */
const AT = { fork: 62, weights: 78, act: 222, turn: 372, meet: 384, down: 466, end: 530 };
const WIDE = { weight: 62, act: 56 };
const PRODUCT_RADIUS = 11;

/** Three digits at most: the drawing is for the eye. @param {number} value */
const brief = (value) => exact(value, 3);

/**
 * @param {Setting} setting
 * @param {string} actName
 * @param {TinyTrace | null} trace null: what comes out is not told yet
 * @param {GateClass} gateClass
 */
export function flowOf(setting, actName, trace, gateClass) {
  const say = (/** @type {string} */ name, /** @type {Float32Array | undefined} */ values) =>
    `${name} = ${values === undefined ? words.unknown : brief(values[0])}`;
  const times = (/** @type {number} */ weight) => `\u00d7 ${brief(weight)}`;
  const gate = trace === null ? 'flow' : `flow is-${CLASS_NAMES[gateClass]}`;
  const [top, bottom] = [MIDDLE - PRODUCT_RADIUS, MIDDLE + PRODUCT_RADIUS];
  const { fork, weights, act, turn, meet, down, end } = AT;
  return svg(
    'svg',
    { class: 'unit-flow', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true' },
    edge('flow', `M46 ${MIDDLE}H${fork}M${fork} ${UPPER}V${LOWER}M${fork} ${UPPER}H${weights}`),
    edge('flow', `M${fork} ${LOWER}H${weights}M${weights} ${UPPER}H${act}`),
    edge(gate, `M${act + WIDE.act} ${UPPER}H${turn}Q${meet} ${UPPER} ${meet} ${top}`),
    edge('flow', `M${weights} ${LOWER}H${turn}Q${meet} ${LOWER} ${meet} ${bottom}`),
    edge('flow', `M${meet} ${MIDDLE}H${end}`),
    svg('text', { x: 0, y: MIDDLE + 4 }, `x = ${brief(setting.x)}`),
    ...box(weights, UPPER, WIDE.weight, times(setting.gate)),
    ...box(weights, LOWER, WIDE.weight, times(setting.up)),
    ...box(act, UPPER, WIDE.act, actName),
    svg('circle', { class: 'flow-box', cx: meet, cy: MIDDLE, r: PRODUCT_RADIUS }),
    caption(meet, MIDDLE + 5, '\u00d7'),
    ...box(down, MIDDLE, WIDE.act, times(setting.down)),
    caption((weights + WIDE.weight + act) / 2, UPPER - 7, say('g', trace?.gate)),
    caption((act + WIDE.act + turn) / 2, UPPER - 7, say('a', trace?.act)),
    caption((weights + WIDE.weight + turn) / 2, LOWER - 7, say('u', trace?.up)),
    caption((meet + PRODUCT_RADIUS + down) / 2, MIDDLE - 7, say('h', trace?.hidden)),
    svg('text', { class: 'flow-end', x: end + 4, y: MIDDLE + 4 }, say('y', trace?.output)),
  );
}

/**
 * @param {string} kind
 * @param {string} d
 */
const edge = (kind, d) => svg('path', { class: kind, d });

/**
 * @param {number} x
 * @param {number} y
 * @param {string} label
 */
const caption = (x, y, label) => svg('text', { x, y, 'text-anchor': 'middle' }, label);

/**
 * @param {number} left
 * @param {number} middle
 * @param {number} width
 * @param {string} label
 */
function box(left, middle, width, label) {
  const [y, height] = [middle - BOX_HEIGHT / 2, BOX_HEIGHT];
  return [
    svg('rect', { class: 'flow-box', x: left, y, width, height, rx: 5 }),
    caption(left + width / 2, middle + 4, label),
  ];
}
