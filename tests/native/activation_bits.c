/* Prints, for each gate, a hash of act and one of its derivative over a million values, so that two builds of the same
 * sources can be compared bit for bit. tests/activation.test.js draws the same values and hashes what wasm gives.
 *
 * Values: x is the sequence x = 1664525 x + 1013904223 mod 2^32 from 1. Every second x is a float32's bits as it is; the
 * others have their exponent brought to 2^-8 .. 2^7, where the gates bend. Hash: FNV-1a over 32-bit words, low word
 * first, any NaN as one and the same.
 */
#include "gated_mlp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUES 1000000
#define WORDS  (sizeof(real) / sizeof(uint32_t))

static const char *const NAMES[] = {
#define X(name) #name,
    GATED_MLP_ACTIVATIONS(X)
#undef X
};

static void draw(real *z) {
    uint32_t x = 1;
    for (int i = 0; i < VALUES; i++) {
        x = x * 1664525U + 1013904223U;
        const uint32_t exponent = 119 + (x >> 23) % 16;
        const uint32_t bits = i % 2 == 0 ? x : (x & 0x807fffffU) | exponent << 23;
        float value;
        memcpy(&value, &bits, sizeof value);
        z[i] = (real)value;
    }
}

static uint32_t hash(const real *values) {
    uint32_t h = 2166136261U;
    for (int i = 0; i < VALUES; i++) {
        uint32_t words[WORDS] = {0};
        if (!isnan(values[i])) {
            memcpy(words, &values[i], sizeof words);
        } else {
            words[0] = 0x7fc00000U;
        }
        for (uint64_t w = 0; w < WORDS; w++) {
            h = (h ^ words[w]) * 16777619U;
        }
    }
    return h;
}

int main(void) {
    static real z[VALUES], out[VALUES];
    draw(z);
    for (int32_t activation = 0; activation < ACT_COUNT; activation++) {
        activation_forward(out, z, activation, VALUES);
        const uint32_t act = hash(out);
        activation_derivative(out, z, activation, VALUES);
        printf("%s %08x %08x\n", NAMES[activation], act, hash(out));
    }
    return 0;
}
