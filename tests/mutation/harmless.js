// Mutants of the automatic run that no test kills, and why none should. `equivalent`: what they compute is the same for every
// input, so they say nothing about the tests; the others change what nobody is promised.

/** @type {{ file: string, before: string, after: string, equivalent: boolean, reason: string }[]} */
export const HARMLESS = [
  {
    file: 'activation.h',
    before: '#define HIGHEST_QUICK_GELU 26.0',
    after: '#define HIGHEST_QUICK_GELU 26.1',
    equivalent: true,
    reason:
      'from 26 up the sigmoid is 1 and the slope 1 to the last bit of a double, by either way',
  },
  {
    file: 'convert.c',
    before: 'const uint32_t magnitude = bits & ((1u << (width - 1)) - 1);',
    after: 'const uint32_t magnitude = bits & ((-1u << (width - 1)) - 1);',
    equivalent: true,
    reason: 'clears the same one of the width bits that bits may have',
  },
  {
    file: 'convert.c',
    before: 'if ((format->specials == SPECIALS_FN && magnitude == (1u << (width - 1)) - 1) ||',
    after: 'if ((format->specials == SPECIALS_FN && magnitude >= (1u << (width - 1)) - 1) ||',
    equivalent: true,
    reason: 'magnitude is masked to width - 1 bits and cannot be greater',
  },
  {
    file: 'convert.c',
    before: '(uint32_t)(magnitude >> drop) & ((1u << format->mantissa_bits) - 1);',
    after: '(uint32_t)(magnitude >> drop) & ((1u << format->mantissa_bits) - (1+1));',
    equivalent: false,
    reason: "a NaN stays one; the last bit of a bias's payload is promised to nobody",
  },
  {
    file: 'exports.c',
    before: 'if (bytes == 0) {',
    after: 'if (bytes == 1) {',
    equivalent: true,
    reason: 'a call that needs no scratch looks at none, and none needs a single byte',
  },
  {
    file: 'exports.c',
    before: 'convert_decode(&value, held, 0, dtype, 1);',
    after: 'convert_decode(&value, held, -1, dtype, 1);',
    equivalent: true,
    reason: 'the step from one number to the next is of no use to one number',
  },
  {
    file: 'exports.c',
    before:
      'return bytes > 0 && work == NULL ? GATED_MLP_ERR_MEMORY : linear_forward(y, x, l, tokens, work);',
    after:
      'return bytes >= 0 && work == NULL ? GATED_MLP_ERR_MEMORY : linear_forward(y, x, l, tokens, work);',
    equivalent: true,
    reason: 'a linear that could be made needs scratch, even for no tokens',
  },
  {
    file: 'ffn_dim.c',
    before: 'if (!(width >= 0 && width < 2147483648.0)) {',
    after: 'if (!(width >= 0 && width < 2147483648.1)) {',
    equivalent: true,
    reason: 'of that very width no multiple fits either, which is asked at the end',
  },
  {
    file: 'gated_mlp_backward.c',
    before: 'for (int32_t p = 0; begin < end && p < panel_count(m->d); p++) {',
    after: 'for (int32_t p = 0; begin != end && p < panel_count(m->d); p++) {',
    equivalent: true,
    reason: 'options whose begin is past their end have been refused',
  },
  {
    file: 'json_number.c',
    before: 'return 1;',
    after: 'return (1+1);',
    equivalent: true,
    reason: 'the result is only ever asked for being 0',
  },
  {
    file: 'linear.c',
    before: 'for (int32_t p = first; p < panels.end; p++) {',
    after: 'for (int32_t p = first; p != panels.end; p++) {',
    equivalent: true,
    reason: 'p goes up by one from first, which is below the end',
  },
  {
    file: 'pack.c',
    before: 'for (; k + 4 <= n; k += 4) {',
    after: 'for (; k + 4 < n; k += 4) {',
    equivalent: true,
    reason: 'the loop after it moves the last four one by one',
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
    file: 'pack.c',
    before: 'const int32_t depth = blocks > 0 ? blocks * codes : columns;',
    after: 'const int32_t depth = blocks != 0 ? blocks * codes : columns;',
    equivalent: true,
    reason: 'blocks are counted and never fewer than none',
  },
  {
    file: 'pack.c',
    before: 'if (k0 < k1) {',
    after: 'if (k0 != k1) {',
    equivalent: true,
    reason: 'options whose begin is past their end have been refused',
  },
  {
    file: 'pack.h',
    before: 'return (rows + GROUP - 1) / GROUP * GROUP;',
    after: 'return (rows + GROUP + 1) / GROUP * GROUP;',
    equivalent: false,
    reason: 'up to one group of rows more has room, which nobody fills or reads',
  },
  {
    file: 'quant.c',
    before: 'DO_NOT_UNROLL',
    after: '/*DO_NOT_UNROLL*/',
    equivalent: true,
    reason: 'what it changes is the size of the code and its speed',
  },
  {
    file: 'safetensors.c',
    before: "for (int first = 1; json_more(&r->json, '}', first); first = 0) {",
    after: "for (int first = -1; json_more(&r->json, '}', first); first = 0) {",
    equivalent: true,
    reason: 'first is only ever asked for being 0',
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
    file: 'safetensors_prefix.c',
    before: 'memchr(bytes, 0, byte_count < 8 ? (size_t)byte_count : 8) == NULL) {',
    after: 'memchr(bytes, 0, byte_count <= 8 ? (size_t)byte_count : 8) == NULL) {',
    equivalent: true,
    reason: 'of 8 bytes, 8 are looked at either way',
  },
  {
    file: 'sizes.h',
    before: 'cursor->used += (bytes + GATED_MLP_ALIGN - 1) / GATED_MLP_ALIGN * GATED_MLP_ALIGN;',
    after: 'cursor->used += (bytes + GATED_MLP_ALIGN * 1) / GATED_MLP_ALIGN * GATED_MLP_ALIGN;',
    equivalent: false,
    reason: 'some pieces of scratch are one unit of alignment larger than they must be',
  },
  {
    file: 'sub_norm.c',
    before: 'for (int32_t i = 0; i < rows * PANEL; i++) {',
    after: 'for (int32_t i = 0; i != rows * PANEL; i++) {',
    equivalent: true,
    reason: 'it counts up by one to a number that is not negative',
  },
  {
    file: 'sub_norm.c',
    before: 'for (int32_t r = 0; r < rows; r++) {',
    after: 'for (int32_t r = 0; r != rows; r++) {',
    equivalent: true,
    reason: 'it counts up by one to a number that is not negative',
  },
  {
    file: 'tile.c',
    before: 'for (int32_t i = 0; i < n; i++) {',
    after: 'for (int32_t i = 0; i != n; i++) {',
    equivalent: true,
    reason: 'it counts up by one to a number that is not negative',
  },
];
