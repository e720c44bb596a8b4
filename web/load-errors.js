// What went wrong with a load, in words with a way out. The loader's codes and the HTTP status decide; a missing answer is
// looked into once more, since a browser does not tell a page whether a server is down or only does not let it read.

import { loadText } from './load-text.js';

const words = loadText.errors;

/** @typedef {{ code?: string, status?: number | null, message?: string, name?: string }} LoadError */

/** Whether a login may help. @param {unknown} error */
export function wantsToken(error) {
  const { status } = /** @type {LoadError} */ (error);
  return status === 401 || status === 403;
}

/** By the loader's code, where the message says the rest. @type {Record<string, (detail: string) => string>} */
const BY_CODE = {
  ERR_SAFETENSORS: words.notSafetensors,
  ERR_DTYPE: words.dtype,
  ERR_UNSUPPORTED: words.unsupported,
  ERR_ACTIVATION: words.unsupported,
  ERR_TENSOR_MISSING: words.missing,
  ERR_SHAPE: words.shape,
  ERR_OUT_OF_MEMORY: words.memory,
  ERR_STATES: words.states,
  ERR_NO_MLP: words.noMlp,
};

/** @param {unknown} error */
export function errorInWords(error) {
  const { code = '', status = null, message = String(error) } = /** @type {LoadError} */ (error);
  if (wantsToken(error)) return words.unauthorised;
  if (status === 404 || status === 410) return words.notFound;
  if (code === 'ERR_HTTP' && /ignores? ranges|passes the budget/.test(message))
    return words.noRanges;
  if (isNoAnswer(error)) return navigator.onLine ? words.unreachable : words.offline;
  if (code === 'ERR_HTTP' && status !== null) return words.http(status);
  if (code === 'ERR_SHAPE' && /does not fit the \d+ GiB/.test(message))
    return words.tooLarge(message);
  if (code === 'ERR_SAFETENSORS' && /\bHTML\b/.test(message)) return words.webPage;
  if (code === 'ERR_SAFETENSORS' && /: cannot be read \(/.test(message))
    return words.other(message);
  return (BY_CODE[code] ?? words.other)(message.replace(/\.$/, ''));
}

/**
 * The same, after asking the server once more where there was no answer.
 * @param {unknown} error
 * @param {string | null} address what was asked
 */
export async function explain(error, address) {
  const isForeign = address !== null && /^https?:/.test(address);
  if (isForeign && isNoAnswer(error) && navigator.onLine && (await answers(address))) {
    return words.noCors;
  }
  return errorInWords(error);
}

/** @param {unknown} error */
function isNoAnswer(error) {
  const { code, status = null } = /** @type {LoadError} */ (error);
  return code === 'ERR_HTTP' && status === null;
}

/** Whether anything answers, readable or not. Its body is not read. @param {string} address */
async function answers(address) {
  const abort = new AbortController();
  try {
    await fetch(address, { mode: 'no-cors', cache: 'no-store', signal: abort.signal });
    return true;
  } catch {
    return false;
  } finally {
    abort.abort();
  }
}
