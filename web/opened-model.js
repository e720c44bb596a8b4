// A checkpoint that the reader brought: opened by its headers, and listed with what each layer costs to fetch. Lives in the
// worker; engine.js asks it.

import { GatedMLP, openCheckpoint } from '../src/binding/index.js';
import { nearNames } from './near-names.js';

/** @typedef {import('../src/binding/index.js').Runtime} Runtime */
/**
 * What is opened: a Hub id, a URL or a file; `config` where it came as a file of its own; `token` is '' for none.
 * @typedef {{ source: string | Blob, config: Record<string, unknown> | null, token: string, keep: boolean }} OpenQuestion
 */
/**
 * A gated MLP as the dialog lists it. `fetchBytes`: what its weights cost on the wire, which is more than `byteLength` where a
 * server sends files only from their beginning.
 * @typedef {{ prefix: string, layer: number | null, expert: number | null, d: number, dFf: number, act: string | null,
 *   dtype: string, byteLength: number, fetchBytes: number, refusal: string | null }} MlpSummary
 */

/** Why the page shows no layer with a norm before its output, although it could be computed. */
const NORMED =
  'a norm divides its units by what all of them are together, so what the page says of one unit would not hold';

/** A person is waiting: what does not answer twice is told. */
const RETRY = { tries: 3, baseDelay: 300 };

export class OpenedModel {
  checkpoint;
  /** The commit of the Hub repository that answered; null where none was told. @type {string | null} */
  commit;
  #ranges;

  /**
   * @param {import('../src/binding/index.js').Checkpoint} checkpoint
   * @param {RangeWatch} ranges
   */
  constructor(checkpoint, ranges) {
    this.checkpoint = checkpoint;
    this.#ranges = ranges;
    this.commit = ranges.commit;
  }

  /**
   * @param {OpenQuestion} question
   * @param {Runtime} runtime
   * @param {AbortSignal} signal
   */
  static async open({ source, config, token, keep }, runtime, signal) {
    const ranges = new RangeWatch();
    const checkpoint = await openCheckpoint(source, {
      runtime,
      signal,
      fetch: ranges.fetch,
      cache: keep,
      retry: RETRY,
      config: config ?? undefined,
      token: token === '' ? undefined : token,
    });
    return new OpenedModel(checkpoint, ranges);
  }

  /**
   * Why no gated MLP was found, where the loader knows it; else what names come near.
   * @param {Runtime} runtime
   * @returns {Promise<unknown>} an error
   */
  async whyEmpty(runtime) {
    const known = await GatedMLP.fromCheckpoint(this.checkpoint, { runtime }).catch(
      (error) => error,
    );
    if (known.code === 'ERR_UNSUPPORTED') return known;
    const near = nearNames(this.checkpoint.tensors.keys()).join(', ');
    return Object.assign(new Error(near), { code: 'ERR_NO_MLP' });
  }

  /** @returns {MlpSummary[]} */
  summaries() {
    return this.checkpoint.mlps.map(
      ({ prefix, layer, expert, d, dFf, act, actSource, dtype, byteLength, variant, refusal }) => ({
        ...{ prefix, layer, expert, d, dFf, dtype, byteLength },
        refusal: refusal ?? (variant?.normEps === undefined ? null : NORMED),
        // Llama's and Gemma's matrices have the same names: where nothing tells them apart the reader must.
        act: actSource === 'default' ? null : act,
        fetchBytes: this.#ranges.areIgnored ? this.#endOf(prefix) : byteLength,
      }),
    );
  }

  /** @param {{ prefix: string, expert: number | null }} choice */
  entry({ prefix, expert }) {
    const found = this.checkpoint.mlps.find(
      (mlp) => mlp.prefix === prefix && mlp.expert === expert,
    );
    if (found === undefined) throw new Error(`no gated MLP ${prefix}`);
    return found;
  }

  /** Where the last of a module's tensors ends in its file. @param {string} prefix */
  #endOf(prefix) {
    let end = 0;
    for (const [name, { byteOffset, byteLength }] of this.checkpoint.tensors) {
      if (name.startsWith(prefix)) end = Math.max(end, Number(byteOffset) + byteLength);
    }
    return end;
  }
}

/** A fetch that notices servers which answer a range with the whole file, and which commit of a repository answers. */
class RangeWatch {
  areIgnored = false;
  /** @type {string | null} */
  commit = null;

  /** @type {typeof globalThis.fetch} */
  fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    const commit = response.headers.get('x-repo-commit') ?? '';
    if (/^[0-9a-f]{40}$/.test(commit)) this.commit = commit;
    const asked = new Headers(init?.headers).has('range');
    const isWeights = new URL(String(input)).pathname.endsWith('.safetensors');
    if (asked && isWeights && response.status === 200) this.areIgnored = true;
    return response;
  };
}
