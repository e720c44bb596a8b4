// What the map's colours mean: the class of a gate, or one of its numbers on a scale that is centred on 0 and logarithmic
// outside a linear middle. Turns a cell into an index of a colour table; heatmap and tile paint from the same table.

import { ASK } from './cell-classes.js';
import { CLASS_NAMES } from './definitions.js';
import { classesShown, filterOf } from './filters.js';
import { number } from './format.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {'class' | 'a' | 'g' | 'u' | 'h' | 'c' | 'pi' | 'du' | 'dg'} ColourKey */
/** @type {readonly ColourKey[]} */
export const COLOUR_KEYS = ['class', 'a', 'g', 'u', 'h', 'c', 'pi', 'du', 'dg'];

/**
 * `indexOf`: the place of a cell's colour in `pixels` (as ImageData holds them) and `css`. `limit`: the value at the ends
 * of a continuous scale, null for classes.
 * `byCode`: where only the class counts, the same by the code of a cell (cell-classes.js), which may be ASK.
 * @typedef {{ pixels: Uint32Array, css: string[], limit: number | null, palette: Palette, byCode: Uint8Array | null,
 *   indexOf: (token: number, unit: number) => number }} Colouring
 */

/** The scale is linear up to this share of its limit. */
const LINEAR_SHARE = 0.02;
/** A scale has some extent even where every value is 0. */
const LEAST_LIMIT = 1e-30;

/**
 * @param {Scene} scene
 * @param {Palette} palette
 * @returns {Colouring}
 */
export function colouringOf(scene, palette) {
  const values = valuesOf(scene);
  if (values === null) return classColouring(scene, palette);
  const { dFf } = scene.numbers;
  const { ramp, gap, gapCss } = palette;
  const isShown = filterOf(scene);
  const faint = ramp.pixels.length;
  const limit = largest(values, scene.firstCounted * dFf);
  const knee = limit * LINEAR_SHARE;
  const top = Math.log1p(limit / knee);
  const middle = (ramp.pixels.length - 1) / 2;
  return {
    pixels: Uint32Array.of(...ramp.pixels, gap),
    css: [...ramp.css, gapCss],
    limit,
    palette,
    byCode: null,
    indexOf: (token, unit) => {
      if (!isShown(token, unit)) return faint;
      const value = values[token * dFf + unit];
      const size = Math.min(1, Math.log1p(Math.abs(value) / knee) / top);
      return Math.round(middle + Math.sign(value) * size * middle);
    },
  };
}

/**
 * @param {Scene} scene
 * @param {Palette} palette
 * @returns {Colouring}
 */
function classColouring(scene, palette) {
  const { classes, numbers } = scene;
  const { dFf } = numbers;
  const isShown = filterOf(scene);
  const faint = CLASS_NAMES.length;
  return {
    pixels: Uint32Array.of(...palette.classes, palette.gap),
    css: [...palette.css, palette.gapCss],
    limit: null,
    palette,
    byCode: byCode(scene, faint),
    indexOf: (token, unit) => (isShown(token, unit) ? classes.at(token * dFf + unit) : faint),
  };
}

/**
 * @param {Scene} scene
 * @param {number} faint the place of the colour of what is not shown
 */
function byCode({ classes, state }, faint) {
  if (state.only === null) return classes.table;
  const shown = classesShown(state.only);
  if (shown === null) return null;
  return classes.table.map((found) => (found === ASK || shown[found] ? found : faint));
}

/**
 * What a colouring depends on: as long as it is the same the maps need not be painted anew.
 * @param {Scene} scene
 * @returns {unknown[]}
 */
export function colouringKey(scene) {
  const { numbers, state, classes, gradients, firstCounted, isWhole } = scene;
  const values = valuesOf(scene);
  const { by, only } = state;
  const asked = by === 'du' || by === 'dg' ? gradients : values;
  const filter = only === null ? null : classes;
  return [numbers, isWhole, by, asked, firstCounted, only, values === null ? classes : filter];
}

/** @param {Scene} scene */
function valuesOf({ numbers, state, isWhole, gradients, ofAll }) {
  const { activated, gate, up, hidden, contribution } = numbers;
  if (!isWhole) return null;
  const [du, dg] = [gradients?.up ?? null, gradients?.gate ?? null];
  const [c, pi] = [contribution, ofAll.along];
  return { class: null, a: activated, g: gate, u: up, h: hidden, c, pi, du, dg }[state.by];
}

/**
 * The largest magnitude. The first token's spikes would make everything else look like 0, so it is left out unless asked for.
 * @param {Float32Array} values
 * @param {number} from
 */
function largest(values, from) {
  let most = LEAST_LIMIT;
  for (let i = from; i < values.length; i++) most = Math.max(most, Math.abs(values[i]));
  return most;
}

/** The figures under a continuous scale. @param {number} limit @param {ColourKey} by */
export function scaleFigures(limit, by) {
  return by === 'c' ? ['0', number(limit)] : [number(-limit), number(limit)];
}
