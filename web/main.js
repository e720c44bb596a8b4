// The page: holds the state, asks the worker, hands each view one scene to draw. Every change goes through `change` (the
// state), `point` (the hover) or an answer of the worker, and ends in one `render` a frame.

import { Analysis, guessesFor } from './analysis.js';
import { Badge, verdict } from './badge.js';
import { CellGrid } from './cell-grid.js';
import { Charts } from './charts.js';
import { ClassBar } from './class-bar.js';
import { colouringOf, scaleFigures } from './colouring.js';
import { onSchemeChange, readPalette } from './colours.js';
import { bindControls } from './controls.js';
import { byId } from './dom.js';
import { bindExports } from './exports.js';
import { HandPanel } from './hand-panel.js';
import { Heatmap } from './heatmap.js';
import { Inspector } from './inspector.js';
import { errorInWords, LoadDialog } from './load-dialog.js';
import { SHIPPED } from './models.js';
import { startWorker } from './places.js';
import { WorkerClient } from './protocol.js';
import { numbersOfPreview, numbersOfTrace, Scene } from './scene.js';
import { Sentence } from './sentence.js';
import { formatHash, NOTHING_HELD, parseHash } from './state.js';
import { Tables } from './tables.js';
import { text } from './text.js';
import { Tile } from './tile.js';
import { TokenStrip } from './token-strip.js';
import { Tour } from './tour.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./scene.js').Numbers} Numbers */
/** @typedef {{ name: string, tokens: string[] }} Prompt */

class Page {
  #client = new WorkerClient(startWorker());
  /** @type {State} */
  #state;
  /** @type {[string, string][]} */
  #unknownKeys;
  /** @type {Numbers | null} */
  #numbers = null;
  /** @type {Cell | null} */
  #hover = null;
  /** @type {Scene | null} */
  #scene = null;
  #palette = readPalette();
  /** @type {Prompt[]} */
  #prompts = [];
  /** The layer of a loaded checkpoint; null: a shipped one. @type {import('./protocol.js').MlpSummary | null} */
  #foreign = null;
  /** @type {import('./recorded-runs.js').RecordedRuns | null} */
  #recorded = null;
  #analysis = new Analysis(this.#client, () => this.#schedule());
  /** @type {(state: State) => void} */
  #showControls;
  #loads = 0;
  #frame = 0;

  #badge = new Badge();
  #sentence = new Sentence();
  #classBar = new ClassBar({
    onTau: (tau) => this.#change({ tau }),
    onOnly: (only) => this.#change({ only, by: 'class' }, true),
  });
  #strip = new TokenStrip(byId('token-strip'), {
    onSelect: (token) => this.#change({ token }, true),
  });
  #heatmap = new Heatmap(byId('map'));
  #grid = new CellGrid(byId('map'), {
    cellAt: (x, y) => this.#heatmap.cellAt(x, y),
    onHover: (cell) => this.#point(cell),
    onPin: (cell) => this.#pin(cell),
    onUnpin: () => this.#change({ unit: null, ...NOTHING_HELD }, true),
    onToggleClosed: (cell) => this.#toggleClosed(cell),
  });
  #tile = new Tile(byId('tile'), {
    onHover: (cell) => this.#point(cell),
    onPin: (cell) => this.#pin(cell),
  });
  #inspector = new Inspector(byId('inspector'), {
    onToggleClosed: () => {
      const { token, unit } = this.#state;
      if (unit !== null) this.#toggleClosed({ token, unit });
    },
    onWhatIf: (whatIf) => this.#change({ whatIf }),
  });
  #hand = new HandPanel({ onChange: (patch) => this.#change(patch, true) });
  #charts = new Charts({ onLayer: (layer) => this.#change({ layer, ...NOTHING_HELD }, true) });
  #tables = new Tables({ onPin: (unit) => this.#change({ unit, whatIf: null }, true) });
  #tour = new Tour({ onChange: (patch) => this.#change(patch, true) });
  #dialog = new LoadDialog(this.#client, (mlp) => this.#showForeign(mlp));

  constructor() {
    const { state, notices, unknown } = parseHash(location.hash);
    this.#state = state;
    this.#unknownKeys = unknown;
    this.#notice(
      notices.length === 0 ? '' : text.badHash(notices.map(({ key }) => key).join(', ')),
    );
    this.#client.on('preview', (preview) => {
      this.#receive(numbersOfPreview(preview, this.#pieces(preview.tokens)));
    });
    this.#client.on('progress', (progress) => this.#dialog.progress(progress));
    this.#showControls = bindControls({
      change: (patch) => this.#change(patch, true),
      leaveForeign: () => {
        this.#foreign = null;
      },
      openDialog: () => this.#dialog.show(),
    });
    bindExports(() => this.#scene);
    onSchemeChange(() => {
      this.#palette = readPalette();
      this.#schedule();
    });
    window.addEventListener('popstate', () => this.#adoptHash());
  }

  async start() {
    const answer = await fetch(SHIPPED.promptsUrl);
    this.#prompts = (await answer.json()).prompts;
    await this.#load();
    const runs = await fetch(SHIPPED.whatIfUrl);
    if (runs.ok) this.#recorded = await runs.json();
    this.#schedule();
  }

  /** @param {import('./protocol.js').MlpSummary} mlp */
  async #showForeign(mlp) {
    const before = this.#foreign;
    this.#foreign = mlp;
    try {
      await this.#run(
        { kind: 'probe', prefix: mlp.prefix },
        { token: 0, unit: null, ...NOTHING_HELD },
      );
    } catch (error) {
      this.#foreign = before;
      throw error;
    }
  }

  async #load() {
    const { layer, prompt } = this.#state;
    try {
      await this.#run({ kind: 'shipped', layer, prompt }, {});
    } catch (error) {
      if (/** @type {Error} */ (error).name === 'AbortError') return;
      this.#badge.show('bad', text.badge.failed(errorInWords(error)));
      this.#notice(text.loadFailed(errorInWords(error)));
    }
  }

  /**
   * Loads and shows one layer on one text, then checks it where there is something to check it against.
   * @param {import('./protocol.js').Source} source
   * @param {Partial<State>} patch state that goes with it
   */
  async #run(source, patch) {
    const load = ++this.#loads;
    if (source.kind === 'shipped') this.#badge.show('pending', text.badge.running);
    document.body.dataset.status = 'loading';
    const trace = await this.#client.request('show', { source });
    if (load !== this.#loads) return;
    this.#state = { ...this.#state, ...patch };
    this.#receive(numbersOfTrace(trace, this.#pieces(trace.tokens), source.kind === 'shipped'));
    document.body.dataset.status = 'ready';
    if (source.kind === 'probe') {
      const assumed = this.#foreign?.act === null ? text.badge.assumed(trace.act) : '';
      this.#badge.show('warning', text.badge.probe + assumed);
      return;
    }
    const { layer, prompt } = source;
    const { state, words } = verdict(await this.#client.request('verify', { layer, prompt }));
    if (load === this.#loads) this.#badge.show(state, words);
  }

  /** @param {number} tokens */
  #pieces(tokens) {
    if (this.#foreign === null) return this.#promptTokens();
    return Array.from({ length: tokens }, (_, token) => text.probeToken(token));
  }

  /** @param {Numbers} numbers */
  #receive(numbers) {
    this.#numbers = numbers;
    this.#hover = null;
    const { token, unit, closed } = this.#state;
    this.#state = {
      ...this.#state,
      token: Math.min(token, numbers.tokens - 1),
      unit: unit !== null && unit >= numbers.dFf ? null : unit,
      closed: closed.filter((other) => other < numbers.dFf),
    };
    this.#schedule();
  }

  /** @param {Cell | null} cell */
  #point(cell) {
    const before = this.#hover;
    if (cell?.token === before?.token && cell?.unit === before?.unit) return;
    this.#hover = cell;
    this.#schedule();
  }

  /** @param {Cell} cell */
  #pin({ token, unit }) {
    const held = token === this.#state.token ? { whatIf: null } : NOTHING_HELD;
    this.#change({ token, unit, ...held }, true);
  }

  /** @param {Cell} cell */
  #toggleClosed({ token, unit }) {
    const here = token === this.#state.token ? this.#state.closed : [];
    const closed = here.includes(unit) ? here.filter((other) => other !== unit) : [...here, unit];
    const moved = token === this.#state.token ? {} : { set: null };
    this.#change({ token, unit, closed, whatIf: null, ...moved }, true);
  }

  /**
   * @param {Partial<State>} patch
   * @param {boolean} [isStep] a step to come back to, not a slide
   */
  #change(patch, isStep = false) {
    const before = this.#state;
    this.#state = { ...before, ...patch };
    const units = this.#numbers?.dFf ?? Infinity;
    if (this.#state.unit !== null && this.#state.unit >= units) this.#state.unit = before.unit;
    const elsewhere = patch.token !== undefined && patch.token !== before.token;
    if (elsewhere && patch.closed === undefined) Object.assign(this.#state, NOTHING_HELD);
    const address = formatHash(this.#state, this.#unknownKeys);
    if (isStep && address !== location.hash) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    this.#follow(before);
  }

  #adoptHash() {
    const before = this.#state;
    this.#state = parseHash(location.hash).state;
    this.#follow(before);
  }

  /** @param {State} before */
  #follow(before) {
    const moved = before.layer !== this.#state.layer || before.prompt !== this.#state.prompt;
    if (moved && this.#foreign === null) this.#load();
    this.#schedule();
  }

  #schedule() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#render();
    });
  }

  #render() {
    const { layer, prompt } = this.#state;
    const name = this.#foreign === null ? String(layer) : String(this.#foreign.layer ?? 0);
    const words = text.prompts[/** @type {'chat'} */ (prompt)];
    this.#sentence.place(
      name,
      this.#foreign === null ? words : { label: text.probeModel, quote: '' },
    );
    this.#showControls(this.#state);
    hideParts(this.#state.hide);
    if (this.#numbers === null) return;
    const scene = new Scene(this.#numbers, this.#state, this.#hover, this.#scene);
    this.#scene = scene;
    this.#analysis.follow(scene);
    const { cost, alone, together, curves } = this.#analysis.results;
    this.#sentence.update(scene, { layer: name, cost });
    this.#classBar.update(scene);
    this.#strip.update(scene);
    this.#heatmap.update(scene, this.#palette);
    this.#grid.update(scene);
    this.#tile.update(scene, this.#palette);
    this.#inspector.update(scene, { alone, together, guesses: this.#guesses() }, name);
    this.#captions(scene);
    this.#hand.update(scene, together);
    this.#tour.update(this.#state, byId('hand-result').textContent ?? '');
    this.#charts.update(scene, curves);
    this.#tables.update(scene);
  }

  /** @param {Scene} scene */
  #captions(scene) {
    const { pieces, dFf, tokens } = scene.numbers;
    byId('tile-caption').textContent = text.tileCaption(pieces[scene.state.token], dFf);
    byId('map-caption').textContent = text.mapCaption(tokens);
    const { hover, state } = scene;
    const { limit } = colouringOf(scene, this.#palette);
    const [low, high] = byId('scale').querySelectorAll('span');
    byId('scale').hidden = limit === null;
    byId('scale').classList.toggle('is-positive', state.by === 'c');
    if (limit !== null) [low.textContent, high.textContent] = scaleFigures(limit, state.by);
    byId('readout').textContent =
      hover === null || !scene.has(hover) ? text.readoutIdle : text.readout(scene.describe(hover));
  }

  #guesses() {
    if (this.#foreign !== null) return null;
    return guessesFor(this.#recorded, this.#state, this.#promptTokens());
  }

  #promptTokens() {
    return this.#prompts.find(({ name }) => name === this.#state.prompt)?.tokens ?? [];
  }

  /** @param {string} words */
  #notice(words) {
    byId('notice').textContent = words;
    byId('notice').hidden = words === '';
  }
}

/**
 * Leaves out what a teacher's link names.
 * @param {string[]} hide
 */
function hideParts(hide) {
  for (const node of document.querySelectorAll('[data-part]')) {
    node.classList.toggle('is-left-out', hide.includes(node.getAttribute('data-part') ?? ''));
  }
}

await new Page().start();
