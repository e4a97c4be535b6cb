// Frames around planes and volumes that are copies of what lies inside.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// A padded volume: how large it is inside and with its frame, which element inside each place has a copy of, and which
// places of a line, from `first` up to `last`, lie inside. An element is `inner` numbers side by side.
struct Frame {
    ptrdiff_t extent[3], padded[3];
    const ptrdiff_t* source[3];
    ptrdiff_t first, last, inner;

    ptrdiff_t area() const { return extent[0] * extent[1] * extent[2] * inner; }
    ptrdiff_t places() const { return padded[0] * padded[1] * padded[2] * inner; }
};

// The gradients of `count` volumes: each element adds what its copies have, in the order in which they lie.
template <typename Real>
struct PadLoops {
    void (*backward)(const Frame& frame, ptrdiff_t count, Real* in_grad, const Real* grad);
};

MINDTORCH_DECLARE_LOOPS(PadLoops<float>, pad_loops)
MINDTORCH_DECLARE_LOOPS(PadLoops<double>, pad_double_loops)

}  // namespace mindtorch
