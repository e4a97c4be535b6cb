// Poolings of float32 planes and volumes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// A plane is a volume of one layer.
struct Pooling {
    ptrdiff_t extent[3], out[3];
    ptrdiff_t kernel[3], stride[3], padding[3], dilation[3];
    bool cells;  // windows share out the volume as evenly as they can, whatever the kernel is; they may overlap

    ptrdiff_t area() const { return extent[0] * extent[1] * extent[2]; }
    ptrdiff_t places() const { return out[0] * out[1] * out[2]; }
};

struct MaxPoolLoops {
    // Of `count` volumes: the largest value of each window, the first of equals, or its last nan, and where it was.
    void (*max_pool)(const Pooling& p, ptrdiff_t count, float* out, int64_t* index, const float* in);
    // The same of one volume whose elements have `channels` numbers each, side by side: rows of the result from `from`
    // to `to`, of all its layers. It looks at `cells`, too.
    void (*max_pool_last)(const Pooling& p, ptrdiff_t channels, float* out, int64_t* index, const float* in,
                          ptrdiff_t from, ptrdiff_t to);
    // The same as the first of cells that share out the volume as evenly as they can; they may overlap.
    void (*adaptive_max_pool)(const Pooling& p, ptrdiff_t count, float* out, int64_t* index, const float* in);
    // One volume of gradients goes to where its values came from.
    void (*max_pool_backward)(float* in_grad, size_t area, const float* grad, const int64_t* index, size_t places);
};

MINDTORCH_DECLARE_LOOPS(MaxPoolLoops, max_pool_loops)

}  // namespace mindtorch
