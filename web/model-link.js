// A loaded model in a link: how its address is written there and read back, and what about it may never be in it. A Hub id
// comes with its revision, an address without a login or a query, which may hold a key; a file of somebody's computer is
// named and no more. state.js keeps the fields, load-dialog.js asks before anything is fetched.

import { loadText as words } from './load-text.js';

/**
 * What of the state names a loaded layer. `model`: a Hub id, an address, or file:NAME; `module`: its prefix in the
 * checkpoint; `trained`: the activation that the reader chose where no config tells; `size`: bytes of its weights.
 * @typedef {{ model: string | null, module: string | null, expert: number | null, trained: string | null,
 *   size: number | null }} ModelLink
 */

/** A shipped layer is on show. @type {Readonly<ModelLink>} */
export const NO_MODEL = Object.freeze({
  model: null,
  module: null,
  expert: null,
  trained: null,
  size: null,
});

const HUB_ID = /^[\w-][\w.-]*\/[\w-][\w.-]*(@[^@\s]+)?$/;
const COMMIT = /@[0-9a-f]{40}$/;
/** A name in a URL that is a file of its own and no repository. */
const FILE = /\.(safetensors|json|html?)$/i;
const OWN_FILE = 'file:';
const MOST_CHARACTERS = 500;

/** @param {string} address */
const isHubId = (address) => HUB_ID.test(address) && !FILE.test(address);

/**
 * What a reader typed: a Hub id as it is, anything else as a URL; a Hub page of a file is not the file: /blob/ becomes
 * /resolve/.
 * @param {string} typed
 */
export function addressOf(typed) {
  const address = typed.trim();
  if (/\s/.test(address) || !/[/.:]/.test(address))
    throw new Error(words.errors.noAddress(address));
  if (isHubId(address)) return address;
  if (!URL.canParse(address, location.href)) throw new Error(words.errors.noAddress(address));
  const { href } = new URL(address, location.href);
  return href.replace(/^(https:\/\/huggingface\.co\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
}

/**
 * How a link names what was opened.
 * @param {string | Blob} source a Hub id, a URL or a file
 * @param {string} name what the page calls it
 * @param {string | null} commit of the Hub repository, where the Hub told it
 */
export function linkedName(source, name, commit) {
  if (typeof source !== 'string') return OWN_FILE + lastPart(name);
  if (isHubId(source)) {
    return commit === null || COMMIT.test(source) ? source : `${source.split('@')[0]}@${commit}`;
  }
  const { username, password, search, href } = new URL(source);
  const isPrivate = username !== '' || password !== '' || search !== '' || !/^https?:/.test(href);
  return isPrivate ? OWN_FILE + lastPart(new URL(source).pathname) : href.split('#')[0];
}

/** @param {string} path */
const lastPart = (path) => path.split(/[/\\]/).pop() ?? '';

/** The `m` of a link; null: it names no model that could be loaded. @param {string} text */
export function readModel(text) {
  if (text.length > MOST_CHARACTERS) return null;
  if (text.startsWith(OWN_FILE)) return /^file:[^/\\]+$/.test(text) ? text : null;
  if (isHubId(text)) return text;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null;
  return linkedName(text, '', null) === text ? text : null;
}

/** The name of the file of somebody's computer; null: the model has an address. @param {string | null} model */
export function ownFileOf(model) {
  return model?.startsWith(OWN_FILE) ? model.slice(OWN_FILE.length) : null;
}

/** A model's address for people: of a commit its beginning says enough. @param {string} model */
export const shownName = (model) =>
  ownFileOf(model) ?? model.replace(/(@[0-9a-f]{8})[0-9a-f]{32}$/, '$1\u2026');

/** Whose site a model comes from. @param {string} model not a file */
export function siteOf(model) {
  return isHubId(model) ? 'huggingface.co' : new URL(model).host;
}

/** Under which name a layer that was loaded is found again. @param {ModelLink} link */
export function keyOfLink({ model, module, expert, trained }) {
  return JSON.stringify([model, module, expert, trained]);
}
