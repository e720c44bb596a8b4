// Where a validation stands in a source, C or JavaScript, and the source without it: conditions that never hold, operands of
// || and && left out, throw statements and errors that are returned. reader.js and loader.js try each of them.

/**
 * @typedef {object} Deletion
 * @property {string} file
 * @property {number} line from 1
 * @property {string} what is deleted, on one line
 * @property {string} source the whole file without it
 */
/** @typedef {{ begin: number, end: number, instead: string }} Cut */

const REGEX_MAY_FOLLOW = /(?:[(,=:[!&|?{};]|\breturn)\s*$/;

/**
 * The source with everything that is no code (comments, strings, regular expressions) blanked, at the same length.
 * @param {string} source
 */
function codeOf(source) {
  const pattern =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(['"`])(?:\\[\s\S]|(?!\1)[^\\])*\1|\/(?![/*=])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
  return source.replace(pattern, (found, quote, at) => {
    const isRegex = found.startsWith('/') && !/^\/[/*]/.test(found);
    if (isRegex && !REGEX_MAY_FOLLOW.test(source.slice(Math.max(0, at - 20), at))) return found;
    return found.replace(/[^\n]/g, quote ? '_' : ' ');
  });
}

/**
 * One past the bracket that closes the one at `open`.
 * @param {string} code
 * @param {number} open
 */
function closing(code, open) {
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if ('([{'.includes(code[i])) depth += 1;
    if (')]}'.includes(code[i])) depth -= 1;
    if (depth === 0) return i + 1;
  }
  throw new Error(`nothing closes ${code.slice(open, open + 40)}`);
}

/** The insides of the brackets of every `if`. @param {string} code @returns {{ begin: number, end: number }[]} */
function conditionsIn(code) {
  return [...code.matchAll(/\bif \(/g)].map(({ index, 0: word }) => {
    const open = index + word.length - 1;
    return { begin: open + 1, end: closing(code, open) - 1 };
  });
}

/**
 * Each operand of || and && between begin and end, at any depth.
 * @param {string} code
 * @param {number} begin
 * @param {number} end
 * @param {[no: string, yes: string]} words that leave an operand of || and of && without effect
 * @returns {Cut[]}
 */
function operandsIn(code, begin, end, [no, yes]) {
  /** @type {Map<string, Cut>} */
  const cuts = new Map();
  for (const { index } of code.slice(begin, end).matchAll(/\|\||&&/g)) {
    const at = begin + index;
    const instead = code[at] === '|' ? no : yes;
    const sides = [
      { begin: operandStart(code, at, begin), end: at },
      { begin: at + 2, end: operandEnd(code, at + 2, end, code[at]) },
    ];
    for (const side of sides) cuts.set(`${side.begin} ${side.end}`, { ...side, instead });
  }
  return [...cuts.values()];
}

/** What ends an operand at its own depth: || always, && those of &&, too. @param {string} rest @param {string} operator */
function endsOperand(rest, operator) {
  if (/^(\|\||\?|:|;|,)/.test(rest)) return true;
  return operator === '&' && rest.startsWith('&&');
}

/** @param {string} code @param {number} from @param {number} end @param {string} operator */
function operandEnd(code, from, end, operator) {
  for (let i = from, depth = 0; i < end; i++) {
    if (depth === 0 && (')]}'.includes(code[i]) || endsOperand(code.slice(i, i + 2), operator)))
      return i;
    if ('([{'.includes(code[i])) depth += 1;
    if (')]}'.includes(code[i])) depth -= 1;
  }
  return end;
}

/** @param {string} code @param {number} operatorAt @param {number} begin */
function operandStart(code, operatorAt, begin) {
  const operator = code[operatorAt];
  for (let i = operatorAt - 1, depth = 0; i >= begin; i--) {
    if (
      depth === 0 &&
      ('([{?:;,'.includes(code[i]) || /^[^=!<>]=[^=>]/.test(code.slice(i - 1, i + 2)))
    )
      return i + 1;
    const pair = code.slice(i - 1, i + 1);
    if (depth === 0 && (pair === '||' || (operator === '&' && pair === '&&'))) return i + 1;
    if (depth === 0 && /^return\b/.test(code.slice(i, i + 7))) return i + 6;
    if (')]}'.includes(code[i])) depth += 1;
    if ('([{'.includes(code[i])) depth -= 1;
  }
  return begin;
}

/**
 * @param {string} file
 * @param {string} source
 * @param {Cut[]} cuts
 * @returns {Deletion[]}
 */
function deletionsOf(file, source, cuts) {
  return cuts
    .sort((a, b) => a.begin - b.begin)
    .map(({ begin, end, instead }) => {
      const cut = source.slice(begin, end);
      return {
        file,
        line: source.slice(0, begin + cut.search(/\S/)).split('\n').length,
        what: cut.trim().replace(/\s+/g, ' '),
        source: `${source.slice(0, begin)} ${instead} ${source.slice(end)}`,
      };
    });
}

/**
 * C: every condition of an `if`, and every operand of || and &&.
 * @param {string} file
 * @param {string} source
 */
export function deletionsInC(file, source) {
  const code = codeOf(source);
  const conditions = conditionsIn(code).map(({ begin, end }) => ({
    begin,
    end,
    instead: `0 && (${source.slice(begin, end)})`,
  }));
  const operands = operandsIn(code, 0, code.length, ['0', '1']);
  return deletionsOf(file, source, [...conditions, ...operands]);
}

/**
 * JavaScript: every throw statement, every error that is made to be returned, and every operand of a condition that leads to either.
 * @param {string} file
 * @param {string} source
 */
export function deletionsInJs(file, source) {
  const code = codeOf(source);
  /** @type {Cut[]} */
  const cuts = [];
  for (const { index } of code.matchAll(/\bthrow\b/g)) {
    const end = simpleStatementEnd(code, index);
    cuts.push({ begin: index, end, instead: 'void 0;' });
  }
  for (const { index, 0: call } of code.matchAll(
    /(?:\bnew GatedMLPError|(?<!function )\bunsupported)\(/g,
  )) {
    if (/\bthrow\s*$/.test(code.slice(0, index))) continue;
    cuts.push({ begin: index, end: closing(code, index + call.length - 1), instead: 'null' });
  }
  for (const { begin, end } of conditionsIn(code)) {
    const body = code.slice(end + 1, statementEnd(code, end + 1));
    if (/\bthrow\b|GatedMLPError|unsupported\(/.test(body))
      cuts.push(...operandsIn(code, begin, end, ['false', 'true']));
  }
  return deletionsOf(file, source, cuts);
}

/** One past the semicolon of the statement at `from`. @param {string} code @param {number} from */
function simpleStatementEnd(code, from) {
  for (let i = from; ; i++) {
    if ('([{'.includes(code[i])) i = closing(code, i) - 1;
    else if (code[i] === ';') return i + 1;
  }
}

/** One past a block or a single statement. @param {string} code @param {number} from */
function statementEnd(code, from) {
  const start = from + code.slice(from).search(/\S/);
  return code[start] === '{' ? closing(code, start) : simpleStatementEnd(code, start);
}
