/* Meta's rule for the hidden width of a Llama's MLP; see gated_mlp.h. */
#include "gated_mlp.h"

int32_t llama_ffn_dim(int32_t d, int32_t multiple_of, int32_t has_multiplier, double multiplier) {
    if (d <= 0 || multiple_of <= 0 || (has_multiplier && !(multiplier > 0))) {
        return -1;
    }
    /* int(2 * (4 d) / 3) in Python: one correctly rounded division of exact integers, truncated. */
    double width = (double)(int64_t)(8.0 * d / 3.0);
    if (has_multiplier) {
        width = multiplier * width;
    }
    if (!(width >= 0 && width < 2147483648.0)) {
        return -1;
    }
    const int64_t multiple = multiple_of;
    const int64_t rounded = ((int64_t)width + multiple - 1) / multiple * multiple;
    return rounded > INT32_MAX ? -1 : (int32_t)rounded;
}
