// Loops of depthwise convolutions of planes whose channels lie side by side.
#pragma once

#include "kernels/conv.h"

namespace mindtorch {

struct ConvLastLoops {
    size_t least_channels;
    // Rows of one image's result from `from` to `to`. Weights are (window, channels); the bias may be null.
    void (*depthwise)(const Convolution& c, float* out, const float* in, const float* weight, const float* bias,
                      ptrdiff_t from, ptrdiff_t to);
};

MINDTORCH_DECLARE_LOOPS(ConvLastLoops, conv_last_loops)

}  // namespace mindtorch
