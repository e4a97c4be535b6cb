// Tiles of images, transformed, multiplied place by place, and transformed back.
#include "kernels/winograd.h"

#include "gemm/microkernel.h"

namespace mindtorch {
namespace {

using Vector = Simd<float>::Vector;
constexpr size_t WIDTH = Simd<float>::WIDTH, NR = Simd<float>::NR, PLACES = WINOGRAD_PLACES;

size_t tiles_down(const Convolution& c) { return static_cast<size_t>(c.out_height + 1) / 2; }
size_t tiles_across(const Convolution& c) { return static_cast<size_t>(c.out_width + 1) / 2; }
size_t tile_rows(const Convolution& c) { return c.batch * tiles_down(c); }
size_t depth_step(const Convolution& c) { return even_step(c.channels, PACKED_KC, PREFETCH_STEP); }
size_t area(const Convolution& c) { return static_cast<size_t>(c.height * c.width); }
size_t out_area(const Convolution& c) { return static_cast<size_t>(c.out_height * c.out_width); }

// Rows of so many tiles that operands of `bytes` stay in a cache, within limits.
size_t rows_of(const Convolution& c, size_t bytes, size_t fewest, size_t most) {
    const size_t each = PLACES * (c.channels + c.features) * sizeof(float);
    const size_t wanted = bytes / each, tiles = wanted < fewest ? fewest : least(wanted, most);
    const size_t rows = tiles / tiles_across(c);
    return even_step(tile_rows(c), rows < 1 ? 1 : rows, 1);
}
size_t block(const Convolution& c) { return rows_of(c, size_t{1} << 21, 96, 512); }
size_t gradient_block(const Convolution& c) { return rows_of(c, size_t{1} << 22, 192, PACKED_KC); }

// Elements between a line of tiles and the next, which another thread may write: vectors are written past a line's end.
size_t line_step(const Convolution& c, size_t rows) { return round_up(rows * tiles_across(c), 16) + 16; }
// Elements between one place of a tile and the next, such that the places of one tile lie in different sets of a cache.
constexpr size_t SKEW = 48;
size_t place_step(const Convolution& c, size_t lines, size_t rows) { return lines * line_step(c, rows) + SKEW; }
size_t packed_step(const Convolution& c) { return round_up(round_up(c.features, MR) * c.channels, 16) + SKEW; }
size_t sums_step(const Convolution& c) { return round_up(c.features * c.channels, 16) + SKEW; }
size_t operand(const Convolution& c, size_t lines, size_t rows) {
    return round_up(PLACES * place_step(c, lines, rows), 16);
}

// Even and odd elements of two vectors that follow each other.
template <typename V>
MINDTORCH_INLINE V even(const V& a, const V& b) {
    if constexpr (sizeof(V) == 64)
        return shuffle<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(a, b);
    else if constexpr (sizeof(V) == 32)
        return shuffle<0, 2, 4, 6, 8, 10, 12, 14>(a, b);
    else
        return shuffle<0, 2, 4, 6>(a, b);
}
template <typename V>
MINDTORCH_INLINE V odd(const V& a, const V& b) {
    if constexpr (sizeof(V) == 64)
        return shuffle<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(a, b);
    else if constexpr (sizeof(V) == 32)
        return shuffle<1, 3, 5, 7, 9, 11, 13, 15>(a, b);
    else
        return shuffle<1, 3, 5, 7>(a, b);
}
// The elements of two vectors in turn: the first vector of the two that they make, and the second.
template <typename V>
MINDTORCH_INLINE V in_turn_first(const V& a, const V& b) {
    if constexpr (sizeof(V) == 64)
        return shuffle<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b);
    else if constexpr (sizeof(V) == 32)
        return shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
    else
        return shuffle<0, 4, 1, 5>(a, b);
}
template <typename V>
MINDTORCH_INLINE V in_turn_second(const V& a, const V& b) {
    if constexpr (sizeof(V) == 64)
        return shuffle<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b);
    else if constexpr (sizeof(V) == 32)
        return shuffle<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
    else
        return shuffle<2, 6, 3, 7>(a, b);
}

// A run of a block's rows of tiles that lie in one image: where its tiles begin among the block's.
struct Run {
    size_t image, from, rows, tile;
};

// The run that begins `done` rows after row `row`.
MINDTORCH_INLINE Run run_of(const Convolution& c, size_t row, size_t rows, size_t done) {
    const size_t down = tiles_down(c), from = (row + done) % down;
    return {(row + done) / down, from, least(rows - done, down - from), done * tiles_across(c)};
}

// Lines of one run: rows of images by their parity, and of each the four values of a tile's row. So a tile's value has
// the same place in every line, and those of the row of tiles below it lie `tiles_across` further.
struct Lines {
    float* at;
    size_t step;
    MINDTORCH_INLINE float* line(size_t parity, size_t value) const { return at + (parity * 4 + value) * step; }
};
size_t lines_step(const Convolution& c, size_t rows) { return (rows + 1) * tiles_across(c) + WIDTH; }
size_t padded_width(const Convolution& c) { return 2 * tiles_across(c) + 2 + 4 * WIDTH; }
size_t line_scratch(const Convolution& c, size_t rows) {
    return round_up(8 * lines_step(c, rows) + padded_width(c), 16);
}

void clear(float* to, size_t count) { memset(to, 0, count * sizeof(float)); }

// What a row of an image gives a row of tiles.
void transform_row(const Lines& lines, size_t parity, size_t at, const float* row, size_t tiles) {
    for (size_t t = 0; t < tiles; t += WIDTH) {
        const Vector a = read(row + 2 * t), b = read(row + 2 * t + WIDTH), d = read(row + 2 * t + 2),
                     e = read(row + 2 * t + WIDTH + 2);
        const Vector first = even(a, b), second = odd(a, b), third = even(d, e), fourth = odd(d, e);
        write(lines.line(parity, 0) + at + t, first - third);
        write(lines.line(parity, 1) + at + t, second + third);
        write(lines.line(parity, 2) + at + t, third - second);
        write(lines.line(parity, 3) + at + t, second - fourth);
    }
}

// A channel's tiles of four by four, which overlap by two.
void channel(const Convolution& c, float* to, const float* in, size_t group, size_t channel, size_t row, size_t rows,
             float* scratch) {
    const size_t across = tiles_across(c), step = place_step(c, c.channels, rows);
    const Lines lines = {scratch + padded_width(c), lines_step(c, rows)};
    clear(scratch, padded_width(c));
    to += channel * line_step(c, rows);
    for (size_t done = 0; done < rows;) {
        const Run run = run_of(c, row, rows, done);
        const float* plane = in + ((run.image * c.groups + group) * c.channels + channel) * area(c);
        for (size_t r = 0; r < 2 * run.rows + 2; r++) {
            const ptrdiff_t y = static_cast<ptrdiff_t>(2 * run.from + r) - c.padding[0];
            const size_t at = r / 2 * across;
            if (y >= 0 && y < c.height) {
                memcpy(scratch + c.padding[1], plane + y * c.width, static_cast<size_t>(c.width) * sizeof(float));
                transform_row(lines, r % 2, at, scratch, across);
            } else {
                for (size_t value = 0; value < 4; value++) clear(lines.line(r % 2, value) + at, across);
            }
        }
        for (size_t t = 0; t < run.rows * across; t += WIDTH)
            for (size_t value = 0; value < 4; value++) {
                const float *even = lines.line(0, value) + t, *odd = lines.line(1, value) + t;
                const Vector first = read(even), second = read(odd), third = read(even + across),
                             fourth = read(odd + across);
                float* place = to + value * step + run.tile + t;
                write(place, first - third);
                write(place + 4 * step, second + third);
                write(place + 8 * step, third - second);
                write(place + 12 * step, second - fourth);
            }
        done += run.rows;
    }
}

// A feature's gradient: tiles of two by two, each of whose values a tile of the image saw.
void feature(const Convolution& c, float* to, const float* grad, size_t group, size_t feature, size_t row, size_t rows,
             float* scratch) {
    const size_t across = tiles_across(c), step = place_step(c, c.features, rows);
    const Lines lines = {scratch + padded_width(c), lines_step(c, rows)};
    clear(scratch, padded_width(c));
    to += feature * line_step(c, rows);
    for (size_t done = 0; done < rows;) {
        const Run run = run_of(c, row, rows, done);
        const float* plane = grad + ((run.image * c.groups + group) * c.features + feature) * out_area(c);
        for (size_t r = 0; r < 2 * run.rows; r++) {
            const ptrdiff_t y = static_cast<ptrdiff_t>(2 * run.from + r);
            const size_t at = r / 2 * across;
            if (y < c.out_height) {
                memcpy(scratch, plane + y * c.out_width, static_cast<size_t>(c.out_width) * sizeof(float));
                for (size_t t = 0; t < across; t += WIDTH) {
                    const Vector a = read(scratch + 2 * t), b = read(scratch + 2 * t + WIDTH);
                    write(lines.line(r % 2, 0) + at + t, even(a, b));
                    write(lines.line(r % 2, 1) + at + t, odd(a, b));
                }
            } else {
                for (size_t value = 0; value < 2; value++) clear(lines.line(r % 2, value) + at, across);
            }
        }
        for (size_t t = 0; t < run.rows * across; t += WIDTH) {
            const Vector corner[4] = {read(lines.line(0, 0) + t), read(lines.line(0, 1) + t),
                                      read(lines.line(1, 0) + t), read(lines.line(1, 1) + t)};
            const Vector down[4][2] = {{corner[0], corner[1]},
                                       {corner[0] + corner[2], corner[1] + corner[3]},
                                       {corner[0] - corner[2], corner[1] - corner[3]},
                                       {-corner[2], -corner[3]}};
            float* place = to + run.tile + t;
            for (size_t value = 0; value < 4; value++, place += 4 * step) {
                write(place, down[value][0]);
                write(place + step, down[value][0] + down[value][1]);
                write(place + 2 * step, down[value][0] - down[value][1]);
                write(place + 3 * step, -down[value][1]);
            }
        }
        done += run.rows;
    }
}

size_t packed(const Convolution& c) { return PLACES * packed_step(c); }
size_t sums(const Convolution& c) { return PLACES * sums_step(c); }

constexpr size_t TOGETHER = round_up(MR, 8);  // features whose windows are transformed at a time, in whole vectors

MINDTORCH_INLINE void transform_window(float (&to)[PLACES][TOGETHER], const float (&from)[9][TOGETHER]) {
    for (size_t i = 0; i < TOGETHER; i++) {
        float rows[4][3];
        for (size_t x = 0; x < 3; x++) {
            const float first = from[x][i], second = from[3 + x][i], third = from[6 + x][i];
            rows[0][x] = first;
            rows[1][x] = (first + second + third) * 0.5f;
            rows[2][x] = (first - second + third) * 0.5f;
            rows[3][x] = third;
        }
        for (size_t y = 0; y < 4; y++) {
            to[4 * y][i] = rows[y][0];
            to[4 * y + 1][i] = (rows[y][0] + rows[y][1] + rows[y][2]) * 0.5f;
            to[4 * y + 2][i] = (rows[y][0] - rows[y][1] + rows[y][2]) * 0.5f;
            to[4 * y + 3][i] = rows[y][2];
        }
    }
}

void pack_weights(const Convolution& c, float* to, const WinogradWeights& weights, size_t from, size_t end) {
    const size_t lines = round_up(c.features, MR), step = depth_step(c);
    float window[9][TOGETHER], values[PLACES][TOGETHER];
    for (size_t feature = from; feature < end; feature += MR) {
        const size_t features = least(MR, c.features - feature);
        memset(window, 0, sizeof window);
        for (size_t channel = 0; channel < c.channels; channel++) {
            for (size_t i = 0; i < features; i++) {
                const float* own = weights.data + static_cast<ptrdiff_t>(feature + i) * weights.feature +
                                   static_cast<ptrdiff_t>(channel) * weights.channel;
                for (size_t k = 0; k < 9; k++) window[k][i] = own[weights.turned ? 8 - k : k];
            }
            transform_window(values, window);
            const size_t begin = channel / step * step, depth = least(step, c.channels - begin);
            float* panel = to + begin * lines + feature * depth + (channel - begin) * MR;
            for (size_t place = 0; place < PLACES; place++)
                memcpy(panel + place * packed_step(c), values[place], MR * sizeof(float));
        }
    }
}

size_t panel_size(const Convolution& c) { return round_up(NR * depth_step(c), 16); }
size_t corner_size(const Convolution& c, size_t rows) { return round_up(rows * tiles_across(c) + WIDTH, 16); }

size_t scratch_for(const Convolution& c, size_t rows) {
    const size_t before = line_scratch(c, rows), after = 4 * corner_size(c, rows) + round_up(padded_width(c), 16);
    return operand(c, c.channels, rows) + operand(c, c.features, rows) + panel_size(c) +
           (before < after ? after : before);
}

// The products at one place of all tiles.
void multiply_place(const Convolution& c, float* out, const float* weights, const float* tiles, size_t rows,
                    float* panel) {
    const size_t lines = round_up(c.features, MR), step = depth_step(c), count = rows * tiles_across(c);
    const ptrdiff_t line = static_cast<ptrdiff_t>(line_step(c, rows));
    for (size_t k = 0; k < c.channels; k += step) {
        const size_t depth = least(step, c.channels - k);
        const Epilogue<float> epilogue = {1.0f, 0.0f, {nullptr, 0, 0}, k > 0};
        for (size_t at = 0; at < count; at += NR) {
            const size_t columns = least(NR, count - at);
            pack<NR>(panel, tiles + static_cast<ptrdiff_t>(k) * line + at, 1, line, columns, depth);
            multiply_block(out + at, line, weights + k * lines, panel, c.features, columns, depth, depth, epilogue);
        }
    }
}

// The four results of every tile of a run, each result's in a line; what is not finite makes `check` no number.
MINDTORCH_INLINE void results_of(const float* from, size_t step, size_t count, float* to, size_t line, float bias,
                                 Vector& check) {
    for (size_t t = 0; t < count; t += WIDTH, from += WIDTH) {
        Vector upper[4], lower[4];
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++) {
            const Vector first = read(from + x * step), second = read(from + (4 + x) * step),
                         third = read(from + (8 + x) * step), fourth = read(from + (12 + x) * step);
            upper[x] = first + second + third;
            lower[x] = second - third - fourth;
        }
        const Vector made[4] = {upper[0] + upper[1] + upper[2] + bias, upper[1] - upper[2] - upper[3] + bias,
                                lower[0] + lower[1] + lower[2] + bias, lower[1] - lower[2] - lower[3] + bias};
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) write(to + i * line + t, made[i]);
        const size_t rest = count - t;
        if (rest >= WIDTH)
            check += (made[0] + made[1] + (made[2] + made[3])) * 0.0f;
        else
            for (size_t i = 0; i < 4; i++)
                for (size_t lane = 0; lane < rest; lane++) check[lane] += made[i][lane] * 0.0f;
    }
}

MINDTORCH_INLINE bool no_number(const Vector& check) {
    bool found = false;
    for (size_t lane = 0; lane < WIDTH; lane++) found |= check[lane] != 0.0f;
    return found;
}

bool forward(const Convolution& c, float* out, const float* in, const float* weights, const float* bias, size_t group,
             size_t row, size_t rows, float* scratch) {
    const size_t across = tiles_across(c), corner = corner_size(c, rows);
    float *tiles = scratch, *products = tiles + operand(c, c.channels, rows),
          *panel = products + operand(c, c.features, rows), *lines = panel + panel_size(c);
    const size_t in_step = place_step(c, c.channels, rows), out_step = place_step(c, c.features, rows);
    for (size_t at = 0; at < c.channels; at++) channel(c, tiles, in, group, at, row, rows, lines);
    for (size_t place = 0; place < PLACES; place++)
        multiply_place(c, products + place * out_step, weights + place * packed_step(c), tiles + place * in_step, rows,
                       panel);
    Vector check = {};
    float* turn = lines + 4 * corner;
    for (size_t feature = 0; feature < c.features; feature++)
        for (size_t done = 0; done < rows;) {
            const Run run = run_of(c, row, rows, done);
            float* plane = out + ((run.image * c.groups + group) * c.features + feature) * out_area(c);
            results_of(products + feature * line_step(c, rows) + run.tile, out_step, run.rows * across, lines, corner,
                       bias == nullptr ? 0.0f : bias[group * c.features + feature], check);
            for (size_t r = 0; r < 2 * run.rows; r++) {
                const size_t y = 2 * run.from + r;
                if (y >= static_cast<size_t>(c.out_height)) break;
                const float* own = lines + r % 2 * 2 * corner + r / 2 * across;
                for (size_t t = 0; t < across; t += WIDTH) {
                    const Vector left = read(own + t), right = read(own + corner + t);
                    write(turn + 2 * t, in_turn_first(left, right));
                    write(turn + 2 * t + WIDTH, in_turn_second(left, right));
                }
                memcpy(plane + y * static_cast<size_t>(c.out_width), turn,
                       static_cast<size_t>(c.out_width) * sizeof(float));
            }
            done += run.rows;
        }
    return !no_number(check);
}

size_t sum_scratch(const Convolution& c, size_t features, size_t rows) {
    return round_up(scratch_size<float>(features, c.channels, rows * tiles_across(c)), 16);
}

void sum(const Convolution& c, float* sums, const float* features, const float* channels, size_t place, size_t from,
         size_t count, size_t rows, bool add, float* scratch) {
    const size_t tiles = rows * tiles_across(c);
    const ptrdiff_t line = static_cast<ptrdiff_t>(line_step(c, rows)), width = static_cast<ptrdiff_t>(c.channels);
    sums += place * sums_step(c) + from * c.channels;
    multiply<float>({count,
                     c.channels,
                     tiles,
                     {features + place * place_step(c, c.features, rows) + from * line_step(c, rows), line, 1},
                     {channels + place * place_step(c, c.channels, rows), 1, line},
                     sums,
                     width,
                     1,
                     1.0f,
                     1.0f,
                     {add ? sums : nullptr, width, 1}},
                    scratch);
}

bool gradient(const Convolution& c, float* weight_grad, const float* sums, size_t from, size_t to) {
    const size_t step = sums_step(c);
    Vector check = {};
    for (size_t at = from * c.channels; at < to * c.channels; at += WIDTH) {
        const size_t count = least(WIDTH, to * c.channels - at);
        float values[PLACES][WIDTH] = {}, made[9][WIDTH];
        for (size_t place = 0; place < PLACES; place++)
            memcpy(values[place], sums + place * step + at, count * sizeof(float));
        for (size_t i = 0; i < WIDTH; i++) {
            float rows[3][4];
            for (size_t x = 0; x < 4; x++) {
                const float second = values[4 + x][i] * 0.5f, third = values[8 + x][i] * 0.5f;
                rows[0][x] = values[x][i] + (second + third);
                rows[1][x] = second - third;
                rows[2][x] = second + third + values[12 + x][i];
            }
            for (size_t y = 0; y < 3; y++) {
                const float second = rows[y][1] * 0.5f, third = rows[y][2] * 0.5f;
                made[3 * y][i] = rows[y][0] + (second + third);
                made[3 * y + 1][i] = second - third;
                made[3 * y + 2][i] = second + third + rows[y][3];
            }
        }
        for (size_t k = 0; k < 9; k++) check += read(made[k]) * 0.0f;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < 9; k++) weight_grad[(at + i) * 9 + k] = made[k][i];
    }
    return !no_number(check);
}

}  // namespace

extern const WinogradLoops MINDTORCH_LOOPS(winograd_loops) = {
    MR,      tile_rows,    block,   packed,  pack_weights, scratch_for, forward, gradient_block,
    operand, line_scratch, channel, feature, sums,         sum_scratch, sum,     gradient};

}  // namespace mindtorch
