// Making elements without a framework: el() for HTML, svg() for SVG, setAttributes() for both. Text always goes in as
// text nodes, so a token of a prompt or a name out of a file can never become markup.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

/** @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Attributes */

/**
 * Sets attributes; `on…` functions become listeners, true an empty attribute, false, null and undefined none.
 * @param {Element} node
 * @param {Attributes} attributes
 */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG_NAMESPACE, tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (node === null) throw new Error(`index.html has no #${id}`);
  return node;
}

/**
 * To choose what is chosen already would have the browser look for it again, in every frame.
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
export function choose(select, value) {
  if (select.value !== value) select.value = value;
}
