// Colours as the stylesheet defines them, resolved for canvas painting. styles.css is the only place that names a colour;
// this file asks the browser what `--class-open` and its like are right now (they differ between light and dark).

/** CSS custom properties of the four classes, in the order of the classes in definitions.js. */
const CLASS_PROPERTIES = ['--class-shut', '--class-crossing', '--class-leaking', '--class-open'];
export const CLASS_NAMES = /** @type {const} */ (['shut', 'crossing', 'leaking', 'open']);

/**
 * A property's colour as [r, g, b, a] bytes.
 * @param {CanvasRenderingContext2D} context a one-pixel canvas to resolve with
 * @param {string} property
 */
function resolve(context, property) {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  context.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}

/**
 * `classes` and `gap` are pixels as ImageData's memory holds them; the strings are CSS colours.
 * @typedef {{ classes: Uint32Array, css: string[], gap: number, gapCss: string, mark: string }} Palette
 */

/** @returns {Palette} */
export function readPalette() {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext('2d', { willReadFrequently: true })
  );
  const bytes = [...CLASS_PROPERTIES, '--map-gap', '--ink'].map((name) =>
    resolve(context, name).slice(),
  );
  const css = bytes.map(([r, g, b]) => `rgb(${r} ${g} ${b})`);
  const pixels = bytes.map((rgba) => new Uint32Array(rgba.buffer)[0]);
  return {
    classes: Uint32Array.from(pixels.slice(0, CLASS_NAMES.length)),
    css: css.slice(0, CLASS_NAMES.length),
    gap: pixels[CLASS_NAMES.length],
    gapCss: css[CLASS_NAMES.length],
    mark: css[CLASS_NAMES.length + 1],
  };
}

/**
 * Calls back when the colours may have changed: the system's scheme or the page's toggle.
 * @param {() => void} listener
 */
export function onSchemeChange(listener) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listener);
  new MutationObserver(listener).observe(document.documentElement, {
    attributeFilter: ['data-theme'],
  });
}
