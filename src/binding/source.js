// What the user names as a source, turned into files: a lone file, or a folder whose members can be opened by name.
// A string is a Hub id, a URL or a path by its form alone. checkpoint.js decides what to open.

import { bytesIn, tagOf } from './arrays.js';
import { GatedMLPError, wordsOf } from './errors.js';
import { HttpFile } from './http.js';
import { checkHttpOptions, HttpClient } from './http-client.js';
import {
  blobFile,
  bytesFile,
  hasFileSystem,
  ioError,
  LocalFile,
  orUnreadable,
} from './local-file.js';
import { FileReplaced } from './retry.js';

/** @typedef {string | URL | Blob | Response | ArrayBuffer | ArrayBufferView} Source */
/** @typedef {HttpFile | LocalFile} SourceFile */
/** @typedef {{ signal?: AbortSignal, budget: import('./budget.js').Budget, firstBytes?: number }} Request */

/**
 * A folder of a checkpoint, wherever it lies.
 * @typedef {object} Folder
 * @property {string} name for messages
 * @property {(member: string) => SourceFile} file
 * @property {(member: string, request: Request) => Promise<string | null>} text null where there is no such file
 * @property {(place: string, words: string) => GatedMLPError} absent the error of what should be there and is not
 */

/**
 * @typedef {object} Located
 * @property {string} url the source as shown to people: without secrets
 * @property {string | null} revision of a Hub repository
 * @property {SourceFile | null} file a lone safetensors file, or null: look into the folder
 * @property {string | null} index the member of the folder that lists the shards, where the source names it
 * @property {Folder | null} folder
 * @property {boolean} hasConfig whether a config.json belongs to it: a file with a name of its own may lie anywhere
 */

const HUB = 'https://huggingface.co';
const HUB_HOSTS = new Set(['huggingface.co', 'www.huggingface.co', 'hf.co']);
const FILE_NAME = /\.(safetensors|json|bin|gguf|pt|pth|ckpt|npz|npy|h5|zip|gz|html?|txt|md|py)$/i;
const HUB_ID = /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([^@\s]+))?$/;
/** Names that checkpoints give their own files, by save_pretrained and by Mistral. */
const CHECKPOINT_FILE = /^(model(-\d{5}-of-\d{5})?|consolidated)\.safetensors$/;

/** What path-files.js uses. @typedef {{ LocalFile: typeof LocalFile, FileReplaced: typeof FileReplaced, ioError: typeof ioError, orUnreadable: typeof orUnreadable, segmentsOf: typeof segmentsOf, CHECKPOINT_FILE: RegExp }} PathTools */

/** @param {string | URL} path */
async function locatePath(path) {
  const tools = { LocalFile, FileReplaced, ioError, orUnreadable, segmentsOf, CHECKPOINT_FILE };
  return (await import('./path-files.js')).locatePath(path, tools);
}

/**
 * @param {Source} source
 * @param {import('./http-client.js').HttpOptions} options
 * @param {Request} request
 * @returns {Promise<Located>}
 */
export async function locate(source, options, request) {
  checkHttpOptions(options);
  if (typeof source === 'string' && source !== '') return locateString(source, options, request);
  const tag = tagOf(source);
  if (tag === 'URL') return locateUrl(/** @type {URL} */ (source), options, request, null);
  if (tag === 'Blob' || tag === 'File') return lone(blobFile(/** @type {Blob} */ (source)));
  if (tag === 'Response') return lone(await drain(/** @type {Response} */ (source), request));
  const bytes = bytesIn(source);
  if (bytes) return lone(bytesFile(bytes));
  throw new GatedMLPError(
    'ERR_UNSUPPORTED',
    `a source is a URL, a Hub id "org/name", a path, a File or Blob, a Response, or bytes; this is ${source === '' ? 'empty' : typeof source}`,
  );
}

/**
 * @param {SourceFile} file
 * @returns {Located}
 */
function lone(file) {
  return { url: file.name, revision: null, file, index: null, folder: null, hasConfig: false };
}

/**
 * @param {string} source
 * @param {import('./http-client.js').HttpOptions} options
 * @param {Request} request
 */
async function locateString(source, options, request) {
  const hub = FILE_NAME.test(source) ? null : HUB_ID.exec(source);
  if (hub) {
    const revision = hub[2] ?? 'main';
    const url = new URL(`${HUB}/${hub[1]}/resolve/${encodeURIComponent(revision)}/`);
    return locateUrl(url, options, request, revision);
  }
  // A scheme of one letter is a Windows drive.
  if (/^[a-z][a-z\d+.-]+:/i.test(source))
    return locateUrl(parseUrl(source), options, request, null);
  if (hasFileSystem()) return locatePath(source);
  return locateUrl(
    parseUrl(source, globalThis.document?.baseURI ?? globalThis.location?.href),
    options,
    request,
    null,
  );
}

/**
 * @param {string} source
 * @param {string} [base]
 */
function parseUrl(source, base) {
  try {
    return new URL(source, base);
  } catch (cause) {
    throw new GatedMLPError('ERR_UNSUPPORTED', 'the source is not a URL that can be parsed', {
      cause,
    });
  }
}

/**
 * @param {URL} given
 * @param {import('./http-client.js').HttpOptions} options
 * @param {Request} request
 * @param {string | null} revision
 * @returns {Promise<Located>}
 */
async function locateUrl(given, options, request, revision) {
  if (given.protocol === 'file:' && hasFileSystem()) return locatePath(given);
  const url = HUB_HOSTS.has(given.hostname) ? hubFileUrl(given) : new URL(given);
  url.hash = '';
  const client = new HttpClient(url.origin, options);
  if (url.protocol === 'data:' || url.protocol === 'blob:') {
    return lone(await drain(await inlineResponse(url, client, request), request));
  }
  const words = /^https?:$/.test(url.protocol)
    ? (url.username || url.password) && 'a URL with a password in it; pass { headers } instead'
    : `${url.protocol} is not a scheme that can be read from`;
  if (words) throw new GatedMLPError('ERR_UNSUPPORTED', words);
  const isFile = FILE_NAME.test(url.pathname) || url.search !== '';
  if (!isFile && !url.pathname.endsWith('/')) url.pathname += '/';
  const folder = httpFolder(new URL(url), client);
  const shown = url.origin + url.pathname;
  const member = memberOf(url);
  if (!isFile) return { url: shown, revision, file: null, index: null, folder, hasConfig: true };
  if (/\.json$/i.test(member)) {
    return {
      url: shown,
      revision,
      file: null,
      index: member,
      folder,
      hasConfig: true,
    };
  }
  const hasConfig = CHECKPOINT_FILE.test(member);
  return { url: shown, revision, file: new HttpFile(url, client), index: null, folder, hasConfig };
}

/** The name of the file that a URL is about, as it was before it was encoded. @param {URL} url */
function memberOf({ pathname }) {
  const encoded = pathname.slice(pathname.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(encoded);
  } catch {
    const message = `${JSON.stringify(encoded)} in the URL: a % that encodes nothing; it is written %25`;
    throw new GatedMLPError('ERR_UNSUPPORTED', message);
  }
}

/**
 * The answer to a data: or blob: URL. The URL stays out of the message: a data: URL is the file itself.
 * @param {URL} url
 * @param {HttpClient} client
 * @param {Request} request
 */
async function inlineResponse(url, client, { signal = new AbortController().signal }) {
  try {
    return (await client.get(url, null, signal)).response;
  } catch (cause) {
    signal.throwIfAborted();
    const message = `${url.protocol} there is nothing that can be read behind this URL`;
    throw new GatedMLPError('ERR_HTTP', message, { url: url.protocol, attempts: 1, cause });
  }
}

/**
 * The file or folder behind a page of the Hub.
 * @param {URL} page
 */
function hubFileUrl(page) {
  const url = new URL(page);
  const [, org, name, view, revision, ...path] = url.pathname.split('/');
  if (!org || !name) return url;
  if (!view) url.pathname = `/${org}/${name}/resolve/main/`;
  else if (/^(blob|raw|tree|resolve)$/.test(view) && revision) {
    url.pathname = `/${[org, name, 'resolve', revision, ...path].join('/')}`;
  }
  return url;
}

/**
 * @param {URL} base any URL in the folder
 * @param {HttpClient} client
 * @returns {Folder}
 */
function httpFolder(base, client) {
  const start = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1);
  /** @param {string} member */
  const urlOf = (member) => {
    const url = new URL(base);
    url.pathname = start + segmentsOf(member).map(encodeURIComponent).join('/');
    return url;
  };
  return {
    name: base.origin + start,
    file: (member) => new HttpFile(urlOf(member), client),
    text: (member, request) => new HttpFile(urlOf(member), client).text(request),
    absent: (url, words) =>
      new GatedMLPError('ERR_HTTP', `${url}: ${words}`, { url, status: 404, attempts: 1 }),
  };
}

/**
 * A member's path below its folder. Refuses everything that could lead elsewhere, on any server or disk.
 * @param {string} member
 */
export function segmentsOf(member) {
  const segments = member.split('/');
  const strays =
    segments.some((s) => s === '' || s === '.' || s === '..') || /\\|%2e|\0/i.test(member);
  if (strays || /^[a-z][a-z\d+.-]*:/i.test(member)) {
    throw new GatedMLPError(
      'ERR_UNSUPPORTED',
      `${JSON.stringify(member)} is not the name of a file below the checkpoint's folder`,
    );
  }
  return segments;
}

/**
 * The body of a Response that is at hand, as a file.
 * @param {Response} response
 * @param {Request} request
 */
async function drain(response, { signal, budget }) {
  const name = /^(data|blob):/.test(response.url)
    ? response.url.slice(0, 5)
    : shownUrl(response.url);
  if (response.status !== 200 || response.bodyUsed) {
    throw new GatedMLPError(
      'ERR_HTTP',
      response.bodyUsed
        ? `${name}: its body has been read before`
        : `${name}: a Response of status ${response.status}, not 200`,
      { status: response.status, url: name, attempts: 1 },
    );
  }
  const reader = response.body?.getReader();
  const onAbort = () => reader?.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', onAbort, { once: true });
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  try {
    while (reader) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      // Whether any of it is wanted is not known yet: without a limit of the caller's the one on the unwanted holds.
      budget.spend(0, value.length, name);
      parts.push(value);
    }
    signal?.throwIfAborted();
    return blobFile(new Blob(parts), name);
  } catch (cause) {
    signal?.throwIfAborted();
    onAbort();
    if (cause instanceof GatedMLPError) throw cause;
    throw new GatedMLPError('ERR_HTTP', `${name}: the body broke off (${wordsOf(cause)})`, {
      url: name,
      attempts: 1,
      cause,
    });
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** @param {string} url */
function shownUrl(url) {
  if (url === '') return 'Response';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
