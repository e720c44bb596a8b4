// Every view of the page, made once and drawn anew from one scene. Views hand what a person does to the actions they are
// given and hold no state of the page; main.js owns it.

import { ActBanner } from './act-banner.js';
import { CellGrid } from './cell-grid.js';
import { ClassBar } from './class-bar.js';
import { colouringKey, colouringOf, scaleFigures } from './colouring.js';
import { readPalette } from './colours.js';
import { byId } from './dom.js';
import { ErrorChart } from './error-chart.js';
import { GradientPanel } from './gradient-panel.js';
import { GroupAxis } from './group-axis.js';
import { HandPanel } from './hand-panel.js';
import { Heatmap } from './heatmap.js';
import { GateHistogram } from './histogram.js';
import { Inspector } from './inspector.js';
import { LayerOverview } from './layer-overview.js';
import { MapTabs } from './map-tabs.js';
import { MeasuresTable } from './measures-table.js';
import { PhoneOrder } from './phone-order.js';
import { Sentence } from './sentence.js';
import { Sheet } from './sheet.js';
import { NOTHING_HELD } from './state.js';
import { Tables } from './tables.js';
import { text } from './text.js';
import { Tile } from './tile.js';
import { TimingPanel } from './timing-panel.js';
import { TokenStrip } from './token-strip.js';
import { Tour } from './tour.js';
import { ZoomStrip } from './zoom-strip.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./scene.js').Cell} Cell */
/**
 * What a person can do. `slide` changes the state while something is dragged, `step` makes an entry to come back to.
 * @typedef {object} Actions
 * @property {(patch: Partial<State>) => void} slide
 * @property {(patch: Partial<State>) => void} step
 * @property {(cell: Cell | null) => void} point
 * @property {(cell: Cell, isSecond?: boolean) => void} pin
 * @property {() => void} unpin
 * @property {() => void} watchGradient  someone looks at the gradient view
 * @property {(cell: Cell) => void} toggleClosed
 * @property {ConstructorParameters<typeof TimingPanel>[0]} time
 */
/**
 * What the scene does not hold: answers of the worker, and the layer's name.
 * @typedef {{ layer: string, results: import('./analysis.js').Results,
 *   guesses: ReturnType<typeof import('./recorded-runs.js').recordedGuesses> }} Facts
 */

export class Views {
  #palette = readPalette();
  /** @type {import('./colouring.js').Colouring | null} */
  #colouring = null;
  /** What it was made for. @type {unknown[]} */
  #coloured = [];
  #leftOut = '';
  /** @type {{ scene: Scene, results: Facts['results'] } | null} */
  #below = null;
  #timer = 0;
  #sentence = new Sentence();
  #heatmap = new Heatmap(byId('map'));
  #actBanner;
  #classBar;
  #strip;
  #grid;
  #tile;
  #inspector;
  #hand;
  #errorChart = new ErrorChart();
  #histogram = new GateHistogram();
  #overview;
  #gradient;
  #measures;
  #tables;
  #timing;
  #tour;
  #zoom;
  #groups = new GroupAxis(byId('group-axis'));

  /** @param {Actions} actions */
  constructor({ slide, step, point, pin, unpin, toggleClosed, watchGradient, time }) {
    this.#actBanner = new ActBanner({ onBack: () => step({ act: null }) });
    this.#classBar = new ClassBar({
      onTau: (tau) => slide({ tau }),
      onOnly: (only) => step({ only, by: 'class' }),
    });
    this.#strip = new TokenStrip(byId('token-strip'), { onSelect: (token) => step({ token }) });
    this.#grid = new CellGrid(byId('map'), {
      cellAt: (x, y) => this.#heatmap.cellAt(x, y),
      onHover: point,
      onPin: pin,
      onUnpin: unpin,
      onToggleClosed: toggleClosed,
    });
    this.#tile = new Tile(byId('tile'), { onHover: point, onPin: pin });
    this.#inspector = new Inspector(byId('inspector'), {
      onToggleClosed: toggleClosed,
      onWhatIf: (whatIf) => slide({ whatIf }),
      onWhatIfBegin: () => this.#hand.beginSlide(),
      onVersus: (versus) => step({ versus }),
    });
    const sheet = new Sheet(byId('inspector'));
    new MapTabs();
    new PhoneOrder();
    this.#zoom = new ZoomStrip(byId('zoom-strip'), {
      onPin: (unit) => step({ unit, whatIf: null }),
      onWalk: (unit) => slide({ unit, whatIf: null }),
    });
    this.#hand = new HandPanel({ onChange: step });
    this.#timing = new TimingPanel(time);
    this.#overview = new LayerOverview({ onLayer: (layer) => step({ layer, ...NOTHING_HELD }) });
    this.#measures = new MeasuresTable({ onFirst: (first) => step({ first }) });
    this.#gradient = new GradientPanel({
      onDirection: (direction) => step({ direction }),
      onWatched: watchGradient,
    });
    this.#tables = new Tables({ onPin: (unit) => step({ unit, whatIf: null }) });
    this.#tour = new Tour({
      onChange: step,
      onSubject: (subject) => sheet.open(subject === 'inspector'),
    });
  }

  /** The scheme has changed, and the colours with it. */
  recolour() {
    this.#palette = readPalette();
  }

  /**
   * Leaves out what a teacher's link names.
   * @param {string[]} hide
   */
  leaveOut(hide) {
    if (this.#leftOut === hide.join()) return;
    this.#leftOut = hide.join();
    for (const node of document.querySelectorAll('[data-part]')) {
      node.classList.toggle('is-left-out', hide.includes(node.getAttribute('data-part') ?? ''));
    }
  }

  /**
   * What can be said before any number is here.
   * @param {string} layer
   * @param {{ label: string, quote: string }} prompt
   * @param {string} model
   */
  place(layer, prompt, model) {
    this.#sentence.place(layer, prompt, model);
  }

  /**
   * @param {Scene} scene
   * @param {Facts} facts
   */
  draw(scene, { layer, results, guesses }) {
    const { cost, together } = results;
    this.#sentence.update(scene, { layer, cost });
    this.#actBanner.update(scene);
    this.#classBar.update(scene);
    this.#strip.update(scene);
    const colouring = this.#colouringFor(scene);
    this.#heatmap.update(scene, colouring);
    this.#grid.update(scene);
    this.#tile.update(scene, colouring);
    this.#zoom.update(scene, colouring);
    this.#inspector.update(scene, { ...results, guesses }, layer);
    this.#captions(scene);
    this.#hand.update(scene, together);
    this.#tour.update(scene.state, byId('hand-result').textContent ?? '');
    this.#below = { scene, results };
    if (this.#timer === 0) this.#timer = window.setTimeout(() => this.flush());
  }

  /** Draws what waits to be drawn: what stands below the stage has a task of its own, so that neither is long. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#below === null) return;
    const { scene, results } = this.#below;
    this.#below = null;
    this.#errorChart.update(results.curves);
    this.#timing.update(scene, results.curves);
    this.#histogram.update(scene);
    this.#overview.update(scene);
    this.#measures.update(scene, results.measures, results.measuredAt);
    this.#gradient.update(scene);
    this.#tables.update(scene);
  }

  /** @param {Scene} scene */
  #captions(scene) {
    const { pieces, dFf, tokens } = scene.numbers;
    byId('tile-caption').textContent = text.tileCaption(pieces[scene.state.token], dFf);
    byId('map-caption').textContent = text.mapCaption(tokens);
    const { hover } = scene;
    this.#groups.update(scene);
    byId('readout').textContent =
      hover === null || !scene.has(hover) ? text.readoutIdle : text.readout(scene.describe(hover));
  }

  /** The colours of the maps; another object only where some have changed. @param {Scene} scene */
  #colouringFor(scene) {
    const key = [this.#palette, ...colouringKey(scene)];
    if (this.#colouring !== null && key.every((part, i) => part === this.#coloured[i])) {
      return this.#colouring;
    }
    this.#coloured = key;
    this.#colouring = colouringOf(scene, this.#palette);
    captionScale(this.#colouring.limit, scene.state.by);
    return this.#colouring;
  }
}

/**
 * The figures at the ends of a colour scale.
 * @param {number | null} limit
 * @param {State['by']} by
 */
function captionScale(limit, by) {
  const [low, high] = byId('scale').querySelectorAll('span');
  byId('scale').hidden = limit === null;
  byId('scale').classList.toggle('is-positive', by === 'c');
  if (limit !== null) [low.textContent, high.textContent] = scaleFigures(limit, by);
}
