// Ctrl+Z and Ctrl+Shift+Z (or Command) for the whole page, where nobody types: a field has an undo of its own, and over an open
// dialog or in the lesson there is nothing of the page's to undo.

const FIELDS =
  'textarea, select, [contenteditable], input:not([type="range"], [type="checkbox"], [type="file"])';

/** @param {{ undo: () => boolean, redo: () => boolean }} steps each says whether there was a step to take */
export function bindUndoKeys({ undo, redo }) {
  document.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key.toLowerCase() !== 'z' || ctrlKey === metaKey || altKey) return;
    if (target instanceof Element && target.closest(FIELDS) !== null) return;
    const isElsewhere = document.querySelector('dialog[open]') !== null;
    if (isElsewhere || document.body.dataset.view !== 'gates') return;
    if (shiftKey ? redo() : undo()) event.preventDefault();
  });
}
