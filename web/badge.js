// The page's seal: says in words whether what is shown was checked, against what, and how well it agrees. Red beyond the
// tolerance or when the weights file is not the recorded one; amber where a check was not possible; never green unchecked.

import { byId } from './dom.js';
import { scientific } from './format.js';
import { actName, text } from './text.js';

/** Largest |ours - Hugging Face| of a token, as a share of that token's norm, that float32 arithmetic explains. */
export const TOLERANCE = 2e-6;

/** The same where the model computed in bfloat16. */
const HALF_TOLERANCE = 3e-2;

/** @typedef {'pending' | 'ok' | 'warning' | 'bad'} BadgeState */
/** @typedef {import('./protocol.js').VerifyMessage} VerifyMessage */

const SYMBOLS = { pending: '\u2026', ok: '\u2713', warning: '!', bad: '\u2715' };

/**
 * @param {VerifyMessage} result
 * @returns {{ state: BadgeState, words: string }}
 */
export function verdict({ worst, token, tokens, digest, expected }) {
  const figure = scientific(worst);
  if (digest !== null && expected !== null && digest !== expected) {
    return { state: 'bad', words: text.badge.altered(figure) };
  }
  // Written so that a NaN is too far.
  if (!(worst <= TOLERANCE)) return { state: 'bad', words: text.badge.tooFar(token, figure) };
  if (digest === null || expected === null) {
    return { state: 'warning', words: text.badge.unhashed(tokens, figure) };
  }
  return { state: 'ok', words: text.badge.ok(tokens, figure) };
}

/**
 * The same for hidden states that the reader brought. A model that ran in half precision rounds each product.
 * @param {import('./protocol.js').Agreement | null} agreement null: there was nothing to compare with
 * @returns {{ state: BadgeState, words: string }}
 */
function capturedVerdict(agreement) {
  if (agreement === null) return { state: 'warning', words: text.badge.unreferenced };
  const { worst, tokens } = agreement;
  const figure = scientific(worst);
  if (worst <= TOLERANCE) return { state: 'ok', words: text.badge.agrees(tokens, figure) };
  if (worst <= HALF_TOLERANCE) {
    return { state: 'warning', words: text.badge.agreesRoughly(tokens, figure) };
  }
  return { state: 'bad', words: text.badge.disagrees(figure) };
}

/**
 * What there is to check is asked of the worker.
 * @param {import('./protocol.js').Source} source
 * @param {import('./protocol.js').WorkerClient} client
 * @returns {Promise<{ state: BadgeState, words: string }>}
 */
async function checked(source, client) {
  if (source.kind === 'probe') return { state: 'warning', words: text.badge.probe };
  if (source.kind === 'captured') {
    return capturedVerdict(await client.request('agree', { states: source.states }));
  }
  const { layer, prompt } = source;
  return verdict(await client.request('verify', { layer, prompt }));
}

/**
 * The seal of the layer on show: whether it agrees, and what of it is not as usual. It speaks of what is drawn.
 * @param {import('./protocol.js').WorkerClient} client
 * @param {import('./protocol.js').Source} source
 * @param {import('./protocol.js').TraceMessage} trace
 * @param {import('./frames.js').Frames} frames
 * @returns {Promise<{ state: BadgeState, words: string }>}
 */
export async function sealOf(client, source, { act, ownAct, variant }, frames) {
  const { state, words } = await checked(source, client);
  if (!(await frames.drawn())) return { state: 'bad', words: text.badge.notDrawn };
  const own = act === ownAct ? '' : text.badge.ownAct(actName(ownAct));
  const isChosen = source.kind !== 'shipped' && source.act !== null;
  const assumed = isChosen ? text.badge.assumed(actName(ownAct)) : '';
  return { state, words: words + own + assumed + text.badge.variant(variant) };
}

export class Badge {
  #node = byId('badge');
  #symbol = byId('badge-symbol');
  #words = byId('badge-words');

  /**
   * @param {BadgeState} state
   * @param {string} words
   */
  show(state, words) {
    this.#node.dataset.state = state;
    this.#symbol.textContent = SYMBOLS[state];
    this.#words.textContent = words;
  }
}
