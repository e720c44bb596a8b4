// Line charts side by side as one SVG, with axes from zero. Used by sweep.js.

/** @typedef {{ label: string, points: [x: number, y: number][] }} Line */
/** @typedef {{ label: string, lines: Line[] }} Panel */

const [WIDTH, HEIGHT] = [400, 300];
const MARGIN = { left: 52, right: 12, top: 44, bottom: 44 };
const COLOURS = ['#0b6e99', '#b4491f', '#5b7f2b', '#7a4fa3'];
const TICKS = 5;

/** @param {string} title @param {string} unit of the vertical axis @param {Panel[]} panels */
export function chart(title, unit, panels) {
  const width = WIDTH * panels.length;
  const drawn = panels.map(
    (panel, i) => `<g transform="translate(${i * WIDTH} 24)">\n${drawPanel(panel, unit)}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT + 24}" role="img" font-family="sans-serif" font-size="11">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="20" font-size="13">${title}</text>
${drawn.join('\n')}
</svg>
`;
}

/** @param {Panel} panel @param {string} unit */
function drawPanel({ label, lines }, unit) {
  const all = lines.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const [xFirst, xLast] = [Math.min(...xs), Math.max(...xs)];
  const yLast = Math.max(...all.map(([, y]) => y)) * 1.05;
  const right = WIDTH - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  /** @param {number} x */
  const across = (x) => MARGIN.left + ((x - xFirst) / (xLast - xFirst)) * (right - MARGIN.left);
  /** @param {number} y */
  const down = (y) => bottom - (y / yLast) * (bottom - MARGIN.top);
  const grid = Array.from({ length: TICKS + 1 }, (_, i) => {
    const [x, y] = [xFirst + (i / TICKS) * (xLast - xFirst), (i / TICKS) * yLast];
    return `<path d="M${MARGIN.left} ${round(down(y))}H${right}" stroke="#ddd"/>
<text x="${MARGIN.left - 6}" y="${round(down(y) + 4)}" text-anchor="end">${y.toPrecision(2)}</text>
<text x="${round(across(x))}" y="${bottom + 16}" text-anchor="middle">${Math.round(x)}</text>`;
  });
  const curves = lines.map(({ label: name, points }, i) => {
    const places = points.map(([x, y]) => `${round(across(x))} ${round(down(y))}`);
    const dots = places.map((place) => `M${place}h0`).join('');
    const key = `<text x="${MARGIN.left + 8 + 90 * i}" y="${MARGIN.top - 8}" fill="${COLOURS[i]}">${name}</text>`;
    return `<path d="M${places.join('L')}" fill="none" stroke="${COLOURS[i]}"/>
<path d="${dots}" stroke="${COLOURS[i]}" stroke-width="4" stroke-linecap="round"/>${key}`;
  });
  const axes = `<text x="${(MARGIN.left + right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${label}</text>
<text x="8" y="${MARGIN.top - 8}">${unit}</text>`;
  return [...grid, ...curves, axes].join('\n');
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
