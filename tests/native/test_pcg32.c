/* The generator and the widths, without any binding: O'Neill's published output, the initial values' formula, and the
 * widths of published models. tests/initialization.test.js and tests/ffn-dim.test.js hold many more to Python's arithmetic.
 */
#include "layer.h"

#include <math.h>
#include <string.h>

static void test_published_output(void) {
    static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                         0x83d2f293, 0xbfa4784b, 0xcbed606e};
    pcg32 rng, twin;
    pcg32_seed(&rng, 42, 54);
    pcg32_seed(&twin, 42, 54);
    int same = 1, floats = 1;
    for (int i = 0; i < 6; i++) {
        same &= pcg32_next(&rng) == published[i];
        floats &= (double)pcg32_float(&twin) == (published[i] >> 8) / 16777216.0;
    }
    check(same, "seed 42, stream 54 gives the published numbers");
    check(floats, "a float is the upper 24 bits over 2^24");
}

static void test_seeds(void) {
    static const struct {
        uint64_t seed, stream;
    } seeds[] = {{0, 0}, {1, 0},          {1ull << 32, 0}, {1ull << 63, 0},
                 {0, 1}, {0, 1ull << 32}, {0, 1ull << 62}};
    uint64_t start[7];
    int different = 1;
    for (int i = 0; i < 7; i++) {
        pcg32 rng;
        pcg32_seed(&rng, seeds[i].seed, seeds[i].stream);
        start[i] = (uint64_t)pcg32_next(&rng) << 32;
        start[i] |= pcg32_next(&rng);
        for (int j = 0; j < i; j++) {
            different &= start[i] != start[j];
        }
    }
    check(different, "every bit of seed and stream counts");
}

static void test_fill(void) {
    float values[50];
    pcg32 rng, twin;
    pcg32_seed(&rng, 7, 3);
    pcg32_seed(&twin, 7, 3);
    pcg32_fill_linear(values, 50, 12, &rng);
    int exact = 1;
    for (int i = 0; i < 50; i++) {
        const double u = (pcg32_next(&twin) >> 8) / 16777216.0;
        exact &= values[i] == (float)((2 * u - 1) / sqrt(12.0));
    }
    check(exact, "an initial value is (2u - 1) / sqrt(fan_in), rounded once");
    check(pcg32_next(&rng) == pcg32_next(&twin), "as many numbers are drawn as there are values");
    pcg32_fill_linear(values, 0, 12, &rng);
    check(pcg32_next(&rng) == pcg32_next(&twin), "none are drawn for no values");
}

static void test_widths(void) {
    check(llama_ffn_dim(4096, 256, 0, 0) == 11008, "Llama 7B is 11008 wide");
    check(llama_ffn_dim(4096, 1024, 1, 1.3) == 14336, "Llama-3 8B is 14336 wide");
    check(llama_ffn_dim(2048, 256, 1, 1.5) == 8192, "Llama-3.2 1B is 8192 wide");
    check(llama_ffn_dim(576, 256, 0, 0) == 1536, "SmolLM2-135M is 1536 wide");
    check(llama_ffn_dim(3, 1, 0, 0) == 8 && llama_ffn_dim(1, 1, 0, 0) == 2, "8d/3 is cut off");
    check(llama_ffn_dim(3, 8, 0, 0) == 8 && llama_ffn_dim(3, 7, 0, 0) == 14, "and then rounded up");
    check(llama_ffn_dim(1, 1, 1, 0.4) == 0, "a width of nothing is nothing");
    check(llama_ffn_dim(0, 256, 0, 0) == -1 && llama_ffn_dim(-1, 256, 0, 0) == -1 &&
              llama_ffn_dim(64, 0, 0, 0) == -1 && llama_ffn_dim(64, -1, 0, 0) == -1 &&
              llama_ffn_dim(64, 256, 1, -1.0) == -1 &&
              llama_ffn_dim(64, 256, 1, (double)NAN) == -1 &&
              llama_ffn_dim(INT32_MAX, 256, 0, 0) == -1 &&
              llama_ffn_dim(805306368, INT32_MAX, 0, 0) == -1,
          "what is not positive, or passes int32_t, is refused");
    check(llama_ffn_dim(805306367, 1, 0, 0) == 2147483645 &&
              llama_ffn_dim(64, INT32_MAX, 0, 0) == INT32_MAX,
          "the largest widths are not");
}

int main(void) {
    test_published_output();
    test_seeds();
    test_fill();
    test_widths();
    return report();
}
