// Attention tile by tile: a row's largest score and its sum are kept up to date while its columns go by.
#include "kernels/attention_backward.h"

namespace mindtorch {

namespace {

constexpr size_t KEY_COLUMNS = 256;

// The largest score of each row so far, and the sum of the weights against it.
struct Running {
    float most[QUERY_ROWS], sum[QUERY_ROWS];
};

// Turn scores into weights; returns their sum.
MINDTORCH_INLINE float weigh(float* row, size_t filled, float most) {
    Floats sum = {};
    for (size_t j = 0; j < filled; j += LANES) {
        const Floats weight = exp_of_negative(load(row + j) - most);
        store(row + j, weight);
        sum += weight;
    }
    return sum_of(sum);
}

// Turn a tile of scores into weights, and bring the rows' results so far to the same measure.
void weigh_tile(float* scores, const Place& at, Running& running, float* out, ptrdiff_t out_row, size_t width) {
    const size_t filled = round_up(at.columns, LANES);
    for (size_t row = 0; row < at.rows; row++, scores += at.step, out += out_row) {
        const float before = at.column == 0 ? -INFINITY : running.most[row], here = greatest(scores, filled);
        const float most = here > before ? here : before;
        const float from = most == -INFINITY ? 0.0f : most;
        const float sum = weigh(scores, filled, from);
        running.most[row] = most;
        if (at.column == 0) {
            running.sum[row] = sum;
        } else if (before == most) {
            running.sum[row] += sum;
        } else {
            const float factor = expf(before - from);
            running.sum[row] = running.sum[row] * factor + sum;
            for (size_t i = 0; i < width; i++) out[i] *= factor;
        }
    }
}

// A row without any weight is zero.
void finish_rows(const Attention& a, const AttentionResult& r, const Place& at, const Running& running, float* out) {
    float* sums =
        r.sums + static_cast<ptrdiff_t>(at.batch) * r.sums_steps[0] + static_cast<ptrdiff_t>(at.head) * r.sums_steps[1];
    for (size_t row = 0; row < at.rows; row++, out += r.out.row) {
        const float most = running.most[row], sum = running.sum[row];
        const bool nothing = most == -INFINITY && sum == 0.0f;
        const float factor = 1.0f / sum;
        for (size_t i = 0; i < a.width; i++) out[i] = nothing ? 0.0f : out[i] * factor;
        sums[static_cast<ptrdiff_t>(at.row + row) * r.sums_steps[2]] = nothing ? 0.0f : most + logf(sum);
    }
}

// Rows too few to pack the keys for.
void forward_few(const Attention& a, const AttentionResult& r, Place at, float* scratch) {
    Running running;
    const size_t group = a.heads / a.key_heads;
    at.step = round_up(at.columns, FILL);
    float *scores = scratch, *sums = scratch + at.rows * at.step;
    const float* query = head_of(a.query, at.batch, at.head) + static_cast<ptrdiff_t>(at.row) * a.query.row;
    const float *key = head_of(a.key, at.batch, at.head / group), *value = head_of(a.value, at.batch, at.head / group);
    float* out = head_of(r.out, at.batch, at.head) + static_cast<ptrdiff_t>(at.row) * r.out.row;
    multiply_skinny<float>({at.rows,
                            at.columns,
                            a.width,
                            {query, a.query.row, 1},
                            {key, 1, a.key.row},
                            scores,
                            static_cast<ptrdiff_t>(at.step),
                            1,
                            a.scale,
                            0.0f,
                            {nullptr, 0, 0}},
                           sums);
    mask_scores(scores, a, at);
    weigh_tile(scores, at, running, out, r.out.row, a.width);
    multiply_skinny<float>({at.rows,
                            a.width,
                            at.columns,
                            {scores, static_cast<ptrdiff_t>(at.step), 1},
                            {value, a.value.row, 1},
                            out,
                            r.out.row,
                            1,
                            1.0f,
                            0.0f,
                            {nullptr, 0, 0}},
                           sums);
    finish_rows(a, r, at, running, out);
}

size_t scratch_for(const Attention& a) {
    const size_t columns = round_up(a.columns, FILL), width = round_up(a.width, FILL);
    const size_t few = SKINNY * columns + SKINNY * (columns > width ? columns : width);
    const size_t tiles = 2 * round_up(QUERY_ROWS, 16) * KEY_COLUMNS + round_up(QUERY_ROWS, 16) * width;
    const size_t packed = columns * (round_up(a.width, 16) + width);
    return round_up(a.rows <= SKINNY ? few : tiles + packed, 16);
}

// One block of rows: its packed queries against all columns, of which `packed` are packed.
void forward_block(const Attention& a, const AttentionResult& r, Place at, const float* query, const float* keys,
                   const float* values, size_t packed, float* scores, float* weights) {
    Running running;
    float* out = head_of(r.out, at.batch, at.head) + static_cast<ptrdiff_t>(at.row) * r.out.row;
    const size_t columns = seen(a, at.row + at.rows);
    at.step = KEY_COLUMNS;
    for (at.column = 0; at.column < columns; at.column += KEY_COLUMNS) {
        at.columns = least(KEY_COLUMNS, columns - at.column);
        multiply_block(scores, KEY_COLUMNS, query, keys + at.column * a.width, at.rows, at.columns, a.width, a.width,
                       scaled(a.scale));
        mask_scores(scores, a, at);
        weigh_tile(scores, at, running, out, r.out.row, a.width);
        pack<MR>(weights, scores, KEY_COLUMNS, 1, at.rows, at.columns);
        // Values are packed a block of columns at a time, each block as panels across the width.
        multiply_block(out, r.out.row, weights, values + at.column * round_up(a.width, NR), at.rows, a.width,
                       at.columns, least(KEY_COLUMNS, packed - at.column), at.column == 0 ? PLAIN : ADDED);
    }
    finish_rows(a, r, at, running, out);
}

void forward(const Attention& a, const AttentionResult& r, size_t index, size_t from, size_t to, float* scratch) {
    const size_t batch = index / a.heads, head = index % a.heads, group = a.heads / a.key_heads;
    if (a.rows <= SKINNY) return forward_few(a, r, {batch, head, from, to - from, 0, seen(a, to), 0}, scratch);
    const size_t columns = seen(a, to);
    float* scores = scratch;
    float* weights = scores + round_up(QUERY_ROWS, 16) * KEY_COLUMNS;
    float* query = weights + round_up(QUERY_ROWS, 16) * KEY_COLUMNS;
    float* keys = query + round_up(QUERY_ROWS, 16) * round_up(a.width, FILL);
    float* values = keys + round_up(a.columns, FILL) * round_up(a.width, 16);
    const float *key = head_of(a.key, batch, head / group), *value = head_of(a.value, batch, head / group);
    pack<NR>(keys, key, a.key.row, 1, columns, a.width);
    for (size_t column = 0; column < columns; column += KEY_COLUMNS)
        pack<NR>(values + column * round_up(a.width, NR), value + static_cast<ptrdiff_t>(column) * a.value.row, 1,
                 a.value.row, a.width, least(KEY_COLUMNS, columns - column));
    for (size_t row = from; row < to; row += QUERY_ROWS) {
        const size_t rows = least(QUERY_ROWS, to - row);
        pack<MR>(query, head_of(a.query, batch, head) + static_cast<ptrdiff_t>(row) * a.query.row, a.query.row, 1, rows,
                 a.width);
        forward_block(a, r, {batch, head, row, rows, 0, 0, 0}, query, keys, values, columns, scores, weights);
    }
}

}  // namespace

extern const AttentionLoops MINDTORCH_LOOPS(attention_loops) = {scratch_for, backward_scratch_for, forward, backward};

}  // namespace mindtorch
