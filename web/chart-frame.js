// The size that the charts under the stage have in common, in the units of their SVG.

export const WIDTH = 380;
export const HEIGHT = 210;
export const PLOT = { left: 38, right: 372, top: 10, bottom: 178 };
