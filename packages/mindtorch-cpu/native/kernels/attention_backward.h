// Attention's gradients tile by tile: weights are made again from the saved sums. Included as gemm/microkernel.h is.
#pragma once

#include "kernels/attention_tile.h"

namespace mindtorch {
namespace {

// Rows of keys that are one tile: few enough keys are one, so that what cancels in a row cancels exactly.
constexpr size_t GRADIENT_COLUMNS = 512;

// A key head's operands and the memory its tiles need.
struct Packed {
    float *scores, *grad_scores, *lines;    // the weights, their gradients, and either one as packed lines
    float *query, *grad, *queries, *grads;  // a block of rows, as lines and as panels
    float *keys, *values, *plain_keys;      // all columns: two as columns of a product, one as its rows
};

MINDTORCH_INLINE size_t tile_size() { return round_up(QUERY_ROWS, 16) * GRADIENT_COLUMNS; }

size_t backward_scratch_for(const Attention& a) {
    const size_t width = round_up(a.width, FILL),
                 lines = round_up(GRADIENT_COLUMNS, MR * 16) * round_up(QUERY_ROWS, 16);
    return 2 * tile_size() + lines + 4 * round_up(QUERY_ROWS, 16) * width + 3 * round_up(a.columns, FILL) * width;
}

Packed divide(const Attention& a, float* memory) {
    const size_t width = round_up(a.width, FILL), block = round_up(QUERY_ROWS, 16) * width;
    const size_t all = round_up(a.columns, FILL) * width;
    Packed p;
    p.scores = memory;
    p.grad_scores = p.scores + tile_size();
    p.lines = p.grad_scores + tile_size();
    p.query = p.lines + round_up(GRADIENT_COLUMNS, MR * 16) * round_up(QUERY_ROWS, 16);
    p.grad = p.query + block;
    p.queries = p.grad + block;
    p.grads = p.queries + block;
    p.keys = p.grads + block;
    p.values = p.keys + all;
    p.plain_keys = p.values + all;
    return p;
}

// Weights from scores; what a row's sum says has no weight has none.
void weigh_again(float* scores, const Place& at, const float* sums, ptrdiff_t step) {
    const size_t filled = round_up(at.columns, LANES);
    for (size_t row = 0; row < at.rows; row++, scores += at.step) {
        const float sum = sums[static_cast<ptrdiff_t>(row) * step], from = sum == -INFINITY ? 0.0f : sum;
        for (size_t j = 0; j < filled; j += LANES) store(scores + j, exp(load(scores + j) - from));
    }
}

// The gradients of the scores from those of the weights: weights * (grad_scores - what goes along with the row) *
// scale.
void grad_scores_tile(float* grad_scores, const float* weights, const Place& at, const float* along, float scale) {
    const size_t filled = round_up(at.columns, LANES);
    for (size_t row = 0; row < at.rows; row++, grad_scores += at.step, weights += at.step) {
        for (size_t j = at.columns; j < filled; j++) grad_scores[j] = 0.0f;
        float common = 0.0f;
        if (along != nullptr) {
            common = along[row];
        } else {
            Floats sum = {};
            for (size_t j = 0; j < filled; j += LANES) sum += load(grad_scores + j) * load(weights + j);
            common = sum_of(sum);
        }
        for (size_t j = 0; j < filled; j += LANES)
            store(grad_scores + j, (load(grad_scores + j) - common) * load(weights + j) * scale);
    }
}

void common_parts(float* along, const float* grad, ptrdiff_t grad_row, const float* out, ptrdiff_t out_row, size_t rows,
                  size_t width) {
    for (size_t row = 0; row < rows; row++, grad += grad_row, out += out_row) {
        float sum = 0.0f;
        for (size_t i = 0; i < width; i++) sum += grad[i] * out[i];
        along[row] = sum;
    }
}

// The scores, made as `forward` made them: a row's sum fits no others to the last bit.
void score_tile(const Attention& a, const Place& at, const Packed& p, const float* query, size_t key_head) {
    const ptrdiff_t step = GRADIENT_COLUMNS;
    if (a.rows > SKINNY) {
        multiply_block(p.scores, step, p.query, p.keys + at.column * a.width, at.rows, at.columns, a.width, a.width,
                       scaled(a.scale));
        return;
    }
    const float* key = head_of(a.key, at.batch, key_head) + static_cast<ptrdiff_t>(at.column) * a.key.row;
    multiply_skinny<float>({at.rows,
                            at.columns,
                            a.width,
                            {query, a.query.row, 1},
                            {key, 1, a.key.row},
                            p.scores,
                            step,
                            1,
                            a.scale,
                            0.0f,
                            {nullptr, 0, 0}},
                           p.lines);
}

void backward_block(const Attention& a, const AttentionGradients& g, Place at, const Packed& p) {
    const size_t key_head = at.head / (a.heads / a.key_heads);
    const ptrdiff_t row = static_cast<ptrdiff_t>(at.row);
    const float* query = head_of(a.query, at.batch, at.head) + row * a.query.row;
    const float* grad = head_of(g.grad, at.batch, at.head) + row * g.grad.row;
    const float* sums = g.sums + static_cast<ptrdiff_t>(at.batch) * g.sums_steps[0] +
                        static_cast<ptrdiff_t>(at.head) * g.sums_steps[1] + row * g.sums_steps[2];
    float* to_query = head_of(g.query, at.batch, at.head) + row * g.query.row;
    float *to_key = head_of(g.key, at.batch, key_head), *to_value = head_of(g.value, at.batch, key_head);
    float along[QUERY_ROWS];
    pack<MR>(p.query, query, a.query.row, 1, at.rows, a.width);
    pack<MR>(p.grad, grad, g.grad.row, 1, at.rows, a.width);
    pack<NR>(p.queries, query, 1, a.query.row, a.width, at.rows);
    pack<NR>(p.grads, grad, 1, g.grad.row, a.width, at.rows);
    const bool whole = a.columns <= GRADIENT_COLUMNS;
    if (!whole)
        common_parts(along, grad, g.grad.row, head_of(g.out, at.batch, at.head) + row * g.out.row, g.out.row, at.rows,
                     a.width);
    const size_t columns = seen(a, at.row + at.rows);
    const ptrdiff_t step = GRADIENT_COLUMNS;
    at.step = GRADIENT_COLUMNS;
    for (at.column = 0; at.column < columns; at.column += GRADIENT_COLUMNS) {
        const ptrdiff_t column = static_cast<ptrdiff_t>(at.column);
        at.columns = least(GRADIENT_COLUMNS, columns - at.column);
        score_tile(a, at, p, query, key_head);
        multiply_block(p.grad_scores, step, p.grad, p.values + at.column * a.width, at.rows, at.columns, a.width,
                       a.width, PLAIN);
        mask_scores(p.scores, a, at);
        weigh_again(p.scores, at, sums, g.sums_steps[2]);
        grad_scores_tile(p.grad_scores, p.scores, at, whole ? nullptr : along, a.scale);
        pack<MR>(p.lines, p.scores, 1, step, at.columns, at.rows);
        multiply_block(to_value + column * g.value.row, g.value.row, p.lines, p.grads, at.columns, a.width, at.rows,
                       at.rows, ADDED);
        pack<MR>(p.lines, p.grad_scores, 1, step, at.columns, at.rows);
        multiply_block(to_key + column * g.key.row, g.key.row, p.lines, p.queries, at.columns, a.width, at.rows,
                       at.rows, ADDED);
        pack<MR>(p.lines, p.grad_scores, step, 1, at.rows, at.columns);
        multiply_block(to_query, g.query.row, p.lines, p.plain_keys + at.column * round_up(a.width, NR), at.rows,
                       a.width, at.columns, least(GRADIENT_COLUMNS, a.columns - at.column), ADDED);
    }
}

void clear(float* to, ptrdiff_t step, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++, to += step) memset(to, 0, width * sizeof(float));
}

void backward(const Attention& a, const AttentionGradients& g, size_t index, float* scratch) {
    const size_t batch = index / a.key_heads, key_head = index % a.key_heads, group = a.heads / a.key_heads;
    const Packed p = divide(a, scratch);
    const float *key = head_of(a.key, batch, key_head), *value = head_of(a.value, batch, key_head);
    pack<NR>(p.keys, key, a.key.row, 1, a.columns, a.width);
    pack<NR>(p.values, value, a.value.row, 1, a.columns, a.width);
    for (size_t column = 0; column < a.columns; column += GRADIENT_COLUMNS)
        pack<NR>(p.plain_keys + column * round_up(a.width, NR), key + static_cast<ptrdiff_t>(column) * a.key.row, 1,
                 a.key.row, a.width, least(GRADIENT_COLUMNS, a.columns - column));
    clear(head_of(g.key, batch, key_head), g.key.row, a.columns, a.width);
    clear(head_of(g.value, batch, key_head), g.value.row, a.columns, a.width);
    for (size_t head = key_head * group; head < (key_head + 1) * group; head++) {
        clear(head_of(g.query, batch, head), g.query.row, a.rows, a.width);
        for (size_t row = 0; row < a.rows; row += QUERY_ROWS)
            backward_block(a, g, {batch, head, row, least(QUERY_ROWS, a.rows - row), 0, 0, 0}, p);
    }
}

}  // namespace
}  // namespace mindtorch
