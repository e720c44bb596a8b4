// What dropping gates costs: the error of the token's output against the share of units dropped, least first by four scores,
// and where each curve passes an error of 20 %. SVG by hand, with the figures in it; drawn anew when the worker has answered.

import { scale } from './act-curve.js';
import { HEIGHT, PLOT, WIDTH } from './chart-frame.js';
import { byId, svg } from './dom.js';
import { percent } from './format.js';
import { SCORES } from './orders.js';
import { text } from './text.js';

/** @typedef {import('./protocol.js').ErrorCurves} ErrorCurves */

const words = text.charts;
/** The error that the curves are read at. */
const READ_AT = 0.2;
const HIGHEST_ERROR = 1;
/** How much of a dropped unit's weights need not be read: of its three equal rows, those that the score is not made of. */
const SPARED = { a: 2 / 3, u: 2 / 3, h: 1 / 3, c: 1 / 3 };

export class ErrorChart {
  #host = byId('chart-errors');
  #reading = byId('errors-reading');
  /** @type {ErrorCurves | null} */
  #drawn = null;

  /** @param {ErrorCurves | null} curves null: on their way; those of the token before stay meanwhile */
  update(curves) {
    if (curves === null || curves === this.#drawn) return;
    this.#drawn = curves;
    this.#host.replaceChildren(errorChart(curves));
    const shares = SCORES.map((score) => droppable(curves, score));
    const spared = SCORES.map((score, i) => percent(shares[i] * SPARED[score]));
    const list = SCORES.map((score, i) => `${words.scores[score]} ${percent(shares[i])}`);
    this.#reading.textContent = words.reading(list.join(', '), spared.join(', '));
  }
}

/**
 * The share of units that can be dropped by a score before the error passes READ_AT; between two points, linearly.
 * @param {ErrorCurves} curves
 * @param {import('./orders.js').Score} score
 */
export function droppable({ dropped, errors }, score) {
  const values = errors[score];
  const past = values.findIndex((error) => error > READ_AT);
  if (past <= 0) return past === 0 ? 0 : 1;
  const part = (READ_AT - values[past - 1]) / (values[past] - values[past - 1]);
  const count = dropped[past - 1] + part * (dropped[past] - dropped[past - 1]);
  return count / dropped[dropped.length - 1];
}

/** @param {ErrorCurves} curves */
function errorChart(curves) {
  const { dropped, errors } = curves;
  const x = scale(0, dropped[dropped.length - 1], PLOT.left, PLOT.right);
  const y = scale(0, HIGHEST_ERROR, PLOT.bottom, PLOT.top);
  const lines = SCORES.map((score) => {
    const points = dropped.map(
      (count, i) => `${x(count)} ${y(Math.min(HIGHEST_ERROR, errors[score][i]))}`,
    );
    return svg('path', { class: `score score-${score}`, d: `M${points.join('L')}` });
  });
  const readings = SCORES.map((score) => {
    const at = PLOT.left + droppable(curves, score) * (PLOT.right - PLOT.left);
    return svg('circle', { class: `score-dot score-${score}`, cx: at, cy: y(READ_AT), r: 3.5 });
  });
  const all = [0, 0.2, 0.4, 0.6, 0.8, 1];
  return svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words.errorsLabel },
    ...all.flatMap((share) => [
      svg('path', { class: 'grid', d: `M${PLOT.left} ${y(share)}H${PLOT.right}` }),
      svg(
        'text',
        { x: PLOT.left - 5, y: y(share) + 4, 'text-anchor': 'end' },
        `${share * 100}\u202f%`,
      ),
      svg(
        'text',
        {
          x: PLOT.left + share * (PLOT.right - PLOT.left),
          y: PLOT.bottom + 15,
          'text-anchor': 'middle',
        },
        `${Math.round(share * 100)}`,
      ),
    ]),
    svg('path', { class: 'read-at', d: `M${PLOT.left} ${y(READ_AT)}H${PLOT.right}` }),
    svg('text', { x: PLOT.right, y: HEIGHT - 2, 'text-anchor': 'end' }, words.droppedAxis),
    ...lines,
    ...readings,
  );
}
