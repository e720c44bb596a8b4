/* Every golden case of fixtures/goldens/mlp against Hugging Face's float64 values: y, what happens inside, and every gradient.
 *
 * The files are read by this library's own reader; run in the project's root. Buffers come from malloc at their exact sizes, so
 * that a load past the end of one is seen by AddressSanitizer and by valgrind.
 */
#include "layer.h"
#include "read_file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "fixtures/goldens/mlp"
#define CASES  48

/* fixtures/README.md: of a tensor's largest value, and where float32 underflows. */
static const double TOLERANCE = sizeof(real) == sizeof(double) ? 1e-12 : 2e-6;
static const double UNDERFLOW = sizeof(real) == sizeof(double) ? 0 : 1e-37;

typedef struct {
    char name[64];
    uint8_t *file;
    safetensors_block *block;
    gated_mlp mlp;
    int32_t tokens;
} golden;

static const safetensors_tensor *find(const golden *g, const char *name) {
    const safetensors_tensor *tensors = table_at(g->block, g->block->tensors);
    const char *pool = table_at(g->block, g->block->pool);
    for (uint32_t i = 0; i < g->block->tensor_count; i++) {
        const safetensors_tensor *t = &tensors[i];
        if (t->name_bytes == strlen(name) && memcmp(pool + t->name, name, t->name_bytes) == 0) {
            return t;
        }
    }
    return NULL;
}

static int64_t count_of(const safetensors_tensor *t) {
    return (int64_t)(t->end - t->begin) / (t->dtype == DTYPE_F64 ? 8 : 4);
}

/* The numbers of an F32 or F64 tensor. */
static double *numbers(const golden *g, const safetensors_tensor *t) {
    const uint8_t *data = g->file + g->block->data_start + t->begin;
    const int64_t n = count_of(t);
    double *values = need((uint64_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        float single;
        memcpy(&single, data + 4 * i, sizeof single);
        values[i] = (double)single;
        if (t->dtype == DTYPE_F64) {
            memcpy(&values[i], data + 8 * i, sizeof(double));
        }
    }
    return values;
}

static real *reals(const golden *g, const char *name) {
    const safetensors_tensor *t = find(g, name);
    double *values = numbers(g, t);
    real *rounded = need((uint64_t)count_of(t) * sizeof(real));
    for (int64_t i = 0; i < count_of(t); i++) {
        rounded[i] = (real)values[i];
    }
    free(values);
    return rounded;
}

/* What the file's metadata, a JSON text in a JSON string, has after a key; "" where it has no such key. */
static const char *metadata_after(const golden *g, const char *key) {
    const safetensors_pair *info = table_at(g->block, g->block->pairs);
    const char *pool = table_at(g->block, g->block->pool);
    const size_t length = strlen(key);
    for (uint32_t i = 0; i + length < info->value_bytes; i++) {
        const char *at = pool + info->value + i;
        if (memcmp(at, key, length) == 0) {
            return at + length;
        }
    }
    return "";
}

static int32_t activation_of(const golden *g) {
    static const struct {
        const char *spelling;
        int32_t activation;
    } table[] = {
        {"silu\"", ACT_silu},       {"gelu\"", ACT_gelu},
        {"relu\"", ACT_relu},       {"gelu_pytorch_tanh\"", ACT_gelu_tanh},
        {"relu2\"", ACT_relu2},     {"gelu_new\"", ACT_gelu_tanh},
        {"linear\"", ACT_none},     {"quick_gelu\"", ACT_quick_gelu},
        {"sigmoid\"", ACT_sigmoid},
    };
    const char *act = metadata_after(g, "\"act\": \"");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strncmp(act, table[i].spelling, strlen(table[i].spelling)) == 0) {
            return table[i].activation;
        }
    }
    return -1;
}

static void load_projection(golden *g, linear *l, const char *projection) {
    char name[64];
    snprintf(name, sizeof name, "%s.weight", projection);
    const safetensors_tensor *t = find(g, name);
    if (t == NULL) {
        return; /* only some cases have a norm */
    }
    const uint64_t *dims = (const uint64_t *)table_at(g->block, g->block->dims) + t->first_dim;
    const int32_t out = (int32_t)dims[0], in = (int32_t)(count_of(t) / out);
    *l = (linear){out, in, DTYPE_F32, need(linear_weight_bytes(out, in, DTYPE_F32)), NULL};
    linear_clear_padding(l);
    linear_set_block(l, 0, out, 0, in, g->file + g->block->data_start + t->begin, DTYPE_F32, in, 1);
    snprintf(name, sizeof name, "%s.bias", projection);
    if (find(g, name) != NULL) {
        l->bias = reals(g, name);
    }
}

static void load(golden *g, const char *file_name) {
    char path[512];
    snprintf(g->name, sizeof g->name, "%.*s", (int)(strrchr(file_name, '.') - file_name),
             file_name);
    snprintf(path, sizeof path, FOLDER "/%s", file_name);
    FILE *stream = fopen(path, "rb");
    fseek(stream, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(stream);
    rewind(stream);
    g->file = need(bytes);
    safetensors_error error;
    const int whole = fread(g->file, 1, bytes, stream) == bytes;
    fclose(stream);
    if (!whole || read_file(&g->block, &error, g->file, bytes) != SAFETENSORS_OK) {
        abort();
    }
    load_projection(g, &g->mlp.gate_proj, "gate_proj");
    load_projection(g, &g->mlp.up_proj, "up_proj");
    load_projection(g, &g->mlp.down_proj, "down_proj");
    load_projection(g, &g->mlp.ffn_sub_norm, "ffn_sub_norm");
    g->mlp.norm_eps = (real)strtod(metadata_after(g, "\"norm_eps\": "), NULL);
    g->mlp.d = g->mlp.gate_proj.in_features;
    g->mlp.d_ff = g->mlp.gate_proj.out_features;
    g->mlp.activation = activation_of(g);
    g->tokens = (int32_t)(count_of(find(g, "x")) / g->mlp.d);
    const float NORMAL_QUANTILE_95 = 1.6448536f; /* single, as transformers has it */
    g->mlp.sparse = strtod(metadata_after(g, "\"activation_sparsity\": "), NULL) == 0.95;
    g->mlp.cutoff = g->mlp.sparse ? (real)NORMAL_QUANTILE_95 : 0;
}

static void unload(golden *g) {
    linear *projections[] = {&g->mlp.gate_proj, &g->mlp.up_proj, &g->mlp.down_proj,
                             &g->mlp.ffn_sub_norm};
    for (int i = 0; i < 4; i++) {
        free(projections[i]->weight);
        free(projections[i]->bias);
    }
    free(g->block);
    free(g->file);
}

/* NaN must meet NaN, an infinity itself, and all else must be within the tolerance of the largest finite magnitude. */
static void compare(const golden *g, const char *name, const real *ours) {
    const safetensors_tensor *t = find(g, name);
    if (t == NULL) {
        return; /* TorchCode's exercise keeps no act; not every case has biases */
    }
    double *expected = numbers(g, t), largest = 0, worst = 0;
    const int64_t n = count_of(t);
    for (int64_t i = 0; i < n; i++) {
        largest = isfinite(expected[i]) ? fmax(largest, fabs(expected[i])) : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)ours[i];
        const int same = isnan(expected[i]) ? isnan(value) : value == expected[i];
        const double apart = same ? 0 : fabs(value - expected[i]);
        worst = isnan(worst) || apart <= worst ? worst : apart;
    }
    check(worst <= fmax(TOLERANCE * largest, UNDERFLOW), "%s: %s, %lld values, %.2g apart of %.2g",
          g->name, name, (long long)n, worst, largest);
    free(expected);
}

static void test_forward_and_backward(const golden *g) {
    const int64_t d = g->mlp.d, d_ff = g->mlp.d_ff, outer = g->tokens * d, inner = g->tokens * d_ff;
    real *x = reals(g, "x"), *d_y = reals(g, "gy"), *y = filled_reals(outer, 9);
    const gated_mlp_record record = {filled_reals(inner, 9), filled_reals(inner, 9),
                                     filled_reals(inner, 9), filled_reals(inner, 9)};
    void *scratch = need(gated_mlp_forward_scratch_bytes(&g->mlp, g->tokens));
    const gated_mlp_status forward =
        gated_mlp_forward(y, x, &g->mlp, g->tokens, NULL, &record, scratch);
    free(scratch);
    const gated_mlp_gradients gradients = {
        filled_reals(outer, 0),    filled_reals(d_ff * d, 0), filled_reals(d_ff, 0),
        filled_reals(d_ff * d, 0), filled_reals(d_ff, 0),     filled_reals(d * d_ff, 0),
        filled_reals(d, 0),        filled_reals(d_ff, 0),     .overwrite = 0};
    scratch = need(gated_mlp_backward_scratch_bytes(&g->mlp, g->tokens));
    const gated_mlp_status backward =
        gated_mlp_backward(&gradients, d_y, x, &g->mlp, g->tokens, NULL, &record, scratch);
    free(scratch);
    check(forward == GATED_MLP_OK && backward == GATED_MLP_OK, "%s is computed", g->name);
    const struct {
        const char *name;
        real *ours;
    } results[] = {
        {"f64/y", y},
        {"f64/gate", record.gate},
        {"f64/act", record.act},
        {"f64/up", record.up},
        {"f64/x.grad", gradients.x},
        {"f64/gate_proj.weight.grad", gradients.gate_weight},
        {"f64/gate_proj.bias.grad", gradients.gate_bias},
        {"f64/up_proj.weight.grad", gradients.up_weight},
        {"f64/up_proj.bias.grad", gradients.up_bias},
        {"f64/down_proj.weight.grad", gradients.down_weight},
        {"f64/down_proj.bias.grad", gradients.down_bias},
        {"f64/ffn_sub_norm.weight.grad", gradients.norm_weight},
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        compare(g, results[i].name, results[i].ours);
        free(results[i].ours);
    }
    free(record.hidden);
    free(x);
    free(d_y);
}

int main(void) {
    int cases = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".safetensors") == NULL) {
            continue;
        }
        golden g;
        memset(&g, 0, sizeof g);
        load(&g, entry->d_name);
        test_forward_and_backward(&g);
        unload(&g);
        cases++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    check(cases == CASES, "%d golden cases", cases);
    return report();
}
