// What the page can show without asking anyone: the layers and prompts that ship in fixtures/, and where they lie.
// places.js knows their addresses. Nothing here fetches.

import { dataUrl } from './places.js';

const PREFIX = 'smollm2-135m-instruct';

export const SHIPPED = {
  id: 'smollm2',
  name: 'SmolLM2-135M-Instruct',
  layers: [5, 11, 24],
  prompts: ['english', 'code', 'chat'],
  act: 'silu',
  hiddenUrl: dataUrl(`${PREFIX}-hidden.safetensors`),
  /** All of its header; of what follows, only one text is read. */
  hiddenHeaderBytes: 2048,
  promptsUrl: dataUrl(`${PREFIX}-prompts.json`),
  whatIfUrl: dataUrl(`${PREFIX}-whatif.json`),
  checksumsUrl: dataUrl('SHA256SUMS'),
};

/** @param {number} layer */
export function layerFile(layer) {
  return `${PREFIX}-layer${String(layer).padStart(2, '0')}.safetensors`;
}

/** @param {number} layer */
export function layerUrl(layer) {
  return dataUrl(layerFile(layer));
}

/**
 * The captured tensor `x` (what the model fed this MLP) or `y` (what Hugging Face's MLP made of it).
 * @param {number} layer
 * @param {string} prompt
 * @param {'x' | 'y'} which
 */
export function hiddenName(layer, prompt, which) {
  return `layer${String(layer).padStart(2, '0')}/${prompt}/${which}`;
}

/** Where the page opens: the gate that opens for capital cities, at the token that asks for one. */
export const OPENING = { layer: 24, prompt: 'chat', token: 41, unit: 1005 };
