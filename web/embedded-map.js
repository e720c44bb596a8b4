// What is in a <gate-map>: the sentence, the text, the map of all tokens, the tile of one, as on the page, drawn from one scene.
// It shows shipped layers only, and says what was checked. gate-map.js owns it.

import { verdict } from './badge.js';
import { CellGrid } from './cell-grid.js';
import { colouringKey, colouringOf } from './colouring.js';
import { onSchemeChange, readPalette } from './colours.js';
import { EmbeddedComputing } from './embedded-computing.js';
import { EmbeddedFrame } from './embedded-frame.js';
import { Frames } from './frames.js';
import { GradientField } from './gradient-field.js';
import { Heatmap } from './heatmap.js';
import { errorInWords } from './load-errors.js';
import { numbersOfPreview, numbersOfTrace, Scene } from './scene.js';
import { ShippedTexts } from './shipped-texts.js';
import { formatHash, parseHash } from './state.js';
import { within } from './state-store.js';
import { Subject } from './subject.js';
import { text } from './text.js';
import { Tile } from './tile.js';
import { TokenStrip } from './token-strip.js';
import { WholeLayer } from './whole-layer.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./scene.js').Numbers} Numbers */

export class EmbeddedMap {
  #frame;
  #onChange;
  #computing = new EmbeddedComputing();
  #subject = new Subject();
  #gradients = new GradientField(this.#computing.client, () => this.#schedule());
  #wholeLayer = new WholeLayer(this.#computing.client, () => this.#schedule());
  #ended = new AbortController();
  /** @type {State} */
  #state;
  /** @type {Numbers | null} */
  #numbers = null;
  /** @type {Scene | null} */
  #scene = null;
  /** @type {Cell | null} */
  #hover = null;
  #texts = new ShippedTexts();
  #loads = 0;
  /** The layer on show is the one that is computed with. */
  #isSettled = false;
  #frames = new Frames(
    () => this.#draw(),
    (error) => this.#fail(error),
  );
  #palette;
  /** @type {import('./colouring.js').Colouring | null} */
  #colouring = null;
  /** @type {unknown[]} */
  #coloured = [];
  #strip;
  #heatmap;
  #grid;
  #tile;

  /**
   * @param {ShadowRoot} root
   * @param {string} hash
   * @param {(hash: string) => void} onChange
   */
  constructor(root, hash, onChange) {
    this.#onChange = onChange;
    this.#frame = new EmbeddedFrame(root);
    const { strip, map, tile } = this.#frame;
    this.#palette = readPalette(this.#frame.node);
    this.#strip = new TokenStrip(strip, {
      onSelect: (token) => this.#change({ token, closed: [] }),
    });
    this.#heatmap = new Heatmap(map);
    const point = (/** @type {Cell | null} */ cell) => this.#point(cell);
    const pin = (/** @type {Cell} */ { token, unit }) => this.#change({ token, unit });
    this.#grid = new CellGrid(map, {
      cellAt: (x, y) => this.#heatmap.cellAt(x, y),
      onHover: point,
      onPin: pin,
      onUnpin: () => this.#change({ unit: null }),
      onToggleClosed: (cell) => this.#toggleClosed(cell),
    });
    this.#tile = new Tile(tile, { onHover: point, onPin: pin });
    this.#computing.client.on('preview', (preview) => {
      this.#receive(numbersOfPreview(preview, this.#pieces(), this.#subject.about(this.#state)));
    });
    onSchemeChange(() => this.#recolour(), this.#ended.signal);
    this.#state = this.#read(hash);
    this.#start();
  }

  get hash() {
    return formatHash(this.#state);
  }

  /** Another state, from outside. @param {string} hash */
  adopt(hash) {
    const before = this.#state;
    this.#state = this.#read(hash);
    this.#follow(before);
  }

  /** Nothing of it goes on. */
  end() {
    this.#loads++;
    this.#ended.abort();
    this.#frames.end();
    this.#computing.end();
    this.#frame.end();
  }

  /** @param {string} hash */
  #read(hash) {
    const { state, notices } = parseHash(hash);
    const wrong = notices.map(({ key }) => key);
    if (state.model !== null) wrong.push('m');
    this.#frame.notice(wrong.length === 0 ? '' : text.badHash(wrong.join('; ')));
    return state;
  }

  async #start() {
    try {
      const tokens = this.#texts.fetchTokens(this.#ended.signal);
      await Promise.all([this.#frame.dress(), this.#computing.ready, tokens]);
      this.#recolour();
    } catch (error) {
      this.#fail(error);
      return;
    }
    await this.#load();
  }

  async #load() {
    const load = ++this.#loads;
    const { client } = this.#computing;
    this.#isSettled = false;
    this.#frame.badge('pending', text.badge.running);
    try {
      const source = this.#subject.source(this.#state);
      const about = this.#subject.about(this.#state);
      const trace = await client.request('show', { source, act: this.#state.act });
      if (load !== this.#loads) return;
      this.#isSettled = true;
      this.#receive(numbersOfTrace(trace, this.#pieces(), about));
      const { layer, prompt } = this.#state;
      const { state, words } = verdict(await client.request('verify', { layer, prompt }));
      const isDrawn = await this.#frames.drawn();
      if (isDrawn && load === this.#loads) this.#frame.badge(state, words);
      await this.#askCost();
    } catch (error) {
      if (load === this.#loads) this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    if (this.#ended.signal.aborted) return;
    this.#frame.badge('bad', text.badge.failed(errorInWords(error)));
  }

  #pieces() {
    return this.#texts.tokens(this.#state.prompt);
  }

  /** @param {Numbers} numbers */
  #receive(numbers) {
    if (this.#ended.signal.aborted) return;
    this.#numbers = numbers;
    this.#hover = null;
    this.#schedule();
  }

  /** What dropping the closed gates costs, and what those closed by hand do. */
  async #askCost() {
    const numbers = this.#numbers;
    // While another layer is on its way the computing may have it already.
    if (!this.#isSettled || numbers === null || numbers.up === null) return;
    const [asked, load] = [this.#state, this.#loads];
    const { token, tau, closed } = within(asked, numbers.tokens, numbers.dFf);
    const { client } = this.#computing;
    const holds = closed.map((unit) => ({ unit, value: 0 }));
    const cost = await client.request('hold', { token, set: 'closed', tau, holds: [] });
    const byHand =
      holds.length === 0 ? null : await client.request('hold', { token, set: null, tau, holds });
    const now = this.#state;
    const isSame =
      now.token === asked.token && now.tau === asked.tau && now.closed === asked.closed;
    if (isSame && load === this.#loads) this.#frame.results(cost.relative, closed.length, byHand);
    this.#schedule();
  }

  /** @param {Partial<State>} patch */
  #change(patch) {
    const before = this.#state;
    this.#state = { ...before, ...patch };
    this.#follow(before);
    this.#onChange(this.hash);
  }

  /** @param {State} before */
  #follow(before) {
    const now = this.#state;
    const isOther = (/** @type {(keyof State)[]} */ keys) =>
      keys.some((key) => before[key] !== now[key]);
    if (isOther(['token', 'tau', 'closed', 'layer', 'prompt', 'act']))
      this.#frame.results(null, 0, null);
    if (isOther(['layer', 'prompt', 'act'])) this.#load();
    else if (isOther(['token', 'tau', 'closed']))
      this.#askCost().catch((error) => this.#fail(error));
    this.#schedule();
  }

  /** @param {Cell} cell */
  #toggleClosed({ token, unit }) {
    const here = token === this.#state.token ? this.#state.closed : [];
    const closed = here.includes(unit) ? here.filter((other) => other !== unit) : [...here, unit];
    this.#change({ token, unit, closed });
  }

  /** @param {Cell | null} cell */
  #point(cell) {
    this.#hover = cell;
    this.#schedule();
  }

  #recolour() {
    this.#palette = readPalette(this.#frame.node);
    this.#schedule();
  }

  #schedule() {
    if (!this.#ended.signal.aborted) this.#frames.schedule();
  }

  #draw() {
    if (this.#numbers === null) return;
    const { tokens, dFf } = this.#numbers;
    const state = within(this.#state, tokens, dFf);
    if (this.#isSettled || this.#numbers.up === null) {
      this.#gradients.follow(this.#numbers, state);
      this.#wholeLayer.follow(this.#numbers, state);
    }
    const asked = /** @type {const} */ ([this.#gradients.values, this.#wholeLayer.values]);
    const scene = new Scene(this.#numbers, state, this.#hover, this.#scene, ...asked);
    this.#scene = scene;
    const key = [this.#palette, ...colouringKey(scene)];
    if (this.#colouring === null || key.some((part, i) => part !== this.#coloured[i])) {
      this.#coloured = key;
      this.#colouring = colouringOf(scene, this.#palette);
    }
    this.#strip.update(scene);
    this.#heatmap.update(scene, this.#colouring);
    this.#grid.update(scene);
    this.#tile.update(scene, this.#colouring);
    this.#frame.update(scene, this.hash);
  }
}
