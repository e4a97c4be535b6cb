// Recurrent layers: what one step of a sequence does, and the packed weights that all steps share.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// aten's numbers.
enum RnnMode { RNN_RELU, RNN_TANH, RNN_LSTM, RNN_GRU, RNN_MODES };

// One step. A row of gates holds i, f, g, o and the new cell state of an LSTM, r, z, the state's part of n, and n of a
// GRU; of others it is the row of the result. Before the step these are the sums that the functions are of; afterwards
// they are what the backward needs. Every group of a row has `hidden` elements.
template <typename Real>
struct RnnStep {
    size_t rows, hidden;
    Real* gates;
    size_t gates_row;
    Real *out, *hy, *cy;  // the result of this step, and the running states
};

// One step back. `grad_hidden` and `grad_cell` are the running gradients of the states after the step, and before it
// afterwards, but for the products with the weights; `grads` becomes the gradient of the sums.
template <typename Real>
struct RnnBackwardStep {
    size_t rows, hidden;
    const Real* gates;
    size_t gates_row;
    const Real *out, *grad_out;  // of this step; the gradient may be null
    const Real* hidden_before;   // rows of `hidden`
    const Real* cells_before;    // of the first `kept` rows, `gates_row` apart; of the others they are in `cx`
    size_t kept;
    const Real* cx;
    Real *grads, *grad_hidden, *grad_cell;
    size_t grads_row;
};

template <typename Real>
struct RnnLoops {
    size_t columns, rows;  // of a tile
    // Columns of `depth` elements, `line` from one to the next, as panels of whole tiles.
    void (*pack_columns)(Real* to, const Real* from, ptrdiff_t line, ptrdiff_t along, size_t columns, size_t depth);
    void (*pack_rows)(Real* to, const Real* from, ptrdiff_t line, size_t rows, size_t depth);
    // out += packed rows times packed columns
    void (*add_product)(Real* out, size_t out_row, const Real* left, const Real* right, size_t rows, size_t columns,
                        size_t depth);
    // Elements from .. to of every row.
    void (*forward[RNN_MODES])(const RnnStep<Real>& step, size_t from, size_t to);
    void (*backward[RNN_MODES])(const RnnBackwardStep<Real>& step, size_t from, size_t to);
    void (*sum_rows)(Real* to, const Real* from, size_t row, size_t rows, size_t columns);
};

MINDTORCH_DECLARE_LOOPS(RnnLoops<float>, rnn_loops)
MINDTORCH_DECLARE_LOOPS(RnnLoops<double>, rnn_double_loops)

}  // namespace mindtorch
