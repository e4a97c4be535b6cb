// Poolings of float32 planes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "instructions.h"

namespace mindtorch {

struct Pooling {
    ptrdiff_t height, width, out_height, out_width;
    ptrdiff_t kernel[2], stride[2], padding[2], dilation[2];
};

struct PoolLoops {
    // One plane: the first largest value of each window, or its last nan, and where it was.
    void (*largest)(const Pooling& p, float* out, int64_t* index, const float* in);
    // One plane of gradients goes to where its values came from.
    void (*largest_backward)(const Pooling& p, float* in_grad, const float* grad, const int64_t* index);
};

MINDTORCH_DECLARE_LOOPS(PoolLoops, pool_loops)

}  // namespace mindtorch
