/* The gated MLP written as its definition: plain loops, float64, row-major weights in Hugging
 * Face's shapes.
 *
 * The readable specification of src/core and the oracle of its native tests. Shares no code with
 * the kernels, only the option and hold structs, whose meaning it defines. Slow on purpose.
 */
#ifndef GATED_MLP_REFERENCE_H
#define GATED_MLP_REFERENCE_H

#include "gated_mlp.h"

typedef struct {
    int32_t d;
    int32_t d_ff;
    int32_t activation;
    double *gate_weight; /* [d_ff, d] */
    double *gate_bias;   /* [d_ff] or NULL, as all biases */
    double *up_weight;
    double *up_bias;
    double *down_weight; /* [d, d_ff] */
    double *down_bias;   /* [d] */
    double limit;        /* these as in gated_mlp */
    double up_shift;
    double cutoff;
    int32_t sparse;
    double *norm_weight; /* [d_ff], or NULL where there is no norm */
    double norm_eps;
} reference_mlp;

typedef struct {
    double *gate; /* each [tokens, d_ff]; outside the slice: untouched */
    double *act;
    double *up;
    double *hidden;
} reference_record;

typedef struct {
    double *x;
    double *gate_weight;
    double *gate_bias;
    double *up_weight;
    double *up_bias;
    double *down_weight;
    double *down_bias;
    double *norm_weight;
} reference_gradients;

double reference_activation(int32_t activation, double z);
double reference_derivative(int32_t activation, double z);

/* y [tokens, d]; every member of record is written. */
void reference_forward(double *y, const reference_record *record, const double *x,
                       const reference_mlp *m, int32_t tokens, const gated_mlp_options *options);

/* Adds to every gradient (those of the biases and the norm may be NULL). Of a sparse MLP all gates
 * have a gradient, whatever the slice, and of one with a norm all units. */
void reference_backward(const reference_gradients *gradients, const double *d_y, const double *x,
                        const reference_mlp *m, int32_t tokens, const gated_mlp_options *options);

#endif
