/* One call of the gated MLP set up twice: for the kernels and for the reference, both run forward
 * once.
 *
 * What test_forward.c and test_gradients.c look at.
 */
#ifndef GATED_MLP_TEST_SCENE_H
#define GATED_MLP_TEST_SCENE_H

#include "layer.h"

#define UNTOUCHED ((real) - 77) /* what the record and y hold before a call */

typedef struct {
    layer l;
    int32_t tokens;
    gated_mlp_options options;
    gated_mlp_hold holds[3];
    real *x, *d_y, *y;
    gated_mlp_record record;
    double *x64, *d_y64, *y64;
    reference_record record64;
} scene;

/* What scenes that start from now on do besides the plain formula: gate and up limited and shifted as
 * gpt-oss does, the gate sparse as Gemma 3n's is, hidden normed as BitNet's is, or several of these. */
typedef enum { PLAIN, LIMITED, SPARSE, LIMITED_AND_SPARSE, NORMED, ALL_THREE, VARIANTS } variant;
void scene_vary(variant v);

/* sliced: a random slice and a scale; held: three holds, two of them on one cell. */
void scene_start(scene *s, int32_t d, int32_t d_ff, int32_t tokens, int32_t dtype,
                 int32_t activation, int sliced, int held);
void scene_free(scene *s);

/* Runs the kernels' forward again, as the scene's options now are. */
void scene_forward(scene *s);

#endif
