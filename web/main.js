// The page: asks the worker for what the state names, and hands the views one scene to draw. Every change goes through the
// state's store, `#point` (the hover) or an answer of the worker, and ends in one `#render` a frame.

import { Analysis } from './analysis.js';
import { Badge, sealOf } from './badge.js';
import { onSchemeChange } from './colours.js';
import { bindControls } from './controls.js';
import { byId } from './dom.js';
import { bindExports } from './exports.js';
import { Frames } from './frames.js';
import { GradientField } from './gradient-field.js';
import { LessonDoor } from './lesson-door.js';
import { LoadDoor } from './load-door.js';
import { errorInWords } from './load-errors.js';
import { keyOfLink, NO_MODEL, shownName } from './model-link.js';
import { NoticeLine } from './notice.js';
import { bindPaper } from './paper.js';
import { pinned, toggled, unpinned } from './pins.js';
import { startWorker } from './places.js';
import { WorkerClient } from './protocol.js';
import { numbersOfPreview, numbersOfTrace, Scene } from './scene.js';
import { ShippedTexts } from './shipped-texts.js';
import { NOTHING_HELD, openingState } from './state.js';
import { StateStore, within } from './state-store.js';
import { Subject } from './subject.js';
import { text } from './text.js';
import { Views } from './views.js';
import { WholeLayer } from './whole-layer.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./scene.js').Numbers} Numbers */

class Page {
  #client = new WorkerClient(startWorker());
  #store = new StateStore((before) => this.#follow(before));
  /** @type {Numbers | null} */
  #numbers = null;
  /** @type {Cell | null} */
  #hover = null;
  /** @type {Scene | null} */
  #scene = null;
  #texts = new ShippedTexts();
  #subject = new Subject();
  #analysis = new Analysis(this.#client, () => this.#frames.schedule());
  #gradients = new GradientField(this.#client, () => this.#frames.schedule());
  #wholeLayer = new WholeLayer(this.#client, () => this.#frames.schedule());
  /** @type {ReturnType<typeof bindControls>} */
  #showControls;
  /** What the worker was last asked to show; what the state wants is compared with it. '': nothing yet. */
  #asked = '';
  /** The state of a link to a layer that is not loaded yet. @type {State | null} */
  #awaited = null;
  #loads = 0;
  #frames = new Frames(
    () => this.#render(),
    (error) => this.#notice.say(text.drawFailed(errorInWords(error))),
  );

  #badge = new Badge();
  #notice = new NoticeLine();
  #views = new Views({
    slide: (patch) => this.#change(patch),
    step: (patch) => this.#change(patch, true),
    point: (cell) => this.#point(cell),
    pin: (cell, isSecond) => this.#change(pinned(this.#state, cell, isSecond === true), true),
    unpin: () => this.#change(unpinned(this.#state), true),
    watchGradient: () => {
      this.#gradients.isWatched = true;
      this.#frames.schedule();
    },
    toggleClosed: (cell) => this.#change(toggled(this.#state, cell), true),
    time: (question) => this.#client.request('timing', question),
  });
  #lesson = new LessonDoor(this.#client, (lesson) => this.#change({ lesson }, true));
  #door = new LoadDoor(this.#client, {
    onChoose: (layer) => this.#showForeign(layer),
    onFail: () => this.#notice.say(text.load.doorFailed),
  });

  constructor() {
    this.#notice.tell(this.#store.notices);
    this.#client.on('preview', (preview) => {
      this.#receive(numbersOfPreview(preview, this.#pieces(preview.tokens), this.#about()));
    });
    this.#showControls = bindControls((patch) => this.#change(patch, true));
    bindExports(
      () => this.#scene,
      () => this.#wholeLayer.forExport(),
    );
    byId('load-dialog').addEventListener('close', () => {
      if (this.#asked === '') this.#load();
    });
    onSchemeChange(() => {
      this.#views.recolour();
      this.#frames.schedule();
    });
    bindPaper(() => {
      this.#views.recolour();
      this.#frames.settle();
      this.#views.flush();
    });
    this.#frames.schedule();
  }

  get #state() {
    return this.#store.state;
  }

  async start() {
    await this.#texts.fetchTokens();
    const wanted = this.#state;
    if (wanted.model === null) await this.#load();
    else {
      // Nothing is shown of a place whose numbers are not there.
      this.#store.state = { ...openingState(), hide: wanted.hide };
      this.#offer(wanted);
    }
    await this.#texts.fetchRuns();
    this.#frames.schedule();
  }

  /**
   * Asks for the loaded layer that a link names, which is not here.
   * @param {State} wanted
   */
  #offer(wanted) {
    const model = /** @type {string} */ (wanted.model);
    this.#awaited = wanted;
    this.#door.offer({ ...wanted, model }, () => {
      this.#awaited = null;
      this.#notice.say(text.load.notLoaded(shownName(model)));
      if (this.#asked === '') this.#load();
    });
  }

  /** @param {import('./load-dialog.js').ForeignLayer} layer */
  async #showForeign(layer) {
    const [before, asked, numbers] = [this.#subject.foreign, this.#asked, this.#numbers];
    const load = this.#loads + 1;
    this.#subject.foreign = layer;
    try {
      const fresh = { token: 0, unit: null, versus: null, tour: null, ...NOTHING_HELD };
      const place = this.#awaited?.module === layer.link.module ? this.#awaited : fresh;
      const isShown = await this.#run(this.#source(), { ...place, ...layer.link });
      if (!isShown) throw new DOMException('overtaken by another load', 'AbortError');
    } catch (error) {
      if (load === this.#loads) {
        [this.#subject.foreign, this.#asked] = [before, asked];
        // The first of its rows may have come.
        if (numbers !== null) this.#receive(numbers);
        if (numbers?.up) document.body.dataset.status = 'ready';
      }
      throw error;
    }
    this.#awaited = null;
    this.#subject.remember(layer);
    this.#store.change({}, true);
  }

  async #load() {
    const load = this.#loads + 1;
    try {
      await this.#run(this.#source(), {});
    } catch (error) {
      // Something else is loaded now.
      if (load !== this.#loads) return;
      // The dialog has ended it by opening a model, and may be closed without one.
      if (/** @type {Error} */ (error).name === 'AbortError') {
        this.#asked = '';
        return;
      }
      if (this.#numbers?.up) document.body.dataset.status = 'ready';
      this.#badge.show('bad', text.badge.failed(errorInWords(error)));
      this.#notice.say(text.loadFailed(errorInWords(error)));
    }
  }

  #source() {
    return this.#subject.source(this.#state);
  }

  /** What `#source` is called on the page. */
  #about() {
    return this.#subject.about(this.#state);
  }

  /** One word for what the state wants shown. */
  #wanted() {
    return JSON.stringify([this.#source(), this.#state.act]);
  }

  /**
   * Loads and shows one layer on one text, then checks it where there is something to check it against.
   * @param {import('./protocol.js').Source} source
   * @param {Partial<State>} patch state that goes with it
   * @returns {Promise<boolean>} false: it was overtaken by another load
   */
  async #run(source, patch) {
    const load = ++this.#loads;
    const about = this.#about();
    this.#asked = this.#wanted();
    if (source.kind === 'shipped') this.#badge.show('pending', text.badge.running);
    document.body.dataset.status = 'loading';
    const trace = await this.#client.request('show', { source, act: this.#state.act });
    if (load !== this.#loads) return false;
    this.#store.state = { ...this.#state, ...patch };
    this.#receive(numbersOfTrace(trace, this.#pieces(trace.tokens), about));
    document.body.dataset.status = 'ready';
    this.#badge.show('pending', text.badge.running);
    const { state, words } = await sealOf(this.#client, source, trace, this.#frames);
    if (load !== this.#loads) return false;
    this.#views.flush();
    this.#badge.show(state, words);
    return true;
  }

  /** @param {number} tokens */
  #pieces(tokens) {
    return this.#subject.pieces(tokens, this.#texts.tokens(this.#state.prompt));
  }

  /** @param {Numbers} numbers */
  #receive(numbers) {
    this.#numbers = numbers;
    this.#hover = null;
    this.#fit();
    this.#frames.schedule();
  }

  /** The state within the numbers on show, where they are what it asks for; a link that names what is not there is told so. */
  #fit() {
    if (this.#numbers === null || this.#asked !== this.#wanted()) return;
    const { tokens, dFf, origin } = this.#numbers;
    this.#store.fit(tokens, dFf, origin === 'shipped' || this.#state.model !== null);
    this.#notice.tell(this.#store.notices);
  }

  /** @param {Cell | null} cell */
  #point(cell) {
    const before = this.#hover;
    if (cell?.token === before?.token && cell?.unit === before?.unit) return;
    this.#hover = cell;
    this.#frames.schedule();
  }

  /**
   * Whoever names a layer or a text wants a shipped one, even the one that was there before a model of the reader's own.
   * @param {Partial<State>} patch
   * @param {boolean} [isStep]
   */
  #change(patch, isStep) {
    const isShipped = patch.layer !== undefined || patch.prompt !== undefined;
    if (isShipped) this.#subject.foreign = null;
    const units = this.#numbers?.dFf ?? Infinity;
    const { unit, ...rest } = patch;
    const within = unit === undefined || (unit !== null && unit >= units) ? rest : patch;
    this.#store.change(isShipped ? { ...within, ...NO_MODEL } : within, isStep);
  }

  /** @param {State} before */
  #follow(before) {
    const { layer, prompt, model } = this.#state;
    const isMoved = before.layer !== layer || before.prompt !== prompt;
    if (model === null && isMoved) this.#subject.foreign = null;
    if (keyOfLink(before) !== keyOfLink(this.#state)) {
      const known = this.#subject.loaded(this.#state);
      if (model !== null && known === null) {
        const wanted = this.#state;
        this.#store.state = before;
        this.#offer(wanted);
        return;
      }
      this.#subject.foreign = known;
    }
    if (this.#asked !== '' && this.#asked !== this.#wanted()) this.#load();
    else if (document.body.dataset.status === 'ready') this.#fit();
    this.#frames.schedule();
  }

  #render() {
    // The name goes with the numbers on show; what is asked for may still be on its way.
    const { layer, reading, model } = this.#numbers ?? this.#about();
    this.#views.place(layer, reading, model);
    this.#showControls(this.#state, this.#subject.foreign !== null, this.#numbers?.dFf ?? 0);
    this.#views.leaveOut(this.#state.hide);
    this.#lesson.update(this.#state.lesson);
    if (this.#numbers === null || this.#state.lesson !== null) return;
    const { tokens, dFf } = this.#numbers;
    const state = within(this.#state, tokens, dFf);
    // While another layer is on its way the worker may have it already: nothing is asked about the numbers of before.
    const maySend = document.body.dataset.status === 'ready' || this.#numbers.up === null;
    if (maySend) {
      this.#gradients.follow(this.#numbers, state);
      this.#wholeLayer.follow(this.#numbers, state);
    }
    const { values } = this.#gradients;
    const ofAll = this.#wholeLayer.values;
    const scene = new Scene(this.#numbers, state, this.#hover, this.#scene, values, ofAll);
    this.#scene = scene;
    if (maySend) this.#analysis.follow(scene);
    const { results } = this.#analysis;
    const guesses = scene.isShipped ? this.#texts.guesses(this.#state) : null;
    this.#views.draw(scene, { layer, results, guesses });
  }
}

await new Page().start();
