// Attention of float32 heads whose rows are dense.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// An operand (batch, heads, rows, width); steps are in elements, the last is 1.
template <typename Real>
struct Heads {
    Real* data;
    ptrdiff_t batch, head, row;
};

struct Attention {
    size_t batch, heads, key_heads, rows, columns, width;
    Heads<const float> query, key, value;
    const float* mask;  // to be added to the scores; may be null
    ptrdiff_t mask_steps[4];
    bool causal;
    float scale;
};

struct AttentionResult {
    Heads<float> out;
    float* sums;  // the logarithm of each row's sum, (batch, heads, rows)
    ptrdiff_t sums_steps[3];
};

struct AttentionGradients {
    Heads<const float> grad, out;
    const float* sums;
    ptrdiff_t sums_steps[3];
    Heads<float> query, key, value;
};

struct AttentionLoops {
    // Elements of scratch memory that one call of the loops needs.
    size_t (*scratch)(const Attention& attention);
    size_t (*backward_scratch)(const Attention& attention);
    // Rows `from` to `to` of one head of the batch.
    void (*forward)(const Attention& attention, const AttentionResult& result, size_t head, size_t from, size_t to,
                    float* scratch);
    // All gradients that one key head of the batch takes part in.
    void (*backward)(const Attention& attention, const AttentionGradients& gradients, size_t key_head, float* scratch);
};

MINDTORCH_DECLARE_LOOPS(AttentionLoops, attention_loops)

}  // namespace mindtorch
