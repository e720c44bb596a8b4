// All the words of the page that JavaScript writes, in one place and ready to be translated. index.html holds the prose
// that never changes. Numbers come in already formatted.

import { percent } from './format.js';
import { loadText } from './load-text.js';

/** @typedef {0 | 1 | 2 | 3} GateClass */

export const text = {
  prompts: {
    english: {
      label: 'two sentences of English',
      quote: 'The capital of France is Paris, and \u2026',
    },
    code: { label: 'a Python class', quote: 'class Counter: \u2026' },
    chat: { label: 'a chat', quote: 'What is the capital of France?' },
  },
  /** Order: shut, crossing, leaking, open. */
  classes: ['shut', 'crossing', 'leaking', 'open'],
  /** Whether the gate is closed, in one line: `a` is act(g), `u` what up says. */
  classSentences: [
    (/** @type {string} */ a, /** @type {string} */ u) =>
      `Closed, and shut: next to nothing of up\u2019s ${u} passes (\u00d7 ${a}).`,
    (/** @type {string} */ a, /** @type {string} */ u) =>
      `Closed, but only crossing zero: up\u2019s ${u} \u00d7 ${a}.`,
    (/** @type {string} */ a, /** @type {string} */ u) =>
      `Not closed but leaking: up\u2019s ${u} passes \u00d7 ${a}, its sign turned.`,
    (/** @type {string} */ a, /** @type {string} */ u) =>
      `Open: what up says, ${u}, is multiplied by ${a}.`,
  ],
  /** Of a gate that is held at 0 by hand. `own`: the class the model gives it, `a` its own act(g). */
  closedByHand: (/** @type {string} */ own, /** @type {string} */ a) =>
    `Closed by hand (the model itself: ${own}, \u00d7 ${a}).`,
  /** Of a gate whose g is set by hand. */
  heldByHand: (/** @type {string} */ g, /** @type {string} */ sentence) =>
    `With g = ${g} by hand: ${sentence}`,
  byHand: ' (closed by hand)',
  ownValue: (/** @type {string} */ value) => `itself ${value}`,
  /** What the short names mean, for who points at them. */
  meanings: {
    classes: [
      'Closed: g lies so far left that the curve has faded out.',
      'Closed, but g is near 0: a small change of x would open it.',
      'Not closed: the gate passes a little, with its sign turned.',
      'The gate passes what up offers, multiplied.',
    ],
    product: {
      g: 'g = W_gate x: what the gate is made of',
      a: 'a = act(g): the gate, what u is multiplied by',
      u: 'u = W_up x: what the unit could say',
      h: 'h = a u: what the unit says',
      d: '\u2016d\u2016: length of the unit\u2019s column of W_down',
      c: 'c = |h| \u2016d\u2016: its contribution, how far closing this one gate moves the output',
    },
    rank: 'Place of this unit among all at this token, by contribution c',
    pi: '\u03c0 = h (d \u00b7 y) / \u2016y\u2016\u00b2: the unit\u2019s share along the output, negative where it opposes it; over all units it adds up to 1',
    signs:
      'Signs of (g, u) over these tokens: ++ both positive; +\u2212 gate positive, up negative; \u2212+ gate negative, up positive; \u2212\u2212 both negative',
  },
  closed: 'closed',
  acts: {
    silu: 'SwiGLU',
    gelu_tanh: 'GeGLU (tanh)',
    gelu: 'GeGLU (erf)',
    relu: 'ReGLU',
    sigmoid: 'GLU (sigmoid)',
    none: 'bilinear',
  },
  actBanner: (
    /** @type {string} */ act,
    /** @type {string} */ own,
    /** @type {string} */ here,
    /** @type {string} */ median,
  ) =>
    `This model was trained with ${own}, not with ${act}: on the same weights that moves this token\u2019s output by ${here}, the median token\u2019s by ${median}.`,
  actBack: (/** @type {string} */ own) => `Back to ${own}`,
  tokenName: (/** @type {number} */ index, /** @type {string} */ piece) =>
    `${index} \u00b7 \u201c${piece}\u201d`,
  quoted: (/** @type {string} */ piece) => `\u201c${piece}\u201d`,
  stripLabel: (/** @type {string} */ piece, /** @type {Record<string, number>} */ n) =>
    `token \u201c${piece}\u201d: ${n.closed} closed, ${n.leaking} leaking, ${n.open} open; ${n.negative} gates negative`,
  negative: 'of all are negative (g < 0)',
  /** What the classes mean where the usual three do not all exist. */
  classNotes: {
    relu: 'ReLU is 0 below 0: nothing leaks, a gate is closed or open.',
    sigmoid: 'A sigmoid gate lies between 0 and 1: it has no negative side, so nothing leaks.',
    unbounded:
      'Without an activation a = g: the classes go by |g| alone, and a gate is open to either side.',
    pastDip: (/** @type {string} */ dip) =>
      `The threshold is past the dip (${dip}): now every negative gate counts as closed.`,
  },
  sentencePlain: (/** @type {Record<string, string | number>} */ s) =>
    `In layer ${s.layer}, token ${s.token} \u201c${s.piece}\u201d: ${s.closed} of ${s.units} gates are closed, ` +
    `${s.leaking} leak, ${s.open} are open. Dropping the closed ones changes this layer's output by ${s.cost}.`,
  partial: (/** @type {number} */ rows, /** @type {number} */ all) =>
    `${rows} of ${all} gates have arrived; these are their classes so far.`,
  noUnit: (/** @type {number} */ units) => `There are the units 0 to ${units - 1}.`,
  only: (/** @type {string} */ name) => `Show only the gates that are ${name}`,
  colours: {
    class: 'class',
    a: 'a = act(g)',
    g: 'gate g',
    u: 'up u',
    h: 'product h',
    c: 'contribution c',
    pi: '\u03c0, along y',
    du: 'gradient to up',
    dg: 'gradient to gate',
  },
  allCells: 'all',
  /** In the order (g, u). */
  filters: {
    shut: 'shut',
    crossing: 'crossing',
    leaking: 'leaking',
    open: 'open',
    closed: 'closed',
    top100: 'top 100 by c',
    pp: 'g +, u +',
    pm: 'g +, u \u2212',
    mp: 'g \u2212, u +',
    mm: 'g \u2212, u \u2212',
    'always-closed': 'always closed',
    'always-leaking': 'always leaking',
    'always-open': 'always open',
  },
  groups: 'From the left:',
  group: (/** @type {string} */ name, /** @type {number} */ count) => `${count} ${name}`,
  sorts: {
    mean: 'average gate',
    size: 'average size of act(g)',
    changes: 'changes of class',
    class: 'class at this token',
    g: 'gate g at this token',
    a: 'size of act(g) at this token',
    c: 'contribution at this token',
    cosine: 'cosine class',
    index: 'unit number',
  },
  cellName: (/** @type {Record<string, string | number>} */ c) =>
    `token \u201c${c.piece}\u201d, unit ${c.unit}, ${c.className}, act ${c.act}` +
    (c.rank === '' ? '' : `, rank ${c.rank} of ${c.units}`),
  readout: (/** @type {Record<string, string | number>} */ c) =>
    `token ${c.token} \u201c${c.piece}\u201d \u00b7 unit ${c.unit} \u00b7 ${c.className} \u00b7 ` +
    `g ${c.gate}, act ${c.act}` +
    (c.up === '' ? '' : `, up ${c.up}, product ${c.hidden} \u00b7 rank ${c.rank} of ${c.units}`),
  sheet: { open: 'Look inside', close: 'Fold away' },
  readoutIdle: 'Point at a square, or use the arrow keys. Click or Enter pins a unit.',
  mapLabel: (/** @type {number} */ tokens, /** @type {number} */ units) =>
    `Gates of ${tokens} tokens by ${units} units. Arrow keys move, Enter pins, Space closes the gate, N finds the next of the same class.`,
  tileCaption: (/** @type {string} */ piece, /** @type {number} */ units) =>
    `At \u201c${piece}\u201d: all ${units} gates, one square each`,
  mapCaption: (/** @type {number} */ tokens) => `All ${tokens} tokens`,
  inspector: {
    title: (/** @type {number} */ unit) => `Unit ${unit}`,
    permalink: 'The address of this gate: copy it to show it to somebody',
    place: (
      /** @type {number | string} */ layer,
      /** @type {number} */ token,
      /** @type {string} */ piece,
    ) => `layer ${layer}, token ${token} \u201c${piece}\u201d`,
    empty: 'Pin a unit to look inside it.',
    peek: 'looking',
    pinned: 'pinned',
    rank: (/** @type {number} */ rank, /** @type {number} */ units) =>
      `rank ${rank} of ${units} here`,
    curveLabel: (/** @type {Record<string, string>} */ c) =>
      `Curve of ${c.name}: at g = ${c.g} the gate passes a = ${c.a}. ${c.sentence}`,
    tokensCaption: 'act(g) of this unit at every token',
    tokensLabel: (/** @type {Record<string, string | number>} */ c) =>
      `Unit ${c.unit} over ${c.tokens} tokens: open at ${c.open}, leaking at ${c.leaking}, closed at ${c.closed}. ` +
      `Gate and up share their sign at ${c.same} tokens.`,
    signs: (/** @type {Record<string, number>} */ s) =>
      `gate/up: ++ ${s['++']}, +\u2212 ${s['+-']}, \u2212+ ${s['-+']}, \u2212\u2212 ${s['--']}`,
    /** @param {{ habit: string, closed: number, leaking: number, open: number, tokens: number, first: number }} h */
    habit: (h) =>
      `${h.habit === 'mixed' ? 'Mixed' : `Always ${h.habit}`} on these ${h.tokens} tokens${h.first === 0 ? '' : ' (the first apart)'}: closed at ${h.closed}, leaking at ${h.leaking}, open at ${h.open}.`,
    keep: 'Keep to compare',
    kept: 'Kept: now pin another gate',
    endCompare: 'Stop comparing',
    copy: 'Copy as JSON',
    copied: 'Copied.',
    notCopied: 'The browser does not let the page copy.',
    backward: (/** @type {string} */ direction, /** @type {string[]} */ [h, u, g]) =>
      `Backward from ${text.gradient.named(direction)}: ${h} arrives at h; ${u} gets to u, through the gate; ${g} to g.`,
    close: 'Close this gate',
    reopen: 'Open it again',
    wouldMove: (/** @type {string} */ relative, /** @type {string} */ along) =>
      `would move the output by ${relative} of its length (\u03c0 = ${along}).`,
    moved: (/** @type {string} */ relative, /** @type {string} */ cosine) =>
      `Closed by hand: the output moved by ${relative} of its length (cosine ${cosine}).`,
    meanings: 'What these names mean',
    whatIf: 'What if g were',
    whatIfResult: (/** @type {string} */ act, /** @type {string} */ share) =>
      `a = ${act}; the output would move by ${share}`,
    asIs: 'as it is',
    channels: 'The ten output channels that move most',
    channelLabel: (
      /** @type {number} */ channel,
      /** @type {string} */ before,
      /** @type {string} */ after,
    ) => `channel ${channel}: ${before} \u2192 ${after}`,
    recorded: 'What the whole model says next',
    recordedNote: 'recorded beforehand',
    recordedOther: (/** @type {string} */ own) => `recorded for ${own} only`,
    whatIfVaried: 'Not for this layer: its formula is not act(g) alone.',
    whatIfClosed: 'Closed by hand: its g makes no difference now.',
    below: (/** @type {string} */ share) => `< ${share}`,
  },
  hand: {
    sets: {
      closed: 'all closed',
      leaking: 'all leaking',
      negative: 'all negative',
      least: 'all but the largest',
    },
    kept: 'by c: ',
    closed: (/** @type {number} */ n) => (n === 1 ? 'One gate closed' : `${n} gates closed`),
    whatIf: (/** @type {string} */ g) => `g of the pinned unit set to ${g}`,
    result: (
      /** @type {string[]} */ changes,
      /** @type {string} */ share,
      /** @type {string} */ cosine,
    ) => `${changes.join(', ')}: the output moved by ${share} of its length (cosine ${cosine}).`,
  },
  parts: {
    summary: 'What its weights read and write',
    gate: 'g, from inputs W\u2096 x\u2096',
    up: 'u, from inputs W\u2096 x\u2096',
    outputs: 'written: h d, by channel',
    angles: 'how its vectors lie',
    sum: (
      /** @type {number} */ shown,
      /** @type {string} */ part,
      /** @type {number} */ d,
      /** @type {string} */ all,
      /** @type {string} */ which,
    ) => `these ${shown}: ${part}; all ${d}: ${which === 'gate' ? 'g' : 'u'} = ${all}`,
    bias: (/** @type {string} */ bias) => `of it, bias: ${bias}`,
    cosines: {
      gateDown: 'cos(gate row, d)',
      upDown: 'cos(up row, d)',
      gateUp: 'cos(gate row, up row)',
    },
    ioClass: {
      strengthening: 'Strengthening. ',
      weakening: 'Weakening. ',
      'conditional strengthening': 'Conditional strengthening. ',
      'conditional weakening': 'Conditional weakening. ',
      'proportional change': 'Proportional change. ',
      orthogonal: 'Orthogonal. ',
    },
    ioMeaning: {
      strengthening: 'It writes more of what it reads.',
      weakening: 'It takes away from what it reads.',
      'conditional strengthening':
        'It writes more of what up reads, if the gate sees something else.',
      'conditional weakening': 'It takes away from what up reads, if the gate sees something else.',
      'proportional change': 'It writes along what the gate reads, as up says.',
      orthogonal: 'It writes something else than it reads.',
    },
    cutOff: (/** @type {string} */ aligned) =>
      `Aligned from |cos| = ${aligned}. Classes of Gerstner & Sch\u00fctze, arXiv 2505.17936.`,
  },
  compare: {
    title: 'compared',
    name: (/** @type {number} */ unit, /** @type {number} */ token, /** @type {string} */ piece) =>
      `unit ${unit} at ${token} \u201c${piece}\u201d`,
    rows: {
      class: 'class',
      g: 'g',
      a: 'a = act(g)',
      u: 'u',
      h: 'h = a u',
      d: '\u2016d\u2016',
      c: 'c',
      rank: 'rank by c',
      share: 'share of \u03a3c',
    },
  },
  gradient: {
    kinds: { y: 'this output itself', c: 'one output channel', t: 'the output at another token' },
    /** @param {string} direction */
    named: (direction) => {
      const place = direction.slice(1);
      if (direction === 'y') return 'the output itself';
      return direction.startsWith('c') ? `channel ${place}` : `the output at token ${place}`;
    },
    stages: { arriving: 'arrives at h', up: 'gets to the up rows', gate: 'gets to the gate rows' },
    shares: (/** @type {string[]} */ [shut, crossing, leaking, open]) =>
      `shut ${shut}, crossing ${crossing}, leaking ${leaking}, open ${open}`,
    waiting: 'Computing the backward pass \u2026',
    stopped: (/** @type {Record<string, string>} */ s) =>
      `${s.arriving} of the gradient arrives where the gate is closed. The gate lets ${s.passed} of that through to the up row, so up learns next to nothing there: ${s.reached} of all that up gets. A gate that is only crossing zero still learns itself (${s.crossing} of what gate rows get), and may open; one that is shut does not (${s.shut}).`,
    top: (/** @type {string} */ list) => `Most gets to the up rows of the units ${list}.`,
  },
  tauMarks: {
    byHand: 'any threshold',
    plain: (/** @type {string} */ tau) => tau,
    dip: (/** @type {string} */ tau) => `${tau}: the dip of act`,
    share: (/** @type {string} */ tau, /** @type {string} */ share) =>
      `${tau}: closes ${share} of this layer (CATS)`,
  },
  measures: {
    names: {
      closed: 'C',
      leaking: '',
      open: '',
      delivered: 'D',
      held: 'H',
      leaked: 'L',
      errorClosed: 'E(closed)',
      errorNegative: 'E(g < 0)',
      spread: 'N',
      half: 'k\u2085\u2080',
    },
    meanings: {
      closed: 'gates that are closed',
      leaking: 'gates that leak',
      open: 'gates that are open',
      delivered: 'of \u03a3c, delivered through closed gates',
      held: 'of what up offers, held back behind closed gates',
      leaked: 'of \u03a3c, delivered by leaking gates',
      errorClosed: 'output changed by dropping the closed ones',
      errorNegative: 'output changed by dropping the negative ones',
      spread: 'units that carry: (\u03a3c)\u00b2 / \u03a3c\u00b2',
      half: 'fewest units with half of \u03a3c',
    },
  },
  charts: {
    scores: { a: '|a|', u: '|u|', h: '|h|', c: 'c' },
    reading: (/** @type {string} */ list, /** @type {string} */ spared) =>
      `At an error of 20\u202f% one can drop, by ${list}. A score needs its own rows read first: of all weights that spares ${spared}.`,
    errorsLabel:
      'Four curves: the change of the output against the share of units dropped, least first by |a|, |u|, |h| and c.',
    droppedAxis: '% of units dropped, least first',
    gateAxis: (/** @type {number} */ beyond) => (beyond === 0 ? 'g' : `g (${beyond} beyond)`),
    histogramReading: (/** @type {number} */ negative, /** @type {number} */ leaking) =>
      `${negative} gates are negative; ${leaking} gates leak: they still pass something, with its sign turned.`,
    histogramLabel: (/** @type {number} */ beyond) =>
      `Histogram of g at this token, coloured by class, with the activation\u2019s curve; beyond it: ${beyond}.`,
    layer: (/** @type {number} */ layer) => `Layer ${layer}`,
    unread: 'not read yet (5.3 MB)',
    shares: (
      /** @type {string} */ closed,
      /** @type {string} */ leaking,
      /** @type {string} */ open,
    ) => `${closed} closed, ${leaking} leaking, ${open} open`,
  },
  timing: {
    /** Which units are skipped. */
    rules: {
      a: 'the least by |a|, to an error of 20\u202f%',
      u: 'the least by |u|, to an error of 20\u202f%',
      h: 'the least by |h|, to an error of 20\u202f%',
      c: 'the least by c, to an error of 20\u202f%',
      closed: 'the closed ones',
      shut: 'those closed by hand',
    },
    start: 'Time it here',
    running: 'Timing \u2026',
    nothingSkipped: 'At this token that is no unit at all: nothing would be skipped.',
    nothingLeft: 'That is every unit: nothing would be left to compute.',
    dependent:
      'Not for this layer: by its own formula each unit depends on all others, and none can be left out.',
    failed: (/** @type {string} */ why) => `It could not be timed: ${why}`,
    cancelled:
      'The timing was cancelled: something else was loaded or timed meanwhile. Press again.',
    token: (
      /** @type {readonly string[]} */ [all, kept, share],
      /** @type {string} */ units,
      /** @type {string} */ count,
      /** @type {string} */ ideal,
    ) =>
      `This token: all ${units} units ${all} ms, the ${count} kept ${kept} ms. That is ${share} of the time for ${ideal} of the weights.`,
    text: (/** @type {readonly string[]} */ [all, kept, share], /** @type {number} */ tokens) =>
      `All ${tokens} tokens at once, with these units for each: ${all} ms and ${kept} ms, ${share}.`,
    how: (
      /** @type {{ build: string, threads: number, dtype: string, repetitions: number[], step: string, precision: string }} */ h,
    ) =>
      `Measured just now in this browser: ${h.build} build, ${h.threads === 1 ? '1 thread' : `${h.threads} threads`}, ${h.dtype} weights; medians over ${h.repetitions.join(' and ')} repetitions of each in turn, warm. The clock moves in steps of ${h.step} ms, which is at most ${h.precision} of what was timed.`,
    what: (/** @type {string} */ moved, /** @type {string} */ difference) =>
      `Finding out which units to skip is not in these times. What was timed holds the kept units alone, in compact matrices; its output is the layer\u2019s with the others shut (to ${difference} of its length) and ${moved} off the whole one\u2019s.`,
  },
  exports: {
    shipped:
      'SmolLM2-135M-Instruct (HuggingFaceTB, Apache-2.0), dequantised from Q4_1, rounded to BF16; hidden states captured from transformers; computed by gated-mlp.',
    captured: (/** @type {string} */ model) =>
      `Weights: ${model}; hidden states captured by the reader; computed by gated-mlp.`,
    probe: (/** @type {string} */ model) =>
      `Weights: ${model}; hidden states are a SYNTHETIC PROBE (random noise), not a text; computed by gated-mlp.`,
    copied: 'The link is copied.',
    saved: (/** @type {string} */ file) => `Saved: ${file}`,
    notSaved: (/** @type {string} */ why) => `Nothing was saved: ${why}`,
    copiedNoText:
      'The link is copied. It names the model, not your hidden states: it opens with random noise until they are brought, too.',
    ownFile: (/** @type {string} */ file) =>
      `The link needs the file ${file}, which it does not carry.`,
    place: (/** @type {Record<string, string>} */ p) =>
      `${p.model}, layer ${p.layer}, reading ${p.reading}; token \u201c${p.piece}\u201d${p.unit === '' ? '' : `, unit ${p.unit} pinned`}; closed is |act| < ${p.tau}.`,
    scale: (
      /** @type {string} */ quantity,
      /** @type {string} */ low,
      /** @type {string} */ high,
    ) => `Coloured by ${quantity}, from ${low} to ${high}.`,
    notCopied: 'The browser does not let the page copy; the link is in the address bar.',
  },
  /** What a link for a class may leave out, by the name it has in the link. @type {Record<string, string>} */
  hideable: {
    load: 'loading models',
    theme: 'theme',
    tour: 'tour',
    hand: 'closing sets',
    charts: 'charts',
    tables: 'tables and exports',
    gradient: 'gradients',
    lesson: 'lesson',
    prose: 'text below',
    inspector: 'inspector',
    map: 'maps',
  },
  definitions: {
    g: 'gate_proj(x)',
    a: 'act(g)',
    u: 'up_proj(x)',
    h: 'a * u',
    c: '|h| * norm of the column of down_proj',
    pi: 'h * (column of down_proj . y) / norm of y squared',
    shut: '|a| < tau and g below the lowest point of act',
    crossing: '|a| < tau elsewhere',
    leaking: 'a <= -tau',
    open: 'a >= tau',
  },
  /** Of a map in a page of somebody else. */
  embedded: {
    name: 'Map of gates',
    strip: 'Tokens of the text',
    legend: 'Gates of this token by class',
    page: 'Look closer',
  },
  tour: {
    place: (/** @type {number} */ stop, /** @type {number} */ stops) => `${stop} of ${stops}`,
    next: 'Next',
    end: 'Done',
    stops: [
      {
        title: 'A gate that opens for capital cities',
        words: [
          'The model has just written \u201cThe capital of France is\u201d. Of the 1536 gates in this layer, unit 1005 matters most. Its bars, one a token, show that it leaks at most of them, and opens widest where a capital is the subject.',
        ],
      },
      {
        title: 'Close it',
        words: [
          'Now that one gate is held shut. The layer\u2019s output turns away, and in a recorded run of the whole model \u201c\u00a0Paris\u201d falls from 95\u202f% to 32\u202f%: the likeliest next word becomes \u201c\u00a0France\u201d. The model has not forgotten France; it has lost that it was about to name a capital.',
        ],
      },
      {
        title: 'Negative is not closed',
        words: [
          'Layer 5, reading code. Three quarters of the gates here are negative, nearly all of them blue. It is tempting to call them closed. But SiLU dips below zero before it fades, so each lets a little through, with its sign turned. Here they are all closed for real, and this is how far the output moves:',
        ],
      },
      {
        title: 'Closed is closed',
        words: [
          'The gates that are closed by our threshold are another matter. Here they are all held at exactly zero, and the output hardly notices. Move the threshold and watch when that stops being true:',
        ],
      },
      {
        title: 'The gate is half of the story',
        words: [
          'What a unit adds is the product: act(g) times u, times the length of its column. Coloured and sorted by that contribution, a few units on the left carry much and a long tail carries little. Down in the first chart, dropping units by their product is far cheaper than dropping them by the gate alone.',
        ],
      },
      {
        title: 'One gate as wide as a barn door',
        words: [
          'Layer 11, first token: g is 44 and u is 64, and their product makes most of an output that is hundreds of times longer than at any other token. So it is whatever the first token says: models use it as a place to rest attention. At all other tokens the same gate is shut, the only one of the layer that is at each of them. Now look around by yourself.',
        ],
      },
    ],
  },
  badge: {
    pending: 'Not checked yet',
    running: 'Checking every token against Hugging Face\u2019s output \u2026',
    ok: (/** @type {number} */ tokens, /** @type {string} */ worst) =>
      `Checked: x captured from Hugging Face, output recomputed here for all ${tokens} tokens; largest difference ${worst} of a token\u2019s norm, weights file intact`,
    unhashed: (/** @type {number} */ tokens, /** @type {string} */ worst) =>
      `Output agrees at all ${tokens} tokens (largest difference ${worst}), but the file was not checked: this browser only hashes on https or localhost`,
    tooFar: (/** @type {number} */ token, /** @type {string} */ worst) =>
      `Wrong: at token ${token} the output differs from Hugging Face\u2019s by ${worst} of its norm (limit 2e\u22126)`,
    altered: (/** @type {string} */ worst) =>
      `Wrong file: its SHA-256 is not the recorded one, so some byte of these weights is altered (output differs by ${worst})`,
    probe:
      'Synthetic probe: these weights came without hidden states, so x is random noise. The gates below are not those of any text.',
    agrees: (/** @type {number} */ tokens, /** @type {string} */ worst) =>
      `Checked: x from your file, output recomputed here for all ${tokens} tokens; largest difference from your model\u2019s ${worst} of a token\u2019s norm`,
    agreesRoughly: (/** @type {number} */ tokens, /** @type {string} */ worst) =>
      `x from your file; the output of all ${tokens} tokens agrees with your model\u2019s up to ${worst} of a token\u2019s norm: more than float32 explains. Did it compute in half precision?`,
    disagrees: (/** @type {string} */ worst) =>
      `These hidden states are not this layer\u2019s, or the weights are others: the output differs from the captured one by ${worst} of its norm`,
    unreferenced:
      'x from your file, which has no output of the model to check against (y): the output is recomputed here, not compared.',
    assumed: (/** @type {string} */ act) =>
      ` No config says which activation they want; you chose ${act}.`,
    /** What a layer computes besides the plain formula. @param {import('../src/binding/index.js').GatedMLP['variant']} variant */
    variant: (variant) => {
      const { sparsity = 0, limit = 0, upShift = 0 } = variant ?? {};
      const words = [];
      if (sparsity > 0)
        words.push(
          `it keeps the largest ${percent(1 - sparsity)} of each token\u2019s gates: act sees how far g is above a cut, and a is act(0) below it`,
        );
      if (limit > 0) words.push(`act sees at most ${limit}, and u is held within \u00b1${limit}`);
      if (upShift !== 0) words.push(`${upShift} is added to u`);
      return words.length === 0
        ? ''
        : ` This layer has a formula of its own: ${words.join('; ')}. The numbers are after that; the curve is act alone.`;
    },
    ownAct: (/** @type {string} */ own) => ` (with the model\u2019s own ${own})`,
    failed: (/** @type {string} */ why) => `Not checked: ${why}`,
    notDrawn: 'Not drawn: what is seen may be of before',
  },
  load: loadText,
  probeToken: (/** @type {number} */ index) => `noise ${index + 1}`,
  /** What is read, where it is none of the shipped texts. */
  readings: { captured: 'your own text', probe: 'random noise' },
  badHash: (/** @type {string} */ keys) =>
    `The link had a value that means nothing here (${keys}); the default is shown instead.`,
  /** What `hide` may name, where it named something else. */
  badHide: (/** @type {string} */ bad, /** @type {string} */ legal) =>
    `hide: not ${bad}, but ${legal}`,
  loadFailed: (/** @type {string} */ why) => `The layer could not be loaded: ${why}`,
  drawFailed: (/** @type {string} */ why) =>
    `The page could not draw this: ${why}. What is seen may be of before; reload the page.`,
  lessonFailed: 'The lesson could not be fetched. Are you offline? Go back and try again.',
  lessonLeave: 'Back to the real model',
  theme: { light: 'Light', dark: 'Dark', auto: 'Auto' },
};

/** What people call a gated MLP with this activation. @param {string} act */
export function actName(act) {
  return text.acts[/** @type {'silu'} */ (act)] ?? act;
}
