// Loops that normalize rows of float32.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

enum SoftmaxForm { SOFTMAX, LOG_SOFTMAX, SHARE_COUNT };

struct LayerNorm {
    float *out, *mean, *scale;
};

// Null where no gradient is asked for. Weight and bias are added to.
struct LayerNormGradients {
    float *input, *weight, *bias;
};

struct NormalizationLoops {
    void (*softmax[SHARE_COUNT])(float* out, const float* in, size_t rows, size_t width);
    void (*softmax_backward[SHARE_COUNT])(float* out, const float* grad, const float* result, size_t rows,
                                          size_t width);
    // The same of columns: `count` rows of `width`, one `step` of elements apart.
    void (*share_columns[SHARE_COUNT])(float* out, const float* in, size_t count, size_t step, size_t width);
    void (*share_columns_backward[SHARE_COUNT])(float* out, const float* grad, const float* result, size_t count,
                                                size_t step, size_t width);
    // The logarithm of the sum of exponentials of each row.
    void (*logsumexp)(float* out, const float* in, size_t rows, size_t width);
    void (*layer_norm)(const LayerNorm& to, const float* in, const float* weight, const float* bias, size_t rows,
                       size_t width, double eps);
    void (*layer_norm_backward)(const LayerNormGradients& to, const float* grad, const float* in, const float* mean,
                                const float* scale, const float* weight, size_t rows, size_t width);
};

MINDTORCH_DECLARE_LOOPS(NormalizationLoops, normalization_loops)

}  // namespace mindtorch
