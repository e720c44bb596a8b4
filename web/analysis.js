// What the page has to ask the worker about the token on show: the cost of its closed gates, what closing the pinned one
// does, what all gates held by hand do together, the error curves; and the measures of the whole layer, which take so long
// that they wait until the threshold rests. One question of a kind is under way at a time; while a slider moves, answers
// in between are skipped. Values of the layer before are dropped at once.

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./protocol.js').WorkerClient} WorkerClient */
/** @typedef {import('./protocol.js').EffectMessage} EffectMessage */
/** @typedef {import('./protocol.js').Hold} Hold */

/**
 * `alone`: the pinned gate closed and nothing else. `together`: everything that is held by hand; null where nothing is.
 * `measures`: of every token, at the threshold `measuredAt`.
 * @typedef {object} Results
 * @property {number | null} cost
 * @property {EffectMessage | null} alone
 * @property {EffectMessage | null} together
 * @property {import('./protocol.js').ErrorCurves | null} curves
 * @property {import('./protocol.js').TokenMeasures[] | null} measures
 * @property {number} measuredAt
 * @property {import('./protocol.js').UnitMessage | null} unit  the pinned one
 */

/** What is slow waits until nothing has slid for so long. */
const REST_MS = 150;

/** @returns {Results} */
const nothing = () => ({
  cost: null,
  alone: null,
  together: null,
  curves: null,
  measures: null,
  measuredAt: 0,
  unit: null,
});

export class Analysis {
  #client;
  #onChange;
  /** @type {import('./scene.js').Numbers | null} */
  #numbers = null;
  /** @type {Map<keyof Results, { key: string, busy: boolean }>} */
  #questions = new Map();
  /** What each kind of question is about now. @type {Map<keyof Results, string>} */
  #places = new Map();
  results = nothing();
  #tau = 0;
  /** Runs while something slides. */
  #rest = 0;

  /**
   * @param {WorkerClient} client
   * @param {() => void} onChange an answer has come
   */
  constructor(client, onChange) {
    this.#client = client;
    this.#onChange = onChange;
  }

  /** Asks for what the scene shows and is not known. @param {Scene} scene */
  follow(scene) {
    if (this.#numbers !== scene.numbers) {
      this.#numbers = scene.numbers;
      this.#questions.clear();
      this.#places.clear();
      this.results = nothing();
      this.#tau = scene.state.tau;
    }
    if (!scene.isWhole) return;
    const { token, tau, unit } = scene.state;
    this.#want('cost', `${token}`, tau, async () => {
      const closed = { token, set: /** @type {const} */ ('closed'), tau, holds: [] };
      return (await this.#client.request('hold', closed)).relative;
    });
    this.#want('alone', `${token} ${unit}`, 0, async () =>
      unit === null
        ? null
        : this.#client.request('hold', { token, set: null, tau, holds: shut([unit]) }),
    );
    const { closed, set, kept, whatIf } = scene.state;
    const place = `${token} ${unit} ${set} ${kept} ${closed}`;
    this.#want('together', place, `${tau} ${whatIf}`, async () => {
      const holds = heldOneByOne(scene);
      if (set === null && holds.length === 0) return null;
      return this.#client.request('hold', { token, set, kept, tau, holds });
    });
    this.#want('curves', `${token}`, 0, () => this.#client.request('curves', { token }));
    this.#want('unit', `${token} ${unit}`, 0, async () =>
      unit === null ? null : this.#client.request('unit', { token, unit }),
    );
    this.#followMeasures(tau);
  }

  /** @param {number} tau */
  #followMeasures(tau) {
    if (tau !== this.#tau) {
      this.#tau = tau;
      clearTimeout(this.#rest);
      this.#rest = window.setTimeout(() => {
        this.#rest = 0;
        this.#onChange();
      }, REST_MS);
    }
    if (this.#rest !== 0) return;
    this.#want('measures', '', tau, async () => {
      const measures = await this.#client.request('measures', { tau });
      this.results = { ...this.results, measuredAt: tau };
      return measures;
    });
  }

  /**
   * @template {keyof Results} K
   * @param {K} name
   * @param {string} place what the question is about: an answer about anything else is dropped at once
   * @param {string | number} slide what slides: an answer may lag behind it by one
   * @param {() => Promise<Results[K]>} ask
   */
  async #want(name, place, slide, ask) {
    const key = `${place} ${slide}`;
    if (this.#places.get(name) !== place) this.results = { ...this.results, [name]: null };
    this.#places.set(name, place);
    const last = this.#questions.get(name);
    if (last !== undefined && (last.busy || last.key === key)) return;
    const question = { key, busy: true };
    this.#questions.set(name, question);
    try {
      const answer = await ask();
      const isCurrent = this.#questions.get(name) === question && this.#places.get(name) === place;
      if (isCurrent) this.results = { ...this.results, [name]: answer };
    } finally {
      question.busy = false;
      this.#onChange();
    }
  }
}

/** @param {number[]} units @returns {Hold[]} */
const shut = (units) => units.map((unit) => ({ unit, value: 0 }));

/**
 * Every gate that the state holds there besides a set of them, the pinned one's what-if included.
 * @param {Scene} scene
 * @returns {Hold[]}
 */
function heldOneByOne({ state, numbers }) {
  const { unit, whatIf, closed } = state;
  const holds = shut(closed);
  if (unit !== null && whatIf !== null && !closed.includes(unit)) {
    holds.push({ unit, value: actAt(numbers.curve, whatIf) });
  }
  return holds;
}

/**
 * act at a value of g, off the module's own samples: the nearest one.
 * @param {import('./protocol.js').ActCurve} curve
 * @param {number} gate
 */
export function actAt({ g, a }, gate) {
  const step = (g[g.length - 1] - g[0]) / (g.length - 1);
  const nearest = Math.round((gate - g[0]) / step);
  return a[Math.max(0, Math.min(a.length - 1, nearest))];
}
