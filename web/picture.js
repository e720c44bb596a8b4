// The map and the tile as one PNG, with a legend and a caption under them, so that the picture says by itself what it shows.
// export-files.js writes the caption.

import { text } from './text.js';

/** @typedef {import('./scene.js').Scene} Scene */

const PNG_SCALE = 2;
const CAPTION_LINE = 20;
const MARGIN = 16;
const SWATCH = 12;

/**
 * Map, tile and a caption on one canvas.
 * @param {Scene} scene
 * @param {string[]} caption paragraphs
 * @returns {Promise<Blob>}
 */
export async function pictureOf(scene, caption) {
  const pictures = /** @type {HTMLCanvasElement[]} */ ([
    ...document.querySelectorAll('#map canvas, #tile canvas'),
  ]);
  const sizes = pictures.map((picture) => picture.getBoundingClientRect());
  const width = Math.max(...sizes.map((size) => size.width)) + 2 * MARGIN;
  const canvas = document.createElement('canvas');
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const { color, backgroundColor } = getComputedStyle(document.body);
  const font = `15px ${getComputedStyle(document.body).fontFamily}`;
  context.font = font;
  const lines = wrap(context, caption, width - 2 * MARGIN);
  const pictureHeight = sizes.reduce((sum, size) => sum + size.height + MARGIN, MARGIN);
  canvas.width = width * PNG_SCALE;
  canvas.height = (pictureHeight + (lines.length + 1) * CAPTION_LINE + MARGIN) * PNG_SCALE;
  context.scale(PNG_SCALE, PNG_SCALE);
  context.fillStyle = backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.font = font;
  let top = MARGIN;
  pictures.forEach((picture, i) => {
    context.imageSmoothingEnabled = !picture.classList.contains('is-stretched');
    context.drawImage(picture, MARGIN, top, sizes[i].width, sizes[i].height);
    top += sizes[i].height + MARGIN;
  });
  top = drawLegend(context, scene, top);
  for (const line of lines) {
    context.fillText(line, MARGIN, top + CAPTION_LINE * 0.7);
    top += CAPTION_LINE;
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('PNG')) : resolve(blob)),
      'image/png',
    ),
  );
}

/**
 * What the colours mean, in one line as the page has it beside the maps.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} top
 * @returns {number} where the next line begins
 */
function drawLegend(context, { state }, top) {
  const ink = context.fillStyle;
  let left = MARGIN;
  const say = (/** @type {string} */ words) => {
    context.fillText(words, left, top + CAPTION_LINE * 0.7);
    left += context.measureText(words).width + MARGIN;
  };
  if (state.by === 'class') {
    for (const button of document.querySelectorAll('#class-counts .legend')) {
      const isShut = button.getAttribute('data-class') === 'shut';
      context.fillStyle = colourOf(isShut ? 'crossing' : button.getAttribute('data-class'));
      context.fillRect(left, top + 2, SWATCH, SWATCH);
      context.fillStyle = ink;
      // Both are closed and of one colour; shut ones have a dot.
      if (isShut) context.fillRect(left + SWATCH / 2 - 1, top + 1 + SWATCH / 2, 2, 2);
      left += SWATCH + 5;
      say((button.textContent ?? '').trim());
    }
  } else {
    const [low, high] = [...document.querySelectorAll('#scale span')].map((end) => end.textContent);
    say(text.exports.scale(text.colours[state.by], low ?? '', high ?? ''));
  }
  return top + CAPTION_LINE;
}

/** @param {string | null} name of a class */
function colourOf(name) {
  const swatch = document.querySelector(`#class-counts .swatch.band-${name}`);
  return swatch === null ? '' : getComputedStyle(swatch).backgroundColor;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string[]} paragraphs
 * @param {number} width
 */
function wrap(context, paragraphs, width) {
  const lines = [];
  for (const paragraph of paragraphs) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && context.measureText(longer).width > width) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return lines;
}
