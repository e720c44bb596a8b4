// One gate, looked into: its class in words, the point on the activation's curve, the product as a row of numbers, the unit
// over all tokens, and what happens when it is closed. It shows what it is handed; closing is asked of the caller.

import { actAt } from './analysis.js';
import { channelChanges, nextTokenBars } from './bar-charts.js';
import { CompareTable } from './compare-table.js';
import { el } from './dom.js';
import { number, percent } from './format.js';
import { HeldGate } from './held-gate.js';
import { rankOf } from './orders.js';
import { OverTokens } from './over-tokens.js';
import { formatHash } from './state.js';
import { actName, text } from './text.js';
import { UnitParts } from './unit-parts.js';
import { recordOf } from './unit-record.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./protocol.js').EffectMessage} EffectMessage */
/** @typedef {ReturnType<typeof import('./recorded-runs.js').recordedGuesses>} Guesses */
/**
 * What was computed for the pinned cell: closing it alone, all that is held by hand together, what its weights do.
 * @typedef {{ alone: EffectMessage | null, together: EffectMessage | null, guesses: Guesses,
 *   unit: import('./protocol.js').UnitMessage | null }} Effects
 */

const words = text.inspector;
/** The slider of g: its reach to both sides, and its step, which is that of the activation's samples. */
const WHAT_IF_REACH = 12;
const WHAT_IF_STEP = 1 / 64;

export class Inspector {
  /** Its address is that of this gate. */
  #link = el('a', { class: 'permalink', title: words.permalink });
  #title = el('h2', { id: 'inspector-title' }, this.#link);
  #mode = el('span', { class: 'mode' });
  #place = el('p', { class: 'place' });
  #gate = new HeldGate();
  #rank = el('p', { class: 'rank', title: text.meanings.rank });
  #tokens = new OverTokens();
  #compare = new CompareTable();
  #parts = new UnitParts();
  #backward = el('p', { class: 'habit', id: 'backward' });
  #keep = el('button', { type: 'button', id: 'compare-keep' });
  #copy = el('button', { type: 'button', id: 'copy-unit' }, words.copy);
  #copied = el('output', { class: 'habit' });
  #button = el('button', { type: 'button', class: 'primary', id: 'close-gate' });
  #effect = el('p', { class: 'effect', id: 'effect', title: text.meanings.pi });
  #whatIf = el('input', { type: 'range', id: 'what-if', step: WHAT_IF_STEP });
  #whatIfResult = el('output', { for: 'what-if', 'aria-live': 'off' });
  #asIs = el('button', { type: 'button', class: 'link' }, words.asIs);
  #channels = el('figure', { class: 'channel-figure' });
  #recorded = el('figure', { class: 'recorded' });
  #body = el('div', { class: 'inspector-body' });
  #empty = el('p', { class: 'empty' }, words.empty);
  /** What is looked into. @type {Cell | null} */
  #cell = null;
  /** What the button keeps to compare with; null: it ends the comparison. @type {Cell | null} */
  #toKeep = null;
  #record = () => '';

  /**
   * @param {HTMLElement} host
   * @param {{ onToggleClosed: (cell: Cell) => void, onWhatIf: (gate: number | null) => void,
   *   onWhatIfBegin: () => void, onVersus: (cell: Cell | null) => void }} actions
   */
  constructor(host, { onToggleClosed, onWhatIf, onWhatIfBegin, onVersus }) {
    this.#keep.addEventListener('click', () => onVersus(this.#toKeep));
    this.#copy.addEventListener('click', () => this.#copyRecord());
    this.#whatIf.addEventListener('input', () => onWhatIf(Number(this.#whatIf.value)));
    // By a pointer, or by keys.
    for (const begin of ['pointerdown', 'focus']) {
      this.#whatIf.addEventListener(begin, onWhatIfBegin);
    }
    this.#asIs.addEventListener('click', () => onWhatIf(null));
    this.#button.addEventListener('click', () => {
      if (this.#cell !== null) onToggleClosed(this.#cell);
    });
    this.#body.append(
      el(
        'header',
        {},
        el('div', { class: 'title-row' }, this.#title, this.#mode, this.#rank),
        this.#place,
      ),
      ...this.#gate.nodes,
      this.#tokens.node,
      this.#compare.node,
      el('div', { class: 'close-row' }, this.#button, this.#effect),
      el(
        'div',
        { class: 'what-if-row' },
        el('label', { for: 'what-if' }, words.whatIf),
        this.#whatIf,
        this.#asIs,
        this.#whatIfResult,
      ),
      this.#recorded,
      this.#channels,
      el('div', { class: 'unit-actions' }, this.#keep, this.#copy, this.#copied),
      this.#backward,
      this.#parts.node,
    );
    this.#body.hidden = true;
    host.append(this.#body, this.#empty);
  }

  /**
   * @param {Scene} scene
   * @param {Effects} effects of the pinned unit at the selected token
   * @param {number | string} layer
   */
  update(scene, effects, layer) {
    const cell = scene.focus;
    const visible = cell !== null && scene.has(cell);
    this.#cell = cell;
    this.#body.hidden = !visible;
    this.#empty.hidden = visible;
    if (cell === null || !visible) return;
    const pinned = cell.unit === scene.state.unit && cell.token === scene.state.token;
    const { pieces } = scene.numbers;
    this.#link.textContent = words.title(cell.unit);
    this.#link.href = formatHash({ ...scene.state, ...cell });
    this.#mode.textContent = pinned ? words.pinned : words.peek;
    this.#place.textContent = words.place(layer, cell.token, pieces[cell.token]);
    this.#updateRank(scene, cell);
    this.#gate.update(scene, cell, pinned);
    this.#tokens.update(scene, cell);
    this.#updateEffects(scene, effects, pinned);
    this.#updateCloser(scene, cell, effects, layer, pinned);
    this.#updateWhatIf(scene, cell, effects.together, pinned);
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   */
  #updateRank({ numbers: { contribution, dFf } }, { token, unit }) {
    this.#rank.textContent =
      contribution === null ? '' : words.rank(rankOf(contribution, token, dFf, unit), dFf);
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {Effects} effects
   * @param {number | string} layer
   * @param {boolean} pinned
   */
  #updateCloser(scene, cell, effects, layer, pinned) {
    const { versus, direction } = scene.state;
    this.#compare.update(scene, cell);
    this.#toKeep = versus === null ? cell : null;
    const waits = versus?.token === cell.token && versus.unit === cell.unit;
    this.#keep.textContent = versus === null ? words.keep : waits ? words.kept : words.endCompare;
    this.#keep.disabled = !pinned || !scene.isWhole;
    this.#copy.disabled = !scene.isWhole;
    this.#record = () => JSON.stringify(recordOf(scene, cell, String(layer), effects), null, 2);
    this.#parts.update(pinned ? effects.unit : null);
    const { gradients, numbers } = scene;
    const i = cell.token * numbers.dFf + cell.unit;
    const here = gradients?.here[cell.token] === true ? gradients : null;
    this.#backward.hidden = here === null;
    if (here === null) return;
    const figures = [here.arriving[i], here.up[i], here.gate[i]].map((value) => number(value));
    this.#backward.textContent = words.backward(direction, figures);
  }

  async #copyRecord() {
    try {
      await navigator.clipboard.writeText(this.#record());
      this.#copied.textContent = words.copied;
    } catch {
      this.#copied.textContent = words.notCopied;
    }
  }

  /**
   * @param {Scene} scene
   * @param {Cell} cell
   * @param {EffectMessage | null} together
   * @param {boolean} pinned
   */
  #updateWhatIf(scene, { token, unit }, together, pinned) {
    const { state, isWhole } = scene;
    const { gate, dFf, curve, variant } = scene.numbers;
    const isShut = scene.isShutByHand({ token, unit });
    const own = gate[token * dFf + unit];
    const reach = Math.max(WHAT_IF_REACH, Math.ceil(Math.abs(own)));
    const { whatIf } = state;
    this.#whatIf.min = String(-reach);
    this.#whatIf.max = String(reach);
    this.#whatIf.value = String(pinned && whatIf !== null ? whatIf : own);
    this.#whatIf.disabled = !pinned || !isWhole || isShut || variant !== null;
    this.#asIs.hidden = !pinned || whatIf === null;
    if (isShut || variant !== null) {
      this.#whatIfResult.textContent = isShut ? words.whatIfClosed : words.whatIfVaried;
      return;
    }
    const act = number(actAt(curve, whatIf ?? own));
    const share = together === null ? '\u2026' : percent(together.relative);
    this.#whatIfResult.textContent =
      pinned && whatIf !== null ? words.whatIfResult(act, share) : number(own);
  }

  /**
   * @param {Scene} scene
   * @param {Effects} effects
   * @param {boolean} pinned
   */
  #updateEffects(scene, { alone, guesses }, pinned) {
    const { state, isWhole, numbers } = scene;
    const { token, unit } = state;
    const closed = unit !== null && state.closed.includes(unit);
    // What a whole set closes, only the set opens again.
    const ofSet = unit !== null && !closed && scene.isShutByHand({ token, unit });
    this.#button.textContent = closed ? words.reopen : words.close;
    this.#button.setAttribute('aria-pressed', String(closed));
    this.#button.disabled = !pinned || !isWhole || ofSet;
    this.#effect.textContent = alone === null || !pinned ? '' : effectSentence(alone, closed);
    this.#recorded.hidden = guesses === null || !pinned;
    if (guesses !== null && pinned) {
      const isOwn = numbers.act === numbers.ownAct;
      const note = isOwn ? words.recordedNote : words.recordedOther(actName(numbers.ownAct));
      const caption = el('figcaption', {}, words.recorded, el('small', {}, note));
      this.#recorded.replaceChildren(caption, ...(isOwn ? [nextTokenBars(guesses, closed)] : []));
    }
    this.#channels.hidden = alone === null || !pinned;
    if (alone !== null && pinned) {
      const caption = el('figcaption', {}, words.channels);
      this.#channels.replaceChildren(caption, channelChanges(alone.channels));
    }
  }
}

/**
 * @param {EffectMessage} effect of the pinned unit alone
 * @param {boolean} closed
 */
function effectSentence({ relative, along, cosine }, closed) {
  const share = percent(relative);
  return closed ? words.moved(share, number(cosine, 2)) : words.wouldMove(share, percent(along));
}
