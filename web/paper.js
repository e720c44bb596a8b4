// Paper: what is printed is the page as it stands, also what waits for a frame, and in the light colours, for a canvas does not
// follow the style sheet of the paper by itself.

/** @param {() => void} draw draws everything anew, at once */
export function bindPaper(draw) {
  const { dataset } = document.documentElement;
  /** The theme on the screen. @type {string | undefined} */
  let theme;
  window.addEventListener('beforeprint', () => {
    theme = dataset.theme;
    dataset.theme = 'light';
    draw();
  });
  window.addEventListener('afterprint', () => {
    if (theme === undefined) delete dataset.theme;
    else dataset.theme = theme;
    draw();
  });
}
