// Numbers for people: three significant digits, a true minus sign, percent with as many digits as say something.

const MINUS = '\u2212';
const THIN_SPACE = '\u202f';
const FLOAT32_DIGITS = 7;

/**
 * @param {number} value
 * @param {number} [digits] significant digits
 */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return scientific(value, digits);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const figures = size.toFixed(decimals).replace(/\B(?=(\d{3})+$)/g, size >= 1e4 ? THIN_SPACE : '');
  return value < 0 ? MINUS + figures : figures;
}

/**
 * @param {number} value
 * @param {number} [digits]
 */
export function scientific(value, digits = 2) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
  const power = Number(exponent);
  return `${mantissa.replace('-', MINUS)}e${power < 0 ? MINUS : ''}${Math.abs(power)}`;
}

/**
 * A float32 as it can be checked with pen and paper: all its digits, no zeros that say nothing.
 * @param {number} value
 * @param {number} [digits] significant digits, at most
 */
export function exact(value, digits = FLOAT32_DIGITS) {
  const short = Number(value.toPrecision(digits));
  const size = Math.abs(short);
  if (!Number.isFinite(short)) return String(short);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return scientific(value, digits);
  return String(short).replace('-', MINUS);
}

/** A count, in groups of three. @param {number} value */
export function whole(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, value >= 1e4 ? THIN_SPACE : '');
}

/** @param {number} share between 0 and 1 */
export function percent(share) {
  const value = share * 100;
  const size = Math.abs(value);
  if (size > 0 && size < 1e-5) return `${scientific(value)}\u202f%`;
  const small = size > 0 && size < 0.1;
  const decimals = small
    ? 1 - Math.floor(Math.log10(size))
    : size >= 10 || size === 0
      ? 0
      : size >= 1
        ? 1
        : 2;
  return `${size.toFixed(decimals).replace(/^/, value < 0 ? MINUS : '')}\u202f%`;
}

/**
 * @param {number} bytes
 */
export function megabytes(bytes) {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * A token as it can be read: line breaks and lone spaces made visible.
 * @param {string} token
 */
export function readable(token) {
  return token
    .replaceAll('\n', '\u21b5')
    .replace(/^ +$/, (spaces) => '\u2423'.repeat(spaces.length));
}
