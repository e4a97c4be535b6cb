// What attention's forward and backward do to a tile of scores. Included as gemm/microkernel.h is.
#pragma once

#include <math.h>

#include "kernels/attention.h"
#include "gemm/skinny.h"
#include "simd/vector.h"

namespace mindtorch {
namespace {

// A tile of scores: rows of queries, columns of keys; columns are filled up to whole vectors.
constexpr size_t QUERY_ROWS = 5 * MR < 48 ? 8 * MR : 5 * MR;
constexpr size_t NR = Simd<float>::NR;
constexpr size_t FILL = 32;

constexpr Epilogue<float> PLAIN = {1.0f, 0.0f, {nullptr, 0, 0}, false};
constexpr Epilogue<float> ADDED = {1.0f, 0.0f, {nullptr, 0, 0}, true};

Epilogue<float> scaled(float factor) { return {factor, 0.0f, {nullptr, 0, 0}, false}; }

template <typename Real>
MINDTORCH_INLINE Real* head_of(const Heads<Real>& heads, size_t batch, size_t head) {
    return heads.data + static_cast<ptrdiff_t>(batch) * heads.batch + static_cast<ptrdiff_t>(head) * heads.head;
}

// Where a tile of scores lies in all of them.
struct Place {
    size_t batch, head, row, rows, column, columns, step;
};

void add_mask(float* scores, const Attention& a, const Place& at) {
    const float* mask = a.mask + static_cast<ptrdiff_t>(at.batch) * a.mask_steps[0] +
                        static_cast<ptrdiff_t>(at.head) * a.mask_steps[1] +
                        static_cast<ptrdiff_t>(at.row) * a.mask_steps[2] +
                        static_cast<ptrdiff_t>(at.column) * a.mask_steps[3];
    const ptrdiff_t step = a.mask_steps[3];
    for (size_t row = 0; row < at.rows; row++, scores += at.step, mask += a.mask_steps[2]) {
        if (step == 1)
            for (size_t j = 0; j < at.columns; j++) scores[j] += mask[j];
        else
            for (size_t j = 0; j < at.columns; j++) scores[j] += mask[static_cast<ptrdiff_t>(j) * step];
    }
}

// Mask the scores, and fill their rows up to whole vectors with what has no weight.
void mask_scores(float* scores, const Attention& a, const Place& at) {
    if (a.mask != nullptr) add_mask(scores, a, at);
    const size_t filled = round_up(at.columns, LANES);
    for (size_t row = 0; row < at.rows; row++, scores += at.step) {
        size_t first = at.columns;
        if (a.causal && at.row + row + 1 < at.column + at.columns)
            first = at.row + row + 1 > at.column ? at.row + row + 1 - at.column : 0;
        for (size_t j = first; j < filled; j++) scores[j] = -INFINITY;
    }
}

// How many of all columns some row up to `row` attends to.
MINDTORCH_INLINE size_t seen(const Attention& a, size_t row) { return a.causal ? least(a.columns, row) : a.columns; }

}  // namespace
}  // namespace mindtorch
