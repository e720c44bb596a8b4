/* Sums, biases and scales of tiles; see tile.h. */
#include "tile.h"

void add_column_sums(real *sums, const real *src, size_t ld, int32_t rows, int32_t columns,
                     real scale) {
    for (int32_t j = 0; j < columns; j += PANEL) {
        const int32_t n = min_i32(PANEL, columns - j);
        real block[PANEL] = {0};
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t i = 0; i < n; i++) {
                block[i] += src[(size_t)r * ld + (size_t)(j + i)];
            }
        }
        for (int32_t i = 0; i < n; i++) {
            sums[j + i] += scale * block[i];
        }
    }
}

void add_bias(real *tile, const real *bias, int32_t rows, int32_t columns) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t j = 0; j < columns; j++) {
            tile[r * PANEL + j] += bias[j];
        }
    }
}

void scale_rows(real *tile, const double *scales, int32_t rows) {
    for (int32_t i = 0; i < rows * PANEL; i++) {
        tile[i] = (real)((double)tile[i] * scales[i / PANEL]);
    }
}
