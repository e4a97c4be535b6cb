// Sampling planes of float32 at the points of a grid.
#pragma once

#include "kernels/interpolate.h"

namespace mindtorch {

struct GridSampleLoops {
    // Of one image of `channels` planes: its points from `from` up to `to`.
    void (*forward)(const Points& p, ptrdiff_t channels, float* out, const float* in, ptrdiff_t from, ptrdiff_t to);
    // What one image's gradients come to for its planes and for the grid, of which either may be null.
    void (*backward)(const Points& p, ptrdiff_t channels, float* in_grad, float* grid_grad, const float* grad,
                     const float* in);
};

MINDTORCH_DECLARE_LOOPS(GridSampleLoops, grid_sample_loops)

constexpr ptrdiff_t POINTS_TOGETHER = 128;

}  // namespace mindtorch
