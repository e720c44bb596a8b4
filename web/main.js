// The page: asks the worker for what the state names, and hands the views one scene to draw. Every change goes through the
// state's store, `#point` (the hover) or an answer of the worker, and ends in one `#render` a frame.

import { Analysis, guessesFor } from './analysis.js';
import { Badge, capturedVerdict, verdict } from './badge.js';
import { onSchemeChange } from './colours.js';
import { bindControls } from './controls.js';
import { byId } from './dom.js';
import { bindExports } from './exports.js';
import { GradientField } from './gradient-field.js';
import { LessonDoor } from './lesson-door.js';
import { LoadDialog } from './load-dialog.js';
import { errorInWords } from './load-errors.js';
import { keyOfLink, NO_MODEL, shownName } from './model-link.js';
import { SHIPPED } from './models.js';
import { NoticeLine } from './notice.js';
import { bindPaper } from './paper.js';
import { startWorker } from './places.js';
import { WorkerClient } from './protocol.js';
import { numbersOfPreview, numbersOfTrace, Scene } from './scene.js';
import { NOTHING_HELD, openingState } from './state.js';
import { StateStore, within } from './state-store.js';
import { Subject } from './subject.js';
import { actName, text } from './text.js';
import { Views } from './views.js';
import { WholeLayer } from './whole-layer.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./scene.js').Cell} Cell */
/** @typedef {import('./scene.js').Numbers} Numbers */
/** @typedef {{ name: string, tokens: string[] }} Prompt */

class Page {
  #client = new WorkerClient(startWorker());
  #store = new StateStore((before) => this.#follow(before));
  /** @type {Numbers | null} */
  #numbers = null;
  /** @type {Cell | null} */
  #hover = null;
  /** @type {Scene | null} */
  #scene = null;
  /** @type {Prompt[]} */
  #prompts = [];
  #subject = new Subject();
  /** @type {import('./recorded-runs.js').RecordedRuns | null} */
  #recorded = null;
  #analysis = new Analysis(this.#client, () => this.#schedule());
  #gradients = new GradientField(this.#client, () => this.#schedule());
  #wholeLayer = new WholeLayer(this.#client, () => this.#schedule());
  /** @type {ReturnType<typeof bindControls>} */
  #showControls;
  /** What the worker was last asked to show; what the state wants is compared with it. '': nothing yet. */
  #asked = '';
  /** The state of a link to a layer that is not loaded yet. @type {State | null} */
  #awaited = null;
  #loads = 0;
  #frame = 0;

  #badge = new Badge();
  #notice = new NoticeLine();
  #views = new Views({
    slide: (patch) => this.#change(patch),
    step: (patch) => this.#change(patch, true),
    point: (cell) => this.#point(cell),
    pin: (cell, isSecond) => this.#pin(cell, isSecond),
    unpin: () => this.#unpin(),
    watchGradient: () => {
      this.#gradients.isWatched = true;
      this.#schedule();
    },
    toggleClosed: (cell) => this.#toggleClosed(cell),
  });
  #lesson = new LessonDoor(this.#client, (lesson) => this.#change({ lesson }, true));
  #dialog = new LoadDialog(this.#client, (layer) => this.#showForeign(layer));

  constructor() {
    this.#notice.tell(this.#store.notices);
    this.#client.on('preview', (preview) => {
      this.#receive(numbersOfPreview(preview, this.#pieces(preview.tokens), this.#about()));
    });
    this.#client.on('progress', (progress) => this.#dialog.progress(progress));
    this.#showControls = bindControls({
      change: (patch) => this.#change(patch, true),
      openDialog: () => this.#dialog.show(),
    });
    bindExports(
      () => this.#scene,
      () => this.#wholeLayer.along(),
    );
    byId('load-dialog').addEventListener('close', () => {
      if (this.#asked === '') this.#load();
    });
    onSchemeChange(() => {
      this.#views.recolour();
      this.#schedule();
    });
    bindPaper(() => {
      this.#views.recolour();
      this.#settle();
    });
    this.#schedule();
  }

  get #state() {
    return this.#store.state;
  }

  async start() {
    const answer = await fetch(SHIPPED.promptsUrl);
    this.#prompts = (await answer.json()).prompts;
    const wanted = this.#state;
    if (wanted.model === null) await this.#load();
    else {
      // Nothing is shown of a place whose numbers are not there.
      this.#store.state = { ...openingState(), hide: wanted.hide };
      this.#offer(wanted);
    }
    const runs = await fetch(SHIPPED.whatIfUrl);
    if (runs.ok) this.#recorded = await runs.json();
    this.#schedule();
  }

  /**
   * Asks for the loaded layer that a link names, which is not here.
   * @param {State} wanted
   */
  #offer(wanted) {
    const model = /** @type {string} */ (wanted.model);
    this.#awaited = wanted;
    this.#dialog.offer({ ...wanted, model }, () => {
      this.#awaited = null;
      this.#notice.say(text.load.notLoaded(shownName(model)));
    });
  }

  /** @param {import('./load-dialog.js').ForeignLayer} layer */
  async #showForeign(layer) {
    const [before, asked] = [this.#subject.foreign, this.#asked];
    this.#subject.foreign = layer;
    try {
      const fresh = { token: 0, unit: null, versus: null, tour: null, ...NOTHING_HELD };
      const place = this.#awaited?.module === layer.link.module ? this.#awaited : fresh;
      await this.#run(this.#source(), { ...place, ...layer.link });
    } catch (error) {
      [this.#subject.foreign, this.#asked] = [before, asked];
      if (this.#numbers?.up) document.body.dataset.status = 'ready';
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
      // Something else is loaded now, or the dialog has ended it by opening a model, and may be closed without one.
      if (/** @type {Error} */ (error).name === 'AbortError') {
        if (load === this.#loads) this.#asked = '';
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
   */
  async #run(source, patch) {
    const load = ++this.#loads;
    const about = this.#about();
    this.#asked = this.#wanted();
    if (source.kind === 'shipped') this.#badge.show('pending', text.badge.running);
    document.body.dataset.status = 'loading';
    const trace = await this.#client.request('show', { source, act: this.#state.act });
    if (load !== this.#loads) return;
    this.#store.state = { ...this.#state, ...patch };
    this.#receive(numbersOfTrace(trace, this.#pieces(trace.tokens), about));
    document.body.dataset.status = 'ready';
    this.#badge.show('pending', text.badge.running);
    const { state, words } = await this.#verdict(source);
    const own = trace.act === trace.ownAct ? '' : text.badge.ownAct(actName(trace.ownAct));
    const isChosen = source.kind !== 'shipped' && source.act !== null;
    const assumed = isChosen ? text.badge.assumed(actName(trace.ownAct)) : '';
    const formula = text.badge.variant(trace.variant);
    if (load === this.#loads) this.#badge.show(state, words + own + assumed + formula);
  }

  /** @param {import('./protocol.js').Source} source */
  async #verdict(source) {
    if (source.kind === 'probe') {
      return { state: /** @type {const} */ ('warning'), words: text.badge.probe };
    }
    if (source.kind === 'captured') {
      return capturedVerdict(await this.#client.request('agree', { states: source.states }));
    }
    const { layer, prompt } = source;
    return verdict(await this.#client.request('verify', { layer, prompt }));
  }

  /** @param {number} tokens */
  #pieces(tokens) {
    return this.#subject.pieces(tokens, this.#promptTokens());
  }

  /** @param {Numbers} numbers */
  #receive(numbers) {
    this.#numbers = numbers;
    this.#hover = null;
    this.#fit();
    this.#schedule();
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
    this.#schedule();
  }

  /**
   * @param {Cell} cell
   * @param {boolean} [isSecond] the gate that was pinned stays, to compare with
   */
  #pin({ token, unit }, isSecond = false) {
    const before = this.#state;
    const held = token === before.token ? { whatIf: null } : NOTHING_HELD;
    const keeps = isSecond && before.unit !== null;
    const versus = keeps ? { token: before.token, unit: before.unit } : before.versus;
    this.#change({ token, unit, ...held, versus: /** @type {State['versus']} */ (versus) }, true);
  }

  /** One step back: first the comparison ends, then the pin. Gates closed by hand stay closed, and `#hand-result` says so. */
  #unpin() {
    const { versus } = this.#state;
    this.#change(versus !== null ? { versus: null } : { unit: null, whatIf: null }, true);
  }

  /** @param {Cell} cell */
  #toggleClosed({ token, unit }) {
    const here = token === this.#state.token ? this.#state.closed : [];
    const closed = here.includes(unit) ? here.filter((other) => other !== unit) : [...here, unit];
    const moved = token === this.#state.token ? {} : { set: null };
    this.#change({ token, unit, closed, whatIf: null, ...moved }, true);
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
    this.#schedule();
  }

  #schedule() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      try {
        this.#render();
      } catch (error) {
        this.#notice.say(text.drawFailed(errorInWords(error)));
        throw error;
      }
    });
  }

  /** Draws at once what waits for a frame. */
  #settle() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#render();
    this.#views.flush();
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
    this.#views.draw(scene, { layer, results, guesses: this.#guesses() });
  }

  #guesses() {
    if (this.#numbers?.origin !== 'shipped') return null;
    return guessesFor(this.#recorded, this.#state, this.#promptTokens());
  }

  #promptTokens() {
    return this.#prompts.find(({ name }) => name === this.#state.prompt)?.tokens ?? [];
  }
}

await new Page().start();
