/* Every float32 there is through silu, gelu_tanh and gelu and through their derivatives, against long double.
 *
 *     exhaustive_activation [stride = 1] [threads = 2]
 *
 * takes the bit patterns 0, stride, 2 stride, ...; prints the worst errors and where they are, and exits with 1 where a
 * bound is broken.
 */
#include "oracle.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(real) == 4, "there are too many doubles");

#define BLOCK       4096
#define MAX_THREADS 64

/* Beyond +-FAR each of the functions is z or 0, and 1 or 0, to far below any float; within +-NEAR two terms of its
 * series at 0 are right to 2^-78. The long double functions are for what lies between. */
#define FAR  128.0L
#define NEAR 0x1p-40L

/* An error may be as large as either. */
typedef struct {
    double ulps;
    double absolute;
} bound;

typedef struct {
    const char *name;
    int32_t activation;
    double curvature; /* act(z) = z / 2 + curvature z^2 + ..., at 0 */
    bound act;
    bound derivative;
} gate;

static const gate GATES[] = {
    {"silu", ACT_silu, 0.25, {3, 1e-37}, {4, 2e-7}},
    {"gelu_tanh", ACT_gelu_tanh, 0.39894228040143267794, {4, 4e-9}, {4, 2e-7}},
    {"gelu", ACT_gelu, 0.39894228040143267794, {4, 2e-7}, {4, 2e-7}},
};
#define GATE_COUNT ((int)(sizeof GATES / sizeof GATES[0]))

typedef struct {
    double ulps; /* the largest error, in ulps of the exact value, of those above bound.absolute */
    float ulps_at;
    double absolute; /* the largest error of those above bound.ulps */
    float absolute_at;
    uint64_t broken;
    float broken_at;
} worst;

typedef struct {
    uint64_t begin; /* bit patterns [begin, end), every stride-th */
    uint64_t end;
    uint64_t stride;
    worst act[GATE_COUNT];
    worst derivative[GATE_COUNT];
} share;

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static oracle_values expect(const gate *g, float z) {
    if (z >= FAR || z <= -FAR) {
        return (oracle_values){z > 0 ? z : 0, z > 0};
    }
    if (z < NEAR && z > -NEAR) {
        long double x = z;
        return (oracle_values){x / 2 + g->curvature * x * x, 0.5L + 2 * g->curvature * x};
    }
    return oracle(g->activation, z);
}

static void broken(worst *w, float z) {
    w->broken++;
    w->broken_at = z;
}

static void compare(worst *w, float z, float got, long double want, const bound *allowed) {
    double error = (double)fabsl(got - want);
    double ulps = error / (double)ulp_of(want);
    if (!(error <= allowed->absolute) && !(ulps <= w->ulps)) {
        w->ulps = ulps;
        w->ulps_at = z;
    }
    if (!(ulps <= allowed->ulps) && !(error <= w->absolute)) {
        w->absolute = error;
        w->absolute_at = z;
    }
    if (!(ulps <= allowed->ulps) && !(error <= allowed->absolute)) {
        broken(w, z);
    }
}

static void check_not_finite(worst *act, worst *derivative, float z, float f, float slope) {
    if (isnan(z) ? !isnan(f) : f != (z > 0 ? z : 0)) {
        broken(act, z);
    }
    if (isnan(z) ? !isnan(slope) : slope != (z > 0 ? 1 : 0)) {
        broken(derivative, z);
    }
}

static void check_value(share *s, int index, float z, float f, float slope) {
    const gate *g = &GATES[index];
    worst *act = &s->act[index];
    worst *derivative = &s->derivative[index];
    if (!isfinite(z)) {
        check_not_finite(act, derivative, z, f, slope);
        return;
    }
    oracle_values want = expect(g, z);
    compare(act, z, f, want.act, &g->act);
    compare(derivative, z, slope, want.derivative, &g->derivative);
    if ((z >= 30 && slope != 1) || (z <= -110 && slope != 0)) {
        broken(derivative, z);
    }
}

static void *run_share(void *argument) {
    share *s = argument;
    static _Thread_local real z[BLOCK], f[BLOCK], slope[BLOCK];
    for (uint64_t pattern = s->begin; pattern < s->end;) {
        int count = 0;
        for (; count < BLOCK && pattern < s->end; pattern += s->stride) {
            z[count++] = from_bits((uint32_t)pattern);
        }
        for (int index = 0; index < GATE_COUNT; index++) {
            activation_forward(f, z, GATES[index].activation, count);
            activation_derivative(slope, z, GATES[index].activation, count);
            for (int i = 0; i < count; i++) {
                check_value(s, index, z[i], f[i], slope[i]);
            }
        }
    }
    return NULL;
}

static void merge(worst *into, const worst *from) {
    if (!(from->ulps <= into->ulps)) {
        into->ulps = from->ulps;
        into->ulps_at = from->ulps_at;
    }
    if (!(from->absolute <= into->absolute)) {
        into->absolute = from->absolute;
        into->absolute_at = from->absolute_at;
    }
    into->broken += from->broken;
    if (from->broken) {
        into->broken_at = from->broken_at;
    }
}

static bool report(const char *name, const char *prime, const worst *w, const bound *allowed) {
    printf("%s %s%s, bound %g ulp or %g:", w->broken ? "FAIL" : "ok", name, prime, allowed->ulps,
           allowed->absolute);
    if (w->ulps > 0) {
        printf(" at most %.3f ulp (at %.9g)", w->ulps, (double)w->ulps_at);
    } else {
        printf(" nothing above %g", allowed->absolute);
    }
    if (w->absolute > 0) {
        printf("; where above %g ulp at most %.3g (at %.9g)\n", allowed->ulps, w->absolute,
               (double)w->absolute_at);
    } else {
        printf("; nothing above %g ulp\n", allowed->ulps);
    }
    if (w->broken) {
        printf("     %" PRIu64 " values out of bounds, one of them %.9g\n", w->broken,
               (double)w->broken_at);
    }
    return w->broken == 0;
}

static bool report_all(const share *total) {
    bool good = true;
    for (int i = 0; i < GATE_COUNT; i++) {
        good &= report(GATES[i].name, "", &total->act[i], &GATES[i].act);
        good &= report(GATES[i].name, "'", &total->derivative[i], &GATES[i].derivative);
    }
    return good;
}

int main(int argc, char **argv) {
    uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t threads = argc > 2 ? strtoull(argv[2], NULL, 10) : 2;
    if (stride == 0 || threads == 0 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: exhaustive_activation [stride >= 1] [threads 1..%d]\n",
                MAX_THREADS);
        return 2;
    }
    static share shares[MAX_THREADS], total;
    pthread_t started[MAX_THREADS];
    uint64_t count = ((UINT64_C(1) << 32) + stride - 1) / stride;
    for (uint64_t t = 0; t < threads; t++) {
        shares[t].begin = count * t / threads * stride;
        shares[t].end = count * (t + 1) / threads * stride;
        shares[t].stride = stride;
        if (pthread_create(&started[t], NULL, run_share, &shares[t]) != 0) {
            fprintf(stderr, "cannot start a thread\n");
            return 2;
        }
    }
    for (uint64_t t = 0; t < threads; t++) {
        pthread_join(started[t], NULL);
        for (int i = 0; i < GATE_COUNT; i++) {
            merge(&total.act[i], &shares[t].act[i]);
            merge(&total.derivative[i], &shares[t].derivative[i]);
        }
    }
    printf("%" PRIu64 " of 4294967296 float32 values\n", count);
    return report_all(&total) ? 0 : 1;
}
