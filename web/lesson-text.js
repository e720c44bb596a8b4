// All the words of the lesson, in one place and ready to be translated. `n` holds figures that the module has computed,
// already formatted; numbers that stand in a sentence as they are, are settings that the step itself makes.

/** @typedef {Record<string, string>} Figures */
/**
 * One step: what it is about, a question with answers to choose from, and what happens.
 * @typedef {object} StepWords
 * @property {string} title
 * @property {(n: Figures) => string[]} words
 * @property {(n: Figures) => string} question
 * @property {string[]} answers
 * @property {(n: Figures) => string[]} reveal
 */

/** @type {StepWords[]} */
const steps = [
  {
    title: 'An open gate',
    words: () => [
      'One unit of a gated MLP, small enough for pen and paper: every weight is a single number. The input x = 1 is asked two questions. Up asks what there is to say: u = 2 \u00d7 1. The gate asks how much of it to say: g = 1 \u00d7 1, which the activation SiLU turns into a. The product a \u00d7 u, times the down weight 3, is the output y.',
    ],
    question: (n) =>
      `If all that up says went through, y would be ${n.whole}. What is it with the gate at g = 1?`,
    answers: [
      'The same: a positive gate is simply open',
      'About three quarters of that',
      'Next to nothing: g = 1 is too little to open a gate',
    ],
    reveal: (n) => [
      `SiLU(1) = ${n.a}, so about three quarters pass and y = ${n.y}. With GELU, the activation of Gemma, the same unit says ${n.geglu}.`,
      `Open does not mean 1, though. Further to the right a grows on, almost as fast as g: at g = 5 it is ${n.far}. An open gate multiplies.`,
    ],
  },
  {
    title: 'A closed gate',
    words: () => [
      'Now the gate weight is \u221210, and so g = \u221210: far to the left on the curve. Up may say anything from \u22123 to 3.',
    ],
    question: () => 'How far can up move the product h = a \u00d7 u?',
    answers: [
      'Far: h is ten times u, with its sign turned',
      'Not at all: h is exactly 0',
      'Hardly: by about a thousandth',
    ],
    reveal: (n) => [
      `a = ${n.a}. With u = \u22123 the product is ${n.low}, with u = 3 it is ${n.high}. Whatever up says in between, the unit is as good as silent. Its gate is closed, and more than that: shut.`,
      'Move the up weight along its slider and watch h: it hardly leaves 0.',
    ],
  },
  {
    title: 'Closed is relative',
    words: () => [
      'The same gate, still at g = \u221210. But now up shouts: its weight is 1000, and so u = 1000.',
    ],
    question: () => 'What comes through the closed gate?',
    answers: [
      'Something that counts: about half of 1',
      'Still next to nothing: closed is closed',
      'All of it, with its sign turned',
    ],
    reveal: (n) => [
      `a is ${n.a} as before. But a thousand times that is h = ${n.h}, and this counts. A gate is not closed by itself; it is closed against what up brings.`,
      'Hence the inspector of the real model ranks units by what they contribute, c = \u2016h\u00a0d\u2016, the length of what they add to the output, and not by the gate alone.',
    ],
  },
  {
    title: 'Negative, but not closed',
    words: () => [
      'Left of 0 SiLU is negative, and it is tempting to call every negative gate closed. Let the gate weight go from 0 down to \u221210.',
    ],
    question: () => 'Where, on that way, does the gate pass the most?',
    answers: [
      'Nowhere: negative means closed',
      'In a dip, a little left of 0',
      'At the end: the further left, the more',
    ],
    reveal: (n) => [
      `SiLU is lowest at g = ${n.g}, where a = ${n.a}. More than a quarter of what up offers goes through, with its sign turned: u = 2 becomes h = ${n.h}. That gate leaks. Only further left does it close: at g = \u22126 it still passes ${n.left}.`,
      'A ReLU would pass 0 everywhere here. Choose it as the activation and compare.',
    ],
  },
  {
    title: 'Shut for good',
    words: (n) => [
      `SiLU fades slowly: at g = \u22126 it still passes a = ${n.silu}. Gemma uses GELU in its place, and the two curves look much alike.`,
    ],
    question: () => 'What does GELU leave at g = \u22126?',
    answers: [
      'About as much',
      'About a tenth as much',
      'Nothing to speak of: less than a billionth',
    ],
    reveal: (n) => [
      `a = ${n.gelu}. Even if up said 1000, h would be ${n.loud}. GELU falls off like a bell curve, SiLU only like e to the power of g. A gate of Gemma can be shut for good; one of Llama never quite is.`,
      'Switch the activation back and forth: the eye hardly sees a difference out there, the numbers do.',
    ],
  },
  {
    title: 'Two units that cancel',
    words: (n) => [
      `A second unit joins. Both gates are at g = 1 and both ups say u = 2, so both are open. Only the down weights differ, 3 and \u22122.9. Each unit by itself would move the output by its contribution: ${n.first} the one, ${n.second} the other.`,
    ],
    question: () => 'What is the output of the two together?',
    answers: [
      'Close to 0: they take each other back',
      'Both contributions added',
      'The larger of the two: it wins',
    ],
    reveal: (n) => [
      `y = ${n.y}: much is said, and next to nothing comes out. Now close unit 2 by its button: y becomes ${n.alone}, ${n.times} times as long. Closing a gate can make an output larger.`,
      'In a real layer most units take something back from others. So the page never adds up contributions to say what closing a set of gates would do: it computes the output again.',
    ],
  },
  {
    title: 'A product, not a sum',
    words: (n) => [
      `One unit again, all weights 1: g = x and u = x. While the gate is open, a is almost g, and y almost x times x: a product of two linear functions of the input. At x = 5 it is ${n.five}.`,
    ],
    question: () => 'Double the input, from 5 to 10. What becomes of y?',
    answers: [
      'It doubles',
      'It levels off: the gate cannot open further',
      'It gets four times as large',
    ],
    reveal: (n) => [
      `y = ${n.ten}, ${n.times} times as much. A plain ReLU layer cannot do this. It adds up straight pieces; here its knees lie on the curve between 0 and 6, and past the last one it runs straight on.`,
      'Give it more units: the pieces follow the curve ever closer, and still the layer never multiplies.',
    ],
  },
  {
    title: 'Why eight thirds',
    words: () => [
      'A plain MLP has two matrices, from width d to 4d and back: 8\u00a0d\u00b2 weights. A gated MLP has three: gate, up and down.',
    ],
    question: () => 'How wide may the gated one be to cost the same?',
    answers: ['4 d, as before', '8/3\u00a0d, two thirds of that', '2 d, half of that'],
    reveal: (n) => [
      `Three matrices of d by 8/3\u00a0d have 8\u00a0d\u00b2 weights again. As 8/3\u00a0d is seldom round, Llama goes up to a multiple of 256: d = 4096 gives ${n.dFf}, and ${n.ratio} of the plain cost.`,
      'Later Llamas first widen it by a multiplier. Choose a model, or put in numbers of your own.',
    ],
  },
];

export const lessonText = {
  steps,
  heading: 'One unit by hand',
  stepsLabel: 'Steps of the lesson',
  stepName: (/** @type {number} */ step, /** @type {string} */ title) => `Step ${step}: ${title}`,
  place: (/** @type {number} */ step, /** @type {number} */ all) => `Step ${step} of ${all}`,
  answersLabel: 'Your guess',
  justShow: 'Just show me',
  hit: 'That is how it is.',
  miss: 'A fair guess. It comes out otherwise.',
  shown: 'This is how it is.',
  guessed: 'your guess',
  isSo: 'what happens',
  back: 'Back',
  next: 'Next',
  end: 'Now the real model',
  failed: (/** @type {string} */ why) => `The module could not compute this: ${why}`,
  controls: {
    x: ['input', 'x'],
    gate: ['gate weight', 'w', 'g'],
    up: ['up weight', 'w', 'u'],
    down: ['down weight', 'w', 'd'],
  },
  exactly: (/** @type {string} */ name) => `${name}, as a number`,
  act: 'activation',
  acts: {
    silu: { name: 'SiLU', label: 'SiLU (SwiGLU, as in Llama)' },
    gelu_tanh: { name: 'GELU', label: 'GELU, tanh form (GeGLU, as in Gemma)' },
    relu: { name: 'ReLU', label: 'ReLU' },
    sigmoid: { name: '\u03c3', label: 'sigmoid (the first GLU)' },
    none: { name: 'id', label: 'none (bilinear)' },
  },
  benchLabel: 'Try it',
  unitLabel: 'The unit: move anything',
  reset: 'Set back',
  veiled: 'Guess first, or move something and find out.',
  unknown: '?',
  legend: [
    ['crossing', 'closed: |a| < 0.05'],
    ['leaking', 'leaking: a \u2264 \u22120.05'],
    ['open', 'open: a \u2265 0.05'],
  ],
  written: { g: 'gate', u: 'up', a: 'activation', h: 'product', y: 'down' },
  spoken: (/** @type {Figures} */ n) => `g = ${n.g}, a = ${n.a}, output y = ${n.y}. ${n.sentence}`,
  writtenLabel: 'Every step, with its numbers',
  curveVeiled: (/** @type {string} */ name) => `The curve of ${name}`,
  pair: {
    label: 'The two units: move anything',
    unit: (/** @type {number} */ unit) => `unit ${unit}`,
    down: (/** @type {number} */ unit) => `down weight of unit ${unit}`,
    close: (/** @type {number} */ unit) => `Close unit ${unit}`,
    columns: ['g', 'a', 'u', 'h', 'adds h \u00d7 w', 'contributes'],
    sum: 'output y',
    spoken: (/** @type {string} */ y) => `output y = ${y}`,
    chartLabel: (/** @type {Figures} */ n) =>
      `Unit 1 adds ${n.first}, unit 2 adds ${n.second}; the output is ${n.y}.`,
  },
  product: {
    label: 'The unit against a ReLU layer',
    units: 'ReLU units',
    x: 'read off at x',
    gated: 'one gated unit',
    plain: (/** @type {number} */ units) =>
      units === 1 ? 'one ReLU unit' : `a layer of ${units} ReLU units`,
    difference: 'apart by',
    spoken: (/** @type {Figures} */ n) =>
      `at x = ${n.x}: gated unit ${n.gated}, ReLU layer ${n.plain}`,
    chartLabel: (/** @type {Figures} */ n) =>
      `Output over x from ${n.from} to ${n.to}. The gated unit bends upwards without end: at x = ${n.x} it says ${n.gated}. The ReLU layer is made of straight pieces and says ${n.plain}.`,
    veiledLabel: 'Output of the gated unit over x, drawn up to x = 5.',
  },
  width: {
    label: 'How wide is a gated MLP?',
    models: ['Llama 7B', 'Llama 3 8B', 'Llama 3.2 1B', 'SmolLM2-135M'],
    presets: 'A model',
    d: 'width d',
    multipleOf: 'rounded up to a multiple of',
    multiplier: 'multiplier (none: leave empty)',
    rows: {
      twoThirds: 'two thirds of 4 d, whole part',
      multiplied: 'times the multiplier, whole part',
      dFf: 'up to the multiple: d_ff',
      gated: 'gated: 3 \u00d7 d \u00d7 d_ff weights',
      plain: 'plain: 2 \u00d7 d \u00d7 4 d weights',
      ratio: 'gated against plain',
    },
    bad: 'd and the multiple are whole numbers from 1; the multiplier is a number above 0.',
    tooWide: (/** @type {string} */ why) => `No such width: ${why}`,
    chartLabel: 'The matrices drawn to scale: two of d by 4 d above, three of d by d_ff below.',
    matrices: {
      plain: { name: 'plain', parts: ['in', 'out'] },
      gated: { name: 'gated', parts: ['gate', 'up', 'down'] },
    },
  },
};
