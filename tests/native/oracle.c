/* The gates in long double; see oracle.h. */
#include "oracle.h"

#include <float.h>
#include <math.h>

_Static_assert(LDBL_MANT_DIG >= 64, "an oracle has to know more than its subject");

static const long double ROOT_2_OVER_PI = 0.797884560802865355879892119868763737L;
static const long double ROOT_HALF = 0.707106781186547524400844362104849039L;
static const long double GELU_CUBIC = 0.044715L;
static const long double QUICK_GELU = 1.702L;

#ifdef GATED_MLP_FLOAT64
#define REAL_DIGITS  DBL_MANT_DIG
#define REAL_MIN_EXP DBL_MIN_EXP
#else
#define REAL_DIGITS  FLT_MANT_DIG
#define REAL_MIN_EXP FLT_MIN_EXP
#endif

typedef struct {
    long double open; /* s(u) */
    long double shut; /* 1 - s(u) */
} logistic;

static logistic logistic_of(long double u) {
    long double e = expl(-fabsl(u));
    long double large = 1 / (1 + e), small = e / (1 + e);
    return u < 0 ? (logistic){small, large} : (logistic){large, small};
}

/* z s(u) and s + z u' s (1 - s) */
static oracle_values logistic_gate(long double z, long double u, long double slope) {
    logistic s = logistic_of(u);
    return (oracle_values){z * s.open, s.open * (1 + z * slope * s.shut)};
}

static oracle_values gelu_tanh(long double z) {
    long double u = 2 * ROOT_2_OVER_PI * (z + GELU_CUBIC * z * z * z);
    return logistic_gate(z, u, 2 * ROOT_2_OVER_PI * (1 + 3 * GELU_CUBIC * z * z));
}

/* z Phi(z) and Phi(z) + z phi(z) */
static oracle_values gelu(long double z) {
    long double Phi = erfcl(-z * ROOT_HALF) / 2;
    long double phi = ROOT_2_OVER_PI / 2 * expl(-z * z / 2);
    return (oracle_values){z * Phi, Phi + z * phi};
}

static oracle_values sigmoid(long double z) {
    logistic s = logistic_of(z);
    return (oracle_values){s.open, s.open * s.shut};
}

oracle_values oracle(int32_t activation, long double z) {
    switch (activation) {
    case ACT_silu: return logistic_gate(z, z, 1);
    case ACT_gelu_tanh: return gelu_tanh(z);
    case ACT_gelu: return gelu(z);
    case ACT_relu: return (oracle_values){z > 0 ? z : 0, z > 0};
    case ACT_relu2: return (oracle_values){z > 0 ? z * z : 0, z > 0 ? 2 * z : 0};
    case ACT_sigmoid: return sigmoid(z);
    case ACT_quick_gelu: return logistic_gate(z, QUICK_GELU * z, QUICK_GELU);
    default: return (oracle_values){z, 1};
    }
}

long double ulp_of(long double x) {
    int exponent = 0;
    frexp((double)x, &exponent);
    return ldexpl(1, (exponent > REAL_MIN_EXP ? exponent : REAL_MIN_EXP) - REAL_DIGITS);
}
