// Gets the module's bytes from where they are and makes an instance of them. runtime.js calls it.
// Looks for nothing by itself: which file it is, the caller says. What goes wrong names the place, what was found there
// and the option that would mend it, since a bundler or a server that puts the file elsewhere is the usual cause.

import { bytesIn, tagOf } from './arrays.js';
import { GatedMLPError, wordsOf } from './errors.js';

/** @typedef {URL | string | Response | Promise<Response> | BufferSource} BytesSource */
/** @typedef {BytesSource | WebAssembly.Module} WasmSource */

const PLACE = "Pass the module's place as Runtime.create({ wasm })";

/**
 * Rejects with ERR_WASM_LOAD, or with signal.reason.
 * @param {WasmSource} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(source, signal) {
  signal?.throwIfAborted();
  if (tagOf(source) === 'WebAssembly.Module') {
    return /** @type {WebAssembly.Module} */ (source);
  }
  const { bytes, from } = await bytesOf(/** @type {BytesSource} */ (source), signal);
  signal?.throwIfAborted();
  const start = bytes.subarray(0, 4);
  if (String.fromCharCode(...start) !== '\0asm') {
    throw new GatedMLPError(
      'ERR_WASM_LOAD',
      `${from}: not a WebAssembly module (it begins with ${JSON.stringify(String.fromCharCode(...start))}). Is the file where your bundler or server put it? ${PLACE}`,
    );
  }
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    throw new GatedMLPError(
      'ERR_WASM_LOAD',
      `${from}: this engine cannot compile the module (${wordsOf(cause)}). It needs WebAssembly SIMD; under a content security policy, script-src must have 'wasm-unsafe-eval'`,
      { cause },
    );
  }
}

/**
 * @param {BytesSource} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ bytes: Uint8Array<ArrayBuffer>, from: string }>}
 */
async function bytesOf(source, signal) {
  const given = bytesIn(source);
  if (given) return { bytes: given, from: 'wasm' };
  const url =
    tagOf(source) === 'URL' || typeof source === 'string'
      ? new URL(/** @type {string} */ (source), globalThis.location?.href ?? import.meta.url)
      : null;
  try {
    if (url?.protocol === 'file:' && globalThis.process?.getBuiltinModule) {
      const { readFileSync } = globalThis.process.getBuiltinModule('node:fs');
      return { bytes: new Uint8Array(readFileSync(url)), from: url.href };
    }
    const response = await (url
      ? fetch(url, { signal })
      : /** @type {Response | Promise<Response>} */ (source));
    const from = url?.href ?? (response.url || 'wasm');
    if (!response.ok) {
      throw new GatedMLPError(
        'ERR_WASM_LOAD',
        `${from}: the server answered ${response.status} (${response.headers.get('content-type') ?? 'no content type'}). ${PLACE}`,
        { status: response.status, url: from },
      );
    }
    return { bytes: new Uint8Array(await response.arrayBuffer()), from };
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof GatedMLPError) throw cause;
    throw new GatedMLPError(
      'ERR_WASM_LOAD',
      `${url?.href ?? 'wasm'}: could not be read (${wordsOf(cause)}). ${PLACE}`,
      { cause, url: url?.href },
    );
  }
}

/**
 * An instance of a module. Rejects with ERR_WASM_LOAD.
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Memory} [memory] what a build with shared memory works on
 * @returns {Promise<WebAssembly.Instance>}
 */
export async function instantiate(module, memory) {
  let instance;
  try {
    // Some Emscripten versions report growth through this import; views are compared by buffer instead.
    instance = await WebAssembly.instantiate(module, {
      env: { emscripten_notify_memory_growth() {}, ...(memory && { memory }) },
    });
  } catch (cause) {
    throw otherModule(wordsOf(cause), cause);
  }
  if (!('real_bytes' in instance.exports)) throw otherModule('its exports are not those expected');
  return instance;
}

/** @param {string} why @param {unknown} [cause] */
function otherModule(why, cause) {
  return new GatedMLPError(
    'ERR_WASM_LOAD',
    `the module could not be used (${why}). Is it gated-mlp.wasm of this very version?`,
    { cause },
  );
}
