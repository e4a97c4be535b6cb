// Weighted sums of a few elements of a line each, and what turns them around: interpolation, sampling at points.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// Place `i` of `count` is made of the elements index[begins[i]] up to index[begins[i + 1]] of a line of `extent`;
// without weights each counts once.
template <typename Real>
struct WeightTable {
    const int64_t *begins, *index;
    const Real* weights;
    ptrdiff_t count, extent;
};

// Arrays are (outer, extent or count, inner), dense; the loops do the lines from `from` to `to` of the outer ones.
template <typename Real>
struct InterpolateLoops {
    void (*gather)(const WeightTable<Real>& table, Real* out, const Real* in, ptrdiff_t inner, size_t from, size_t to);
    // For an inner extent of 1, the transpose: every place's value is added to what it is made of.
    void (*scatter)(const WeightTable<Real>& table, Real* out, const Real* in, size_t from, size_t to);
    // For an inner extent of 1, sums over all outer lines of a place's value times each element it is made of.
    void (*weight_grads)(const WeightTable<Real>& table, Real* out, const Real* places, const Real* in, size_t outer);
};

// How planes are sampled, and what lies outside of them, by the numbers of the op's arguments.
enum Sampled { BILINEAR, NEAREST, BICUBIC, SAMPLED_COUNT };
enum Padding { ZEROS, BORDER, REFLECTION, PADDING_COUNT };

// How many elements a point is made of at most.
constexpr int CORNERS[SAMPLED_COUNT] = {4, 1, 16}, MOST_CORNERS = 16;

// Points in planes of `height` by `width`, which a grid of (x, y) in [-1, 1] names.
struct Points {
    const float* grid;
    size_t count;
    ptrdiff_t height, width;
    Sampled mode;
    Padding padding;
    bool align;
};

// What points are made of: as in WeightTable, the weights, and the derivatives of the weights down and across, where
// these are not null.
struct PointWeights {
    int64_t *begins, *index;
    float *weights, *down, *across;
};

MINDTORCH_DECLARE_LOOPS(InterpolateLoops<float>, interpolate_loops)
MINDTORCH_DECLARE_LOOPS(InterpolateLoops<double>, interpolate_double_loops)

using PointLoop = void (*)(const Points& points, const PointWeights& table);
MINDTORCH_DECLARE_LOOPS(PointLoop, point_loop)

}  // namespace mindtorch
