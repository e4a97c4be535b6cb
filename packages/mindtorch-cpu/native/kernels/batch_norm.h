// Loops of norms whose weights are of channels (batch norm, group norm): float32.
#pragma once

#include "simd/cpu_capability.h"

namespace mindtorch {

struct ChannelNormLoops {
    // out = (in - mean) * factor + shift
    void (*affine)(float* out, const float* in, size_t count, float mean, float factor, float shift);
    void (*affine_columns)(float* out, const float* in, size_t rows, size_t width, const float* mean,
                           const float* factor, const float* shift);
    // Add the sums of grad and of grad * (in - mean) to total and along.
    void (*sums)(const float* grad, const float* in, size_t count, float mean, double* total, double* along);
    void (*sums_of_columns)(const float* grad, const float* in, size_t rows, size_t width, const float* mean,
                            double* total, double* along);
    // out = (grad * weight - total - (in - mean) * along) * factor
    void (*gradient)(float* out, const float* grad, const float* in, size_t count, float mean, float weight,
                     float total, float along, float factor);
    void (*gradient_of_columns)(float* out, const float* grad, const float* in, size_t rows, size_t width,
                                const float* mean, const float* total, const float* along, const float* factor);
};

MINDTORCH_DECLARE_LOOPS(ChannelNormLoops, channel_norm_loops)

}  // namespace mindtorch
