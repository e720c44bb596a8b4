// Colours as the stylesheet defines them, resolved for canvas painting. styles/colours.css is the only place that names a colour;
// this file asks the browser what `--class-open` and its like are right now (they differ between light and dark).

import { CLASS_NAMES, CROSSING, LEAKING, OPEN } from './definitions.js';

/** Odd, so that 0 has a colour of its own. */
const RAMP_STEPS = 255;

/** CSS custom properties of the four classes, in the order of the classes in definitions.js. */
const CLASS_PROPERTIES = ['--class-shut', '--class-crossing', '--class-leaking', '--class-open'];

/**
 * A property's colour as [r, g, b, a] bytes.
 * @param {HTMLElement} host
 * @param {CanvasRenderingContext2D} context a one-pixel canvas to resolve with
 * @param {string} property
 */
function resolve(host, context, property) {
  const probe = document.createElement('span');
  // Where colours are forced the page's palette is one of system colours; they too have to differ.
  probe.style.forcedColorAdjust = 'none';
  probe.style.color = `var(${property})`;
  host.append(probe);
  context.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}

/**
 * `classes` and `gap` are pixels as ImageData's memory holds them; the strings are CSS colours.
 * `ramp` runs from the leaking colour over the closed one to the open one, for numbers around 0.
 * @typedef {{ classes: Uint32Array, css: string[], gap: number, gapCss: string, mark: string,
 *   ramp: { pixels: Uint32Array, css: string[] } }} Palette
 */

/**
 * @param {HTMLElement} [host] where the colours are wanted
 * @returns {Palette}
 */
export function readPalette(host = document.body) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext('2d', { willReadFrequently: true })
  );
  const bytes = [...CLASS_PROPERTIES, '--map-gap', '--ink'].map((name) =>
    resolve(host, context, name).slice(),
  );
  const css = bytes.map(([r, g, b]) => `rgb(${r} ${g} ${b})`);
  const pixels = bytes.map((rgba) => new Uint32Array(rgba.buffer)[0]);
  return {
    classes: Uint32Array.from(pixels.slice(0, CLASS_NAMES.length)),
    css: css.slice(0, CLASS_NAMES.length),
    gap: pixels[CLASS_NAMES.length],
    gapCss: css[CLASS_NAMES.length],
    mark: css[CLASS_NAMES.length + 1],
    ramp: rampBetween(bytes[LEAKING], bytes[CROSSING], bytes[OPEN]),
  };
}

/**
 * @param {Uint8ClampedArray} low
 * @param {Uint8ClampedArray} middle
 * @param {Uint8ClampedArray} high
 */
function rampBetween(low, middle, high) {
  const colours = Array.from({ length: RAMP_STEPS }, (_, i) => {
    const at = (2 * i) / (RAMP_STEPS - 1) - 1;
    const end = at < 0 ? low : high;
    return Uint8ClampedArray.from(middle, (byte, k) => byte + Math.abs(at) * (end[k] - byte));
  });
  return {
    pixels: Uint32Array.from(colours, (rgba) => new Uint32Array(rgba.buffer)[0]),
    css: colours.map(([r, g, b]) => `rgb(${r} ${g} ${b})`),
  };
}

/**
 * Calls back when the colours may have changed: the system's scheme, forced colours, or the page's toggle.
 * @param {() => void} listener
 * @param {AbortSignal} [signal] ends it
 */
export function onSchemeChange(listener, signal) {
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
    matchMedia(query).addEventListener('change', listener, { signal });
  }
  const observer = new MutationObserver(listener);
  signal?.addEventListener('abort', () => observer.disconnect());
  observer.observe(document.documentElement, {
    attributeFilter: ['data-theme'],
  });
}
