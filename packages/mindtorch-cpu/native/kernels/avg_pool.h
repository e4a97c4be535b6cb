// Means of the windows of planes and volumes, and what gradients of theirs become.
#pragma once

#include <stddef.h>

#include "kernels/max_pool.h"
#include "simd/cpu_capability.h"

namespace mindtorch {

// The windows of each dimension: where they begin and end within the volume, and the lengths that their sums are
// divided by. Cells, which share out the volume as evenly as they can, are counted in `cells` dimensions; where that is
// 0, windows lie as `p` says.
struct Averages {
    Pooling p;
    const ptrdiff_t *begin[3], *end[3], *length[3];
    ptrdiff_t divisor;  // instead of the lengths, where it is not 0
    int cells;
};

// Results of a window are added in the order of their elements, gradients of an element in the order of its windows.
template <typename Real>
struct AvgPoolLoops {
    // Of `count` volumes.
    void (*forward)(const Averages& a, ptrdiff_t count, Real* out, const Real* in);
    // Of one volume whose elements have `channels` numbers each, side by side: rows of the result from `from` to `to`,
    // of all its layers.
    void (*forward_last)(const Averages& a, ptrdiff_t channels, Real* out, const Real* in, ptrdiff_t from,
                         ptrdiff_t to);
    // The gradients of `count` volumes, and of one with its channels side by side.
    void (*backward)(const Averages& a, ptrdiff_t count, Real* in_grad, const Real* grad);
    void (*backward_last)(const Averages& a, ptrdiff_t channels, Real* in_grad, const Real* grad);
};

MINDTORCH_DECLARE_LOOPS(AvgPoolLoops<float>, avg_pool_loops)
MINDTORCH_DECLARE_LOOPS(AvgPoolLoops<double>, avg_pool_double_loops)

}  // namespace mindtorch
