// Mutants of the automatic run that no test kills, and why none should. `equivalent`: what they compute is the same for every
// input, so they say nothing about the tests; the others change what nobody is promised.

/** @type {{ file: string, before: string, after: string, equivalent: boolean, reason: string }[]} */
export const HARMLESS = [
  {
    file: 'convert.c',
    before: 'if ((format->specials == SPECIALS_FN && magnitude == (1u << (width - 1)) - 1) ||',
    after: 'if ((format->specials == SPECIALS_FN && magnitude >= (1u << (width - 1)) - 1) ||',
    equivalent: true,
    reason: 'magnitude is masked to width - 1 bits and cannot be greater',
  },
  {
    file: 'gated_mlp_backward.c',
    before: 'for (int32_t i = 0; i < rows * PANEL; i++) {',
    after: 'for (int32_t i = 0; i != rows * PANEL; i++) {',
    equivalent: true,
    reason: 'i counts from 0 by 1 to a bound that is not negative',
  },
  {
    file: 'json_number.c',
    before: 'return 1;',
    after: 'return (1+1);',
    equivalent: true,
    reason: 'the result is only ever asked for being 0',
  },
  {
    file: 'pack.c',
    before: 'for (int32_t j = 0; j < columns; j += PANEL) {',
    after: 'for (int32_t j = 0; j <= columns; j += PANEL) {',
    equivalent: false,
    reason:
      'one tile of zeros too many where columns are whole panels: it falls on the piece of scratch that is laid out next, which is written before it is read',
  },
  {
    file: 'safetensors.c',
    before: 'return 0;',
    after: 'continue;',
    equivalent: false,
    reason:
      'the first failure is kept and refuses the record at its end; nothing after it is looked at by anyone',
  },
  {
    file: 'store.c',
    before: 'if (status == GATED_MLP_OK && src_element == 0) {',
    after: 'if (status >= GATED_MLP_OK && src_element == 0) {',
    equivalent: false,
    reason: 'of two things that are wrong at once, the other one is reported',
  },
];
