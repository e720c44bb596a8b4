// The bench of the lesson with one unit on it: five settings, every step of y = wd act(wg x) (wu x) written out with its
// numbers, and the activation's curve with the point where the gate stands. All figures come from the worker's trace.

import { ActCurveChart } from './act-curve.js';
import { CLASS_NAMES, classOf, DEFAULT_TAU } from './definitions.js';
import { el } from './dom.js';
import { exact, number } from './format.js';
import { NumberField } from './lesson-field.js';
import { flowOf } from './lesson-flow.js';
import { failureIn, Latest } from './lesson-latest.js';
import { RestingLine } from './lesson-live.js';
import { runOf } from './lesson-stops.js';
import { lessonText as words } from './lesson-text.js';
import { text } from './text.js';

/** @typedef {import('./lesson-stops.js').Setting} Setting */
/** @typedef {import('./lesson-bench.js').TinyTrace} TinyTrace */
/** @typedef {keyof typeof words.acts} ActName */
/** @typedef {{ curve: import('./protocol.js').ActCurve, shape: import('./protocol.js').ActShape }} Activation */

const REACH_OF_X = 4;
const FIELDS = /** @type {const} */ (['x', 'gate', 'up', 'down']);

export class UnitBench {
  #client;
  /** @type {Setting} */
  #setting = { x: 1, gate: 1, up: 1, down: 1, act: 'silu' };
  #veiled = true;
  #fields;
  #act = el('select', { id: 'lesson-act' });
  #flow = el('div', { class: 'flow-host' });
  #written = el('dl', { class: 'written', 'aria-label': words.writtenLabel });
  #class = el('p', { class: 'class-line' });
  #line = new RestingLine();
  #curveHost = el('div', { class: 'curve-host' });
  #curve = new ActCurveChart(this.#curveHost);
  /** @type {Map<string, Promise<Activation>>} */
  #activations = new Map();
  /** @type {Latest<Setting, { trace: TinyTrace, activation: Activation }>} */
  #latest;
  node;

  /** @param {import('./protocol.js').WorkerClient} client */
  constructor(client) {
    this.#client = client;
    this.#latest = new Latest(
      (setting) => this.#run(setting),
      ({ trace, activation }, setting) => this.#show(setting, trace, activation),
      failureIn(this.#class),
    );
    this.#fields = FIELDS.map((key) => {
      const [name, letter, index = ''] = words.controls[key];
      const field = new NumberField({
        id: `lesson-${key}`,
        name,
        symbol: symbol(letter, index),
        reach: key === 'x' ? REACH_OF_X : undefined,
        onInput: (value) => this.#move({ [key]: value }),
      });
      return { key, field };
    });
    this.#act.append(
      ...Object.entries(words.acts).map(([value, { label }]) => el('option', { value }, label)),
    );
    this.#act.addEventListener('change', () => this.#move({ act: this.#act.value }));
    const act = el(
      'div',
      { class: 'number-field' },
      el('label', { for: 'lesson-act' }, words.act),
      this.#act,
    );
    this.node = el(
      'div',
      { class: 'unit-bench' },
      el('h3', {}, words.unitLabel),
      el('div', { class: 'fields' }, ...this.#fields.map(({ field }) => field.node), act),
      this.#flow,
      this.#written,
      el('div', { class: 'curve-row' }, this.#curveHost, el('div', {}, this.#class, legend())),
      this.#line.node,
    );
  }

  /**
   * @param {Setting} setting
   * @param {boolean} veiled
   */
  set(setting, veiled) {
    this.#setting = setting;
    this.#veiled = veiled;
    for (const { key, field } of this.#fields) field.set(setting[key]);
    this.#act.value = setting.act;
    // What is to be guessed is hidden at once, not when the module has answered.
    if (veiled) this.node.classList.toggle('hides-curve', setting.hidesCurve === true);
    this.#latest.forget();
    this.#latest.want(setting);
  }

  /** @param {Partial<Setting>} patch */
  #move(patch) {
    this.#setting = { ...this.#setting, ...patch };
    this.#veiled = false;
    this.#latest.want(this.#setting);
  }

  /** @param {Setting} setting */
  async #run(setting) {
    const { act } = setting;
    const activation = this.#activations.get(act) ?? this.#client.request('lessonCurve', { act });
    this.#activations.set(act, activation);
    const { unit } = await this.#client.request('lessonRuns', { runs: { unit: runOf(setting) } });
    return { trace: unit, activation: await activation };
  }

  /**
   * @param {Setting} setting
   * @param {TinyTrace} trace
   * @param {Activation} activation
   */
  #show(setting, trace, { curve, shape }) {
    const name = words.acts[/** @type {ActName} */ (setting.act)].name;
    const veiled = this.#veiled;
    this.node.classList.toggle('is-veiled', veiled);
    this.node.classList.toggle('hides-curve', veiled && setting.hidesCurve === true);
    this.#written.replaceChildren(...writtenOut(setting, name, veiled ? null : trace));
    const [gate, act] = [trace.gate[0], trace.act[0]];
    const gateClass = classOf(gate, act, DEFAULT_TAU, shape);
    this.#flow.replaceChildren(flowOf(setting, name, veiled ? null : trace, gateClass));
    const sentence = text.classSentences[gateClass](number(act), number(trace.up[0]));
    const chip = el('span', {
      class: `swatch band-${CLASS_NAMES[gateClass]}`,
      'aria-hidden': 'true',
    });
    if (veiled) this.#class.replaceChildren(words.veiled);
    else this.#class.replaceChildren(chip, sentence);
    const label = veiled
      ? words.curveVeiled(name)
      : text.inspector.curveLabel({ name, g: number(gate), a: number(act), sentence });
    const [g, a, y] = [gate, act, trace.output[0]].map((value) => number(value));
    this.#line.say(veiled ? '' : words.spoken({ g, a, y, sentence }));
    this.#curve.update({ curve, shape, tau: DEFAULT_TAU, gate, act, own: null, label });
  }
}

/** What the three colours of the curve mean. */
function legend() {
  return el(
    'ul',
    { class: 'legend-list' },
    ...words.legend.map(([name, meaning]) =>
      el(
        'li',
        {},
        el('span', { class: `swatch band-${name}`, 'aria-hidden': 'true' }),
        el('span', {}, meaning),
      ),
    ),
  );
}

/**
 * The five steps, each as a name, a formula, the formula with its numbers, and what comes out.
 * @param {Setting} setting
 * @param {string} actName
 * @param {TinyTrace | null} trace null: what comes out is not told yet
 */
function writtenOut(setting, actName, trace) {
  const [wg, wu, wd] = [symbol('w', 'g'), symbol('w', 'u'), symbol('w', 'd')];
  const say = (/** @type {Float32Array | undefined} */ values) =>
    values === undefined ? words.unknown : exact(values[0]);
  const [g, u, a, h, y] = [trace?.gate, trace?.up, trace?.act, trace?.hidden, trace?.output].map(
    say,
  );
  const x = factor(setting.x);
  const { written } = words;
  return [
    line(written.g, ['g = ', wg, ' x'], `${exact(setting.gate)} \u00d7 ${x}`, g),
    line(written.u, ['u = ', wu, ' x'], `${exact(setting.up)} \u00d7 ${x}`, u),
    line(written.a, ['a = act(g)'], `${actName}(${g})`, a),
    line(written.h, ['h = a u'], `${a} \u00d7 ${bracketed(u)}`, h),
    line(written.y, ['y = ', wd, ' h'], `${exact(setting.down)} \u00d7 ${bracketed(h)}`, y, true),
  ];
}

/** A second factor; one below 0 in brackets. @param {number} value */
const factor = (value) => bracketed(exact(value));

/** @param {string} figure */
const bracketed = (figure) => (figure.startsWith('\u2212') ? `(${figure})` : figure);

/**
 * @param {string} name
 * @param {(Node | string)[]} formula
 * @param {string} numbers
 * @param {string} result
 * @param {boolean} [last]
 */
function line(name, formula, numbers, result, last = false) {
  return el(
    'div',
    { class: last ? 'is-last' : null },
    el('dt', {}, name),
    el('dd', { class: 'formula-part' }, ...formula),
    el('dd', {}, `= ${numbers}`),
    el('dd', { class: 'result' }, `= ${result}`),
  );
}

/**
 * @param {string} letter
 * @param {string} index
 */
function symbol(letter, index) {
  return el('var', {}, letter, ...(index === '' ? [] : [el('sub', {}, index)]));
}
