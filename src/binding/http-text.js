// Small JSON companions of a checkpoint (config.json, params.json, the shard index), fetched whole. Large files are
// http.js's matter.

import { GatedMLPError } from './errors.js';
import { networkFailure, PassingFailure, retryDelay, sleep, Watch } from './retry.js';

/** Answers that mean "there is no such file" for a file that need not be there. Object stores say 403 for it. */
const ABSENT = new Set([403, 404, 410]);

/**
 * The text of a file, or null where there is none.
 * @param {import('./http-client.js').HttpClient} client
 * @param {URL} url
 * @param {string} name for messages
 * @param {{ signal?: AbortSignal, budget: import('./budget.js').Budget }} request
 * @returns {Promise<string | null>}
 */
export async function fetchText(client, url, name, request) {
  for (let failures = 1; ; failures++) {
    try {
      return await fetchTextOnce(client, url, name, request);
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      if (!(error instanceof PassingFailure)) throw error;
      if (failures >= (error.once ? 2 : client.retry.tries)) {
        throw new GatedMLPError('ERR_HTTP', `${name}: ${error.message}; ${failures} attempts`, {
          status: error.status,
          url: name,
          attempts: failures,
          cause: error.cause,
        });
      }
      await sleep(retryDelay(failures, error.retryAfter, client.retry), request.signal);
    }
  }
}

/**
 * @param {import('./http-client.js').HttpClient} client
 * @param {URL} url
 * @param {string} name
 * @param {{ signal?: AbortSignal, budget: import('./budget.js').Budget }} request
 */
async function fetchTextOnce(client, url, name, { signal, budget }) {
  const watch = new Watch(signal, client.retry.idleTimeout);
  try {
    const { response, redirected } = await watch
      .race(client.get(url, null, watch.signal))
      .catch((cause) => {
        throw cause instanceof PassingFailure ? cause : networkFailure(cause);
      });
    if (ABSENT.has(response.status) && !redirected) return null;
    if (response.status !== 200) throw client.refusal(name, response, redirected);
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (reader) {
      const { done, value } = await watch.race(reader.read()).catch((cause) => {
        throw cause instanceof PassingFailure ? cause : networkFailure(cause, 200);
      });
      if (done) break;
      watch.touch();
      budget.spend(value.length, 0, name);
      text += decoder.decode(value, { stream: true });
    }
    return text + decoder.decode();
  } finally {
    watch.close();
  }
}
