// Opens the files of a checkpoint: config, shard index, headers. Only the shards that are needed. checkpoint.js keeps
// what this returns.

import { integer } from './arrays.js';
import { Budget } from './budget.js';
import { modelTypes } from './config.js';
import { GatedMLPError } from './errors.js';
import { wasmOf } from './runtime.js';
import { PREFIX_BYTES } from './safetensors-table.js';
import { Shard } from './shard.js';
import { neededShards, parseIndex } from './shard-index.js';
import { locate } from './source.js';
import { together } from './stream.js';

/** @typedef {import('./source.js').Folder} Folder */
/** @typedef {import('./source.js').Located} Located */
/** @typedef {import('./source.js').Request} Request */
/** @typedef {import('./safetensors-table.js').TableEntry} TableEntry */
/** @typedef {import('./shard-index.js').ShardIndex} ShardIndex */
/** @typedef {import('./stream.js').Slots} Slots */
/** @typedef {Record<string, unknown>} Json */
/** @typedef {{ config: Json | null, meta: { d: number, dFf: number } | null }} Companions */

const SINGLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
const META = 'consolidated.safetensors';

/** The opened files, and which tensor is in which. */
export class OpenedFiles {
  /** @type {string} */
  url;
  /** @type {string | null} */
  revision;
  /** @type {Json | null} */
  config;
  /** Widths by Meta's params.json. @type {{ d: number, dFf: number } | null} */
  meta;
  /** @type {Shard[]} */
  shards;
  #index;
  #slots;
  /** @type {Map<string, Shard>} */
  #where = new Map();

  /**
   * @param {Located} located
   * @param {Companions} companions
   * @param {{ shards: Shard[], index: ShardIndex | null }} opened
   * @param {Slots} slots
   */
  constructor(located, { config, meta }, { shards, index }, slots) {
    this.url = located.url;
    this.revision = located.revision;
    this.config = config;
    this.meta = meta;
    this.shards = shards;
    this.#index = index;
    this.#slots = slots;
    this.#place();
  }

  /** Whether the checkpoint has a tensor, in a shard that is open or not. @param {string} name */
  has(name) {
    return this.#where.has(name) || (this.#index?.shardOf.has(name) ?? false);
  }

  /** Names of the tensors in open shards, and where each is. @returns {Iterable<[string, Shard]>} */
  placed() {
    return this.#where;
  }

  /** @param {string} name */
  shardOf(name) {
    const shard = this.#where.get(name);
    if (shard) return shard;
    const message = `${this.url}: no tensor is called ${JSON.stringify(name)}`;
    throw new GatedMLPError('ERR_TENSOR_MISSING', message, { tensor: name });
  }

  /**
   * @param {string} name
   * @returns {TableEntry}
   */
  tensor(name) {
    return /** @type {TableEntry} */ (this.shardOf(name).tensors.get(name));
  }

  /**
   * Reads headers anew after a file was replaced. Tensors must still be there, of the same type and shape.
   * @param {Shard[]} shards
   * @param {Request} request
   */
  async reopen(shards, request) {
    const before = shards.map((shard) => shard.tensors);
    await openAll(shards, request, this.#slots);
    for (const [i, { file, tensors }] of shards.entries()) {
      for (const [name, { dtype, shape }] of before[i]) {
        const now = tensors.get(name);
        if (now?.dtype === dtype && String(now.shape) === String(shape)) continue;
        const message = `${file.name}: replaced while it was read, and ${name} is another tensor now. Open it again`;
        throw new GatedMLPError('ERR_HTTP', message, { tensor: name, url: file.name });
      }
    }
    this.#place();
  }

  #place() {
    this.#where = new Map();
    for (const shard of this.shards) {
      for (const name of shard.tensors.keys()) {
        // With an index its word counts: a shard may hold more than is meant.
        if (this.#index === null || this.#index.shardOf.get(name) === shard.name)
          this.#where.set(name, shard);
      }
    }
    const opened = new Set(this.shards.map((shard) => shard.name));
    for (const [name, shard] of this.#index?.shardOf ?? []) {
      if (!opened.has(shard) || this.#where.has(name)) continue;
      const message = `${this.#index?.name} says that ${JSON.stringify(name)} is in ${shard}, and it is not`;
      throw new GatedMLPError('ERR_TENSOR_MISSING', message, { tensor: name, shard });
    }
  }
}

/**
 * @param {import('./source.js').Source} source
 * @param {import('./checkpoint.js').OpenOptions} options
 * @param {import('./runtime.js').Runtime} runtime
 * @param {Slots} slots
 */
export async function openFiles(source, options, runtime, slots) {
  const { signal } = options;
  const budget = new Budget(options.maxBytes);
  const request = { signal, budget, firstBytes: firstBytes(options) };
  const located = await locate(source, options, request);
  /** @type {Companions} */
  let companions = { config: null, meta: null };
  /** @type {{ shards: Shard[], index: ShardIndex | null }} */
  let opened = { shards: [], index: null };
  const wasm = wasmOf(runtime);
  /** @type {((request: Request) => Promise<void>)[]} */
  const jobs = [
    async (request) => {
      companions = await readCompanions(located, request, options, runtime);
    },
    async (request) => {
      opened = await openSingle(located, request, wasm);
    },
  ];
  await together(jobs, null, signal, (job, inner) => job({ ...request, signal: inner }));
  if (opened.shards.length === 0) {
    const types = modelTypes(companions.config);
    opened = await openSharded(located, request, wasm, options, types, slots);
  }
  return new OpenedFiles(located, companions, opened, slots);
}

/** @param {import('./checkpoint.js').OpenOptions} options */
function firstBytes({ firstBytes: asked }) {
  return asked === undefined ? undefined : integer(asked, 'firstBytes', PREFIX_BYTES, 2 ** 31 - 1);
}

/**
 * @param {Located} located
 * @param {Request} request
 * @param {import('./checkpoint.js').OpenOptions} options
 * @param {import('./runtime.js').Runtime} runtime
 * @returns {Promise<Companions>}
 */
async function readCompanions({ folder, file, hasConfig }, request, options, runtime) {
  const config = options.config ?? null;
  if (config !== null || folder === null || !hasConfig) return { config, meta: null };
  const found = await readJson(folder, 'config.json', request);
  if (found !== null || (file !== null && !file.name.endsWith(META)))
    return { config: found, meta: null };
  const params = await readJson(folder, 'params.json', request);
  if (typeof params?.dim !== 'number') return { config: null, meta: null };
  const { dim, hidden_dim, multiple_of, ffn_dim_multiplier } = params;
  const dFf =
    typeof hidden_dim === 'number'
      ? hidden_dim
      : runtime.llamaFfnDim(
          dim,
          Number(multiple_of ?? 256),
          ffn_dim_multiplier == null ? null : Number(ffn_dim_multiplier),
        );
  return { config: null, meta: { d: dim, dFf } };
}

/**
 * A JSON object, or null where there is no such file. Servers of single-page sites answer with a page for any path.
 * @param {Folder} folder
 * @param {string} member
 * @param {Request} request
 * @returns {Promise<Json | null>}
 */
async function readJson(folder, member, request) {
  const text = await folder.text(member, request);
  if (text === null || /^\s*</.test(text)) return null;
  try {
    const value = JSON.parse(text.replace(/^\ufeff/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new GatedMLPError('ERR_UNSUPPORTED', `${folder.name}, ${member}: not a JSON object`);
}

/**
 * The source's own file, or the one file of its folder; nothing where the folder has shards.
 * @param {Located} located
 * @param {Request} request
 * @param {import('./wasm.js').Wasm} wasm
 * @returns {Promise<{ shards: Shard[], index: null }>}
 */
async function openSingle({ file, folder, index }, request, wasm) {
  if (index !== null || (file === null && folder === null)) return { shards: [], index: null };
  const name = file === null ? SINGLE : file.name.slice(file.name.lastIndexOf('/') + 1);
  const shard = new Shard(name, file ?? /** @type {Folder} */ (folder).file(SINGLE), wasm);
  try {
    await shard.open(request);
    return { shards: [shard], index: null };
  } catch (error) {
    if (file === null && isAbsent(error)) return { shards: [], index: null };
    throw error;
  }
}

/**
 * @param {Located} located
 * @param {Request} request
 * @param {import('./wasm.js').Wasm} wasm
 * @param {import('./scan.js').Selection} selection
 * @param {string[]} types
 * @param {Slots} slots
 * @returns {Promise<{ shards: Shard[], index: ShardIndex | null }>}
 */
async function openSharded(located, request, wasm, selection, types, slots) {
  const folder = /** @type {Folder} */ (located.folder);
  const member = located.index ?? INDEX;
  const json = await readJson(folder, member, request);
  if (json === null) {
    if (located.index !== null) throw folder.absent(located.url, 'there is no such file');
    return { shards: [await openMeta(folder, request, wasm)], index: null };
  }
  const index = parseIndex(`${folder.name}, ${member}`, json);
  const shards = neededShards(index, selection, types).map(
    (name) => new Shard(name, folder.file(name), wasm),
  );
  try {
    await openAll(shards, request, slots);
  } catch (error) {
    if (isAbsent(error)) {
      const { url = '', file = url } = /** @type {{ url?: string, file?: string }} */ (error);
      const tensor = [...index.shardOf].find(([, shard]) => file.endsWith(shard))?.[0];
      throw new GatedMLPError(
        'ERR_TENSOR_MISSING',
        `${index.name} names a shard that is not there: ${file}, for ${JSON.stringify(tensor)} among others`,
        { cause: error, url: file, tensor },
      );
    }
    throw error;
  }
  return { shards, index };
}

/**
 * Mistral and Meta name their single file so.
 * @param {Folder} folder
 * @param {Request} request
 * @param {import('./wasm.js').Wasm} wasm
 */
async function openMeta(folder, request, wasm) {
  const shard = new Shard(META, folder.file(META), wasm);
  try {
    await shard.open(request);
    return shard;
  } catch (error) {
    if (!isAbsent(error)) throw error;
    const words = `no ${SINGLE}, ${INDEX} or ${META} here. The name of a file must end in .safetensors`;
    throw folder.absent(folder.name, words);
  }
}

/**
 * @param {Shard[]} shards
 * @param {Request} request
 * @param {Slots} slots
 */
async function openAll(shards, request, slots) {
  await together(shards, slots, request.signal, (shard, signal) =>
    shard.open({ ...request, signal }),
  );
}

/**
 * Whether an error says that there is no such file: by status, by the file system, or by a page in its place.
 * @param {unknown} error
 */
function isAbsent(error) {
  if (!(error instanceof GatedMLPError)) return false;
  const { status, cause, looksLike } =
    /** @type {GatedMLPError & { status?: number, looksLike?: string }} */ (error);
  const code = /** @type {{ code?: string } | undefined} */ (cause)?.code;
  return status === 404 || status === 410 || code === 'ENOENT' || looksLike === 'an HTML page';
}
