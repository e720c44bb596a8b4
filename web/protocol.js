// What the page and its worker say to each other: every message type, and the two ends of the wire.
// A request gets exactly one answer, and any number of events on the way. Large arrays are transferred, not copied.

/** @typedef {import('./definitions.js').ActShape} ActShape */
/** @typedef {{ g: Float32Array, a: Float32Array }} ActCurve  samples of act, ascending g */
/**
 * A layer of a model that the reader opened; `act` is what the reader said where no config does.
 * @typedef {{ model: number, prefix: string, expert: number | null, act: string | null }} OpenedLayer
 */
/**
 * A layer on a text: both shipped; or an opened one, on captured hidden states or on noise.
 * @typedef {{ kind: 'shipped', layer: number, prompt: string } | ({ kind: 'captured', states: number } & OpenedLayer)
 *   | ({ kind: 'probe' } & OpenedLayer)} Source
 */
/** An activation on the weights; null: the one they were trained with. @typedef {string | null} ActChoice */

/**
 * One layer run on one text. Arrays are [tokens, dFf], row-major; columnNorms is [dFf].
 * @typedef {object} TraceMessage
 * @property {number} tokens
 * @property {number} d
 * @property {number} dFf
 * @property {string} act  the activation of these numbers
 * @property {string} ownAct  the one the model was trained with
 * @property {Float32Array | null} actChange  per token, ||y - y of the own act|| / ||the latter||; null where act is the own
 * @property {string} dtype
 * @property {import('../src/binding/index.js').GatedMLP['variant']} variant  what the layer computes besides the plain formula
 * @property {ActCurve} curve
 * @property {ActShape} shape
 * @property {Float32Array} gate
 * @property {Float32Array} activated
 * @property {Float32Array} up
 * @property {Float32Array} hidden
 * @property {Float32Array} contribution
 * @property {Float32Array} columnNorms
 * @property {Uint16Array} codes  cell-classes.js files the cells under them
 * @property {import('./cell-classes.js').SortedSizes} sorted
 * @property {{ all: number[], rest: number[] }} quantiles  of |a|, at MARKED_SHARES: over all tokens, and without the first
 */

/**
 * The gates whose rows have landed while the rest of the layer is on its way; arrays are [tokens, dFf],
 * and 0 beyond `rows`.
 * @typedef {{ tokens: number, dFf: number, rows: number, shape: ActShape, curve: ActCurve,
 *   gate: Float32Array, activated: Float32Array, codes: Uint16Array }} PreviewMessage
 */
/** @typedef {{ bytes: number, total: number }} ProgressMessage */

/**
 * `digest` is null where the browser has no crypto.subtle (plain http on a foreign host), or not all bytes were seen.
 * @typedef {{ worst: number, token: number, tokens: number, digest: string | null, expected: string | null }} VerifyMessage
 */

/**
 * @typedef {{ channel: number, before: number, after: number }} ChannelChange
 * @typedef {{ moved: number, norm: number, relative: number, cosine: number, along: number,
 *   channels: ChannelChange[] }} EffectMessage
 */
/** A gate held by hand: act(g) of the unit is `value`; 0 is shut. @typedef {{ unit: number, value: number }} Hold */
/**
 * Gates held: those of a set at a threshold, shut, and single ones. `kept`: how many the set 'least' leaves open.
 * @typedef {{ set: import('./orders.js').UnitSet | null, kept?: number | null, tau: number, holds: Hold[] }} Held
 */
/**
 * Of one token; the errors are E of its closed gates dropped, and of its negative ones.
 * @typedef {import('./layer-measures.js').Measures & { errorClosed: number, errorNegative: number }} TokenMeasures
 */
/**
 * What the weights of a unit do at a token; `inputs` are terms of the sums that make g and u, `outputs` what it writes.
 * @typedef {{ terms: import('./unit-weights.js').Term[], sum: number, bias: number }} Sum
 * @typedef {{ gate: Sum, up: Sum, outputs: import('./unit-weights.js').Term[], d: number,
 *   cosines: { gateDown: number, upDown: number, gateUp: number } }} UnitMessage
 */
/** Of every unit. @typedef {{ gateDown: Float32Array, upDown: Float32Array, gateUp: Float32Array }} Cosines */
/**
 * Gradients of one token's output along a direction, per unit: arriving at h, reaching u, reaching g.
 * @typedef {{ arriving: Float32Array, up: Float32Array, gate: Float32Array }} GradientMessage
 */
/**
 * Of an output: the one on show ('y'), a channel ('c507') or another token's ('t12').
 * @typedef {string} Direction
 */
/**
 * E after dropping `dropped[i]` units, for each score.
 * @typedef {{ dropped: number[], errors: Record<import('./orders.js').Score, number[]> }} ErrorCurves
 */
/** @typedef {import('./forward-timing.js').TimingMessage} TimingMessage */
/** How far the output on show is from the one that was captured. @typedef {{ worst: number, token: number, tokens: number }} Agreement */

/**
 * Every request by name: what is sent and what comes back.
 * @typedef {object} Requests
 * @property {{ send: { source: Source, act: ActChoice }, answer: TraceMessage }} show
 * @property {{ send: { layer: number, prompt: string }, answer: VerifyMessage }} verify
 * @property {{ send: { token: number } & Held, answer: EffectMessage }} hold
 * @property {{ send: { token: number }, answer: ErrorCurves }} curves
 * @property {{ send: { token: number, dropped: number[] }, answer: TimingMessage | null }} timing  null: not wanted any more
 * @property {{ send: { tau: number }, answer: TokenMeasures[] }} measures
 * @property {{ send: { token: number, unit: number }, answer: UnitMessage }} unit
 * @property {{ send: { token: number, direction: Direction }, answer: GradientMessage }} gradient
 * @property {{ send: Record<string, never>, answer: Float32Array }} along  pi of every unit at every token
 * @property {{ send: Record<string, never>, answer: Cosines }} cosines
 * @property {{ send: Record<string, never>, answer: string | null }} digest  SHA-256 of the weights' file, where it is known
 * @property {{ send: { states: number }, answer: Agreement | null }} agree  null: no output was captured
 * @property {{ send: import('./opened-model.js').OpenQuestion,
 *   answer: { model: number, mlps: import('./opened-model.js').MlpSummary[], commit: string | null } }} open
 * @property {{ send: { file: Blob }, answer: import('./captured-states.js').StatesSummary }} states
 * @property {{ send: Record<string, never>, answer: Record<string, never> }} cancel
 * @property {{ send: { runs: Record<string, import('./lesson-bench.js').TinyRun> },
 *   answer: Record<string, import('./lesson-bench.js').TinyTrace> }} lessonRuns
 * @property {{ send: { act: string }, answer: { curve: ActCurve, shape: ActShape } }} lessonCurve
 * @property {{ send: import('./lesson-bench.js').WidthQuestion,
 *   answer: { twoThirds: number, multiplied: number, dFf: number } }} lessonWidth
 */

/** @typedef {{ progress: ProgressMessage, preview: PreviewMessage }} Events */
/** @typedef {{ code: string, message: string, status: number | null, name: string }} WireError */

/** An error that happened in the worker, with the binding's code and HTTP status where there are any. */
export class WorkerError extends Error {
  /** @param {WireError} error */
  constructor(error) {
    super(error.message);
    this.name = error.name;
    this.code = error.code;
    this.status = error.status;
  }
}

/** The page's end. */
export class WorkerClient {
  #worker;
  #nextId = 1;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #pending = new Map();
  /** The newest request of each name. @type {Map<keyof Requests, number>} */
  #newest = new Map();
  /** @type {{ [K in keyof Events]?: (message: Events[K]) => void }} */
  #listeners = {};

  /** @param {Worker | MessagePort} worker */
  constructor(worker) {
    this.#worker = worker;
    const wire = /** @type {Wire & EventTarget} */ (worker);
    wire.addEventListener('message', ({ data }) => this.#receive(data));
    wire.addEventListener('error', (event) =>
      this.#fail(/** @type {ErrorEvent} */ (event).message || 'worker'),
    );
  }

  /**
   * @template {keyof Requests} K
   * @param {K} name
   * @param {Requests[K]['send']} payload
   * @returns {Promise<Requests[K]['answer']>}
   */
  request(name, payload) {
    const id = this.#nextId++;
    this.#newest.set(name, id);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, payload });
    });
  }

  /**
   * @template {keyof Events} K
   * @param {K} name
   * @param {(message: Events[K]) => void} listener
   */
  on(name, listener) {
    this.#listeners = { ...this.#listeners, [name]: listener };
  }

  /** @param {{ id: number, result?: unknown, error?: WireError, event?: keyof Events, message?: any }} data */
  #receive(data) {
    if (data.event !== undefined) {
      // What is on the way of a request in whose place another was made is of something that nobody waits for.
      const isWanted = [...this.#newest.values()].includes(data.id);
      if (isWanted) this.#listeners[data.event]?.(data.message);
      return;
    }
    const waiting = this.#pending.get(data.id);
    this.#pending.delete(data.id);
    if (data.error !== undefined) waiting?.reject(new WorkerError(data.error));
    else waiting?.resolve(data.result);
  }

  /** @param {string} message */
  #fail(message) {
    for (const { reject } of this.#pending.values()) {
      reject(new WorkerError({ code: 'ERR_WORKER', message, status: null, name: 'Error' }));
    }
    this.#pending.clear();
  }
}

/**
 * @param {unknown} error
 * @returns {WireError}
 */
function describe(error) {
  const e = /** @type {{ code?: unknown, status?: unknown, message?: unknown, name?: unknown }} */ (
    typeof error === 'object' && error !== null ? error : { message: error }
  );
  return {
    code: typeof e.code === 'string' ? e.code : '',
    status: typeof e.status === 'number' ? e.status : null,
    message: String(e.message),
    name: typeof e.name === 'string' ? e.name : 'Error',
  };
}

/**
 * A handler returns its answer, and the buffers to transfer with it.
 * @typedef {{ [K in keyof Requests]: (payload: Requests[K]['send'], emit: Emit) =>
 *   Promise<{ result: Requests[K]['answer'], transfer?: Transferable[] }> }} Handlers
 * @typedef {<K extends keyof Events>(event: K, message: Events[K], transfer?: Transferable[]) => void} Emit
 */
/**
 * Where messages come in and go out: a worker's global scope, or a port.
 * @typedef {{ postMessage(message: unknown, transfer: Transferable[]): void,
 *   addEventListener(type: 'message', listener: (event: MessageEvent) => void): void }} Wire
 */

/**
 * The computing end: answers requests.
 * @param {Partial<Handlers>} handlers those that will be asked for
 * @param {Wire} [scope]
 */
export function serveRequests(
  handlers,
  scope = /** @type {Wire} */ (/** @type {unknown} */ (globalThis)),
) {
  scope.addEventListener('message', async ({ data }) => {
    const { id, name, payload } = data;
    /** @type {Emit} */
    const emit = (event, message, transfer = []) =>
      scope.postMessage({ id, event, message }, transfer);
    try {
      const handler = handlers[/** @type {keyof Requests} */ (name)];
      if (handler === undefined) throw new Error(`nobody answers ${name}`);
      const { result, transfer = [] } = await handler(/** @type {never} */ (payload), emit);
      scope.postMessage({ id, result }, transfer);
    } catch (error) {
      scope.postMessage({ id, error: describe(error) }, []);
    }
  });
}
