// The one error class of the package, and the one list of its codes.
// Everything the binding throws on purpose is a GatedMLPError; an abort rejects with the signal's own reason.

/**
 * @typedef {'ERR_SHAPE' | 'ERR_DTYPE' | 'ERR_ACTIVATION' | 'ERR_TENSOR_MISSING' | 'ERR_SAFETENSORS' | 'ERR_HTTP'
 *   | 'ERR_WASM_LOAD' | 'ERR_UNSUPPORTED' | 'ERR_OUT_OF_MEMORY' | 'ERR_DISPOSED'} ErrorCode
 */

/** What a failure says of itself. @param {unknown} cause */
export const wordsOf = (cause) => (cause instanceof Error ? cause.message : String(cause));

/**
 * An error with a `code` to branch on, a message for people, and context fields that depend on the code:
 * ERR_SAFETENSORS has `kind` (the reference parser's), ERR_HTTP has `status`, `url` and `attempts`.
 */
export class GatedMLPError extends Error {
  /** ERR_SAFETENSORS: what kind of fault, in the reference parser's terms. @type {string | undefined} */
  kind;
  /** ERR_HTTP and ERR_WASM_LOAD: the server's answer, where there was one. @type {number | undefined} */
  status;
  /** ERR_HTTP and ERR_WASM_LOAD: what was asked for, without secrets. @type {string | undefined} */
  url;
  /** ERR_HTTP: how often it was tried. @type {number | undefined} */
  attempts;

  /**
   * @param {ErrorCode} code
   * @param {string} message what happened, to which thing, with which value, and what would be right
   * @param {{ cause?: unknown, [key: string]: unknown }} [context]
   */
  constructor(code, message, context = {}) {
    const { cause, ...fields } = context;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, fields);
    for (const name of /** @type {const} */ (['kind', 'status', 'url', 'attempts'])) {
      if (this[name] === undefined) Reflect.deleteProperty(this, name);
    }
    this.name = 'GatedMLPError';
    /** @type {ErrorCode} */
    this.code = code;
  }
}

/**
 * The error for a number, an array or a shape that is not what was asked for.
 * @param {string} message
 * @param {Record<string, unknown>} [context]
 */
export const shapeError = (message, context) => new GatedMLPError('ERR_SHAPE', message, context);

/** The error for what is used after its end. @param {string} what */
export const disposedError = (what) =>
  new GatedMLPError('ERR_DISPOSED', `${what} has been disposed`);
