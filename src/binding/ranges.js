// Which byte ranges to ask a file for, so that the wanted parts of its tensors arrive with few requests and few bytes that
// nobody wants. Pure arithmetic on intervals, for stream.js.

/**
 * A wanted part of a tensor, as bytes of the file.
 * @typedef {object} Member
 * @property {bigint} begin
 * @property {bigint} end above begin
 * @property {bigint} origin where the tensor starts
 * @property {(piece: Uint8Array, offset: number) => void} take gets the bytes in order; offset is in the tensor
 */
/** @typedef {{ begin: bigint, end: bigint, members: Member[] }} Range members lie inside, sorted by begin */

/** Neighbours this near are fetched as one. */
const MERGE_GAP = 4096n;
/** What the gaps of one file may come to: fetched bytes stay within wanted + header + 64 KiB. */
const MERGE_TOTAL = 32_768n;
/** A first tensor larger than this gets a request of its own, so that it lands before its neighbours. */
const ALONE_ABOVE = 65_536n;

/**
 * Ranges that cover all members, in order of urgency.
 * @param {Member[]} members of one file, the most urgent first
 * @returns {Range[]}
 */
export function planRanges(members) {
  const [first] = members;
  if (!first) return [];
  if (first.end - first.begin <= ALONE_ABOVE) return byUrgency(merge(members), members);
  const alone = absorb(first, members);
  const others = members.filter((m) => !alone.members.includes(m));
  return [alone, ...byUrgency(merge(others, alone), others)];
}

/**
 * One range from the first member to the last, for a server that sends whole files anyway.
 * @param {Member[]} members at least one
 * @returns {Range}
 */
export function onePass(members) {
  const sorted = sortedByBegin(members);
  const end = members.reduce((last, m) => later(last, m.end), 0n);
  return { begin: sorted[0].begin, end, members: sorted };
}

/**
 * Bytes of a stretch of the file that no member wants.
 * @param {bigint} begin
 * @param {bigint} end
 * @param {Member[]} members sorted by begin
 */
export function unwantedBytes(begin, end, members) {
  let at = begin;
  let unwanted = 0n;
  for (const m of members) {
    if (m.begin >= end) break;
    if (m.begin > at) unwanted += m.begin - at;
    at = later(at, m.end);
  }
  return at < end ? unwanted + end - at : unwanted;
}

/**
 * The range of one member and of those that share bytes with it.
 * @param {Member} first
 * @param {Member[]} members
 * @returns {Range}
 */
function absorb(first, members) {
  let { begin, end } = first;
  let inside = [first];
  for (let before = 0; before !== inside.length; ) {
    before = inside.length;
    inside = members.filter((m) => m.begin < end && m.end > begin);
    for (const m of inside) {
      begin = earlier(begin, m.begin);
      end = later(end, m.end);
    }
  }
  return { begin, end, members: sortedByBegin(inside) };
}

/**
 * @param {Member[]} members
 * @param {Range} [apart] a range already planned, across which nothing is merged
 * @returns {Range[]} in order of the file
 */
function merge(members, apart) {
  /** @type {Range[]} */
  const ranges = [];
  let allowance = MERGE_TOTAL;
  for (const m of sortedByBegin(members)) {
    const last = ranges.at(-1);
    const gap = last ? m.begin - last.end : 0n;
    const bridges = last && apart && last.end <= apart.begin && m.begin >= apart.end;
    if (!last || bridges || gap > MERGE_GAP || gap > allowance) {
      ranges.push({ begin: m.begin, end: m.end, members: [m] });
      continue;
    }
    if (gap > 0n) allowance -= gap;
    last.end = later(last.end, m.end);
    last.members.push(m);
  }
  return ranges;
}

/** @param {Member[]} members */
function sortedByBegin(members) {
  return [...members].sort((a, b) => (a.begin < b.begin ? -1 : a.begin > b.begin ? 1 : 0));
}

/**
 * @param {Range[]} ranges
 * @param {Member[]} members in order of urgency
 */
function byUrgency(ranges, members) {
  const rank = new Map(members.map((m, i) => [m, i]));
  const urgency = (/** @type {Range} */ r) => Math.min(...r.members.map((m) => rank.get(m) ?? 0));
  return ranges.sort((a, b) => urgency(a) - urgency(b));
}

/** The smaller of two positions: Math.min has no bigint. @param {bigint} a @param {bigint} b */
export function earlier(a, b) {
  if (a < b) return a;
  return b;
}

/** The larger of two positions. @param {bigint} a @param {bigint} b */
export function later(a, b) {
  if (a > b) return a;
  return b;
}
