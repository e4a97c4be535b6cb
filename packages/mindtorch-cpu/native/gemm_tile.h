// The blocked matrix product: operands are packed into panels that fit the caches, tiles of the result stay in
// registers. Included by the loops that multiply; all of it is local to the file that includes it.
#pragma once

#include <string.h>

#include "gemm.h"

#define MINDTORCH_INLINE inline __attribute__((always_inline))
#define MINDTORCH_OWN_CODE __attribute__((noinline))

namespace mindtorch {
namespace {

#if defined(__AVX512F__)
constexpr size_t VECTOR_BYTES = 64, TILE_ROWS = 12;
#elif defined(__AVX__)
constexpr size_t VECTOR_BYTES = 32, TILE_ROWS = 6;
#elif defined(__aarch64__)
constexpr size_t VECTOR_BYTES = 16, TILE_ROWS = 8;
#else
constexpr size_t VECTOR_BYTES = 16, TILE_ROWS = 4;
#endif

// Rows packed at a time, of at most `ROW_BYTES` per element of the depth: they stay in the third cache while one panel
// of columns after the other, which stays in the second, goes past them. The result is read and written once per
// `DEPTH`.
constexpr size_t PACKED_DEPTH = 768, PACKED_ROW_BYTES = 3072;
// Blocks of loops that pack for themselves.
constexpr size_t BLOCK_DEPTH = 384, BLOCK_ROWS = 16 * TILE_ROWS, BLOCK_COLUMNS = 1024;
constexpr size_t SUM_DEPTH = 192;  // what is summed up in one chain: sums of short sums are more exact than a long one

template <typename Real>
struct Simd {
    typedef Real Vector __attribute__((vector_size(VECTOR_BYTES)));
    static constexpr size_t WIDTH = VECTOR_BYTES / sizeof(Real), TILE_COLUMNS = 2 * WIDTH;
};

template <typename Real>
MINDTORCH_INLINE typename Simd<Real>::Vector read(const Real* from) {
    typename Simd<Real>::Vector value;
    memcpy(&value, from, sizeof value);
    return value;
}

template <typename Real>
MINDTORCH_INLINE void write(Real* to, const typename Simd<Real>::Vector& value) {
    memcpy(to, &value, sizeof value);
}

constexpr size_t least(size_t a, size_t b) { return a < b ? a : b; }
constexpr size_t round_up(size_t count, size_t step) { return (count + step - 1) / step * step; }

typedef float Quad __attribute__((vector_size(16)));
typedef int QuadIndex __attribute__((vector_size(16)));

// Four by four floats, rows of `from` to columns of `to`.
MINDTORCH_INLINE void transpose(float* to, size_t to_step, const float* from, ptrdiff_t from_step) {
    Quad a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + from_step, sizeof b);
    memcpy(&c, from + 2 * from_step, sizeof c);
    memcpy(&d, from + 3 * from_step, sizeof d);
    const Quad ab = __builtin_shuffle(a, b, QuadIndex{0, 4, 1, 5}), cd = __builtin_shuffle(c, d, QuadIndex{0, 4, 1, 5});
    const Quad ba = __builtin_shuffle(a, b, QuadIndex{2, 6, 3, 7}), dc = __builtin_shuffle(c, d, QuadIndex{2, 6, 3, 7});
    const Quad first = __builtin_shuffle(ab, cd, QuadIndex{0, 1, 4, 5});
    const Quad second = __builtin_shuffle(ab, cd, QuadIndex{2, 3, 6, 7});
    const Quad third = __builtin_shuffle(ba, dc, QuadIndex{0, 1, 4, 5});
    const Quad fourth = __builtin_shuffle(ba, dc, QuadIndex{2, 3, 6, 7});
    memcpy(to, &first, sizeof first);
    memcpy(to + to_step, &second, sizeof first);
    memcpy(to + 2 * to_step, &third, sizeof first);
    memcpy(to + 3 * to_step, &fourth, sizeof first);
}

// A full panel of lines that are dense along the depth; false where there is no quick way.
template <size_t WIDTH>
MINDTORCH_INLINE bool pack_across(double*, const double*, ptrdiff_t, size_t) {
    return false;
}

// A cache line of every line at a time: at large steps the lines share a few sets of the cache.
template <size_t WIDTH>
MINDTORCH_INLINE bool pack_across(float* to, const float* from, ptrdiff_t step, size_t depth) {
    const size_t whole = depth / 4 * 4;
    for (size_t k = 0; k < whole; k += 16) {
        const size_t end = least(k + 16, whole);
        size_t i = 0;
        for (; i + 4 <= WIDTH; i += 4)
            for (size_t at = k; at < end; at += 4)
                transpose(to + at * WIDTH + i, WIDTH, from + static_cast<ptrdiff_t>(i) * step + at, step);
        for (; i < WIDTH; i++)
            for (size_t at = k; at < end; at++) to[at * WIDTH + i] = from[static_cast<ptrdiff_t>(i) * step + at];
    }
    for (size_t k = whole; k < depth; k++)
        for (size_t i = 0; i < WIDTH; i++) to[k * WIDTH + i] = from[static_cast<ptrdiff_t>(i) * step + k];
    return true;
}

// Pack `count` lines of `depth` elements as panels of WIDTH lines, element by element of the depth; the last panel is
// filled with zeros. `line` leads from line to line, `along` down the depth.
template <size_t WIDTH, typename Real>
void pack(Real* to, const Real* from, ptrdiff_t line, ptrdiff_t along, size_t count, size_t depth) {
    for (size_t first = 0; first < count; first += WIDTH, to += WIDTH * depth, from += WIDTH * line) {
        const size_t lines = least(WIDTH, count - first);
        if (lines == WIDTH && line == 1) {
            for (size_t k = 0; k < depth; k++)
                memcpy(to + k * WIDTH, from + static_cast<ptrdiff_t>(k) * along, WIDTH * sizeof(Real));
        } else if (lines < WIDTH || along != 1 || !pack_across<WIDTH>(to, from, line, depth)) {
            for (size_t k = 0; k < depth; k++)
                for (size_t i = 0; i < WIDTH; i++)
                    to[k * WIDTH + i] = i < lines
                                            ? from[static_cast<ptrdiff_t>(i) * line + static_cast<ptrdiff_t>(k) * along]
                                            : Real(0);
        }
    }
}

// What becomes of a tile's sums: out = alpha * sums + beta * addend, or added to what is there.
template <typename Real>
struct Finish {
    Real alpha, beta;
    Matrix<Real> addend;
    bool again;
};

template <typename Real>
MINDTORCH_INLINE typename Simd<Real>::Vector addend_part(const Finish<Real>& finish, const Real* from) {
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    typename Simd<Real>::Vector value = {};
    if (finish.addend.column == 1) return read(from) * finish.beta;
    for (size_t i = 0; i < WIDTH; i++) value[i] = from[static_cast<ptrdiff_t>(i) * finish.addend.column];
    return value * finish.beta;
}

template <typename Real>
void finish_row(Real* out, const Real* sums, size_t columns, const Finish<Real>& finish, const Real* addend) {
    for (size_t i = 0; i < columns; i++) {
        const Real value = sums[i] * finish.alpha;
        if (finish.again)
            out[i] += value;
        else if (finish.addend.data != nullptr)
            out[i] = value + finish.beta * addend[static_cast<ptrdiff_t>(i) * finish.addend.column];
        else
            out[i] = value;
    }
}

// Memory that will be read soon: runs of whole cache lines, of which `each` are asked for at a time.
struct Ahead {
    const char* at = nullptr;  // the run at hand
    ptrdiff_t step = 0;        // to the next one
    size_t run = 0, left = 0;  // lines of a run, and of the one at hand that were not asked for
    size_t each = 0;
};

constexpr size_t LINE = 64;
constexpr size_t ASKING = 16;  // how far along the depth a tile goes between one asking and the next

MINDTORCH_INLINE void ask(Ahead& ahead) {
    for (size_t i = 0; i < ahead.each; i++) {
        __builtin_prefetch(ahead.at + (ahead.run - ahead.left) * LINE, 0, 2);
        if (--ahead.left == 0) {
            ahead.left = ahead.run;
            ahead.at += ahead.step;
        }
    }
}

// A matrix that is packed after `tiles` more tiles of `depth`; nothing where its elements are not dense either way.
template <typename Real>
Ahead ahead_of(const Matrix<Real>& matrix, size_t depth, size_t columns, size_t tiles) {
    Ahead ahead;
    if (matrix.row != 1 && matrix.column != 1) return ahead;
    const bool down = matrix.row == 1;
    const size_t runs = down ? columns : depth, bytes = (down ? depth : columns) * sizeof(Real);
    const size_t times = tiles * ((depth + ASKING - 1) / ASKING);
    ahead.at = reinterpret_cast<const char*>(matrix.data);
    ahead.step = (down ? matrix.column : matrix.row) * static_cast<ptrdiff_t>(sizeof(Real));
    ahead.run = ahead.left = (bytes + LINE - 1) / LINE;
    ahead.each = times > 0 ? (runs * ahead.run + times - 1) / times : 0;
    return ahead;
}

// Add products of the depth to a tile's chains of sums.
template <size_t ROWS, typename Real>
MINDTORCH_INLINE void lengthen(typename Simd<Real>::Vector (&chains)[ROWS][2], const Real* left, const Real* right,
                               size_t depth) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    for (; depth > 0; depth--, left += TILE_ROWS, right += 2 * WIDTH) {
        const Vector first = read(right), second = read(right + WIDTH);
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++) {
            chains[i][0] += first * left[i];
            chains[i][1] += second * left[i];
        }
    }
}

template <size_t ROWS, typename Vector>
MINDTORCH_INLINE void add_chains(Vector (&sums)[ROWS][2], const Vector (&chains)[ROWS][2]) {
#pragma GCC unroll 16
    for (size_t i = 0; i < ROWS; i++) {
        sums[i][0] += chains[i][0];
        sums[i][1] += chains[i][1];
    }
}

// The sums of one tile.
template <size_t ROWS, typename Real>
MINDTORCH_INLINE void sum_tile(typename Simd<Real>::Vector (&sums)[ROWS][2], const Real* left, const Real* right,
                               size_t depth) {
    typename Simd<Real>::Vector chains[ROWS][2] = {};
    lengthen<ROWS>(chains, left, right, depth);
    add_chains(sums, chains);
}

// The same, asking for what comes next meanwhile.
template <size_t ROWS, typename Real>
MINDTORCH_INLINE void sum_tile(typename Simd<Real>::Vector (&sums)[ROWS][2], const Real* left, const Real* right,
                               size_t depth, Ahead& ahead) {
    typename Simd<Real>::Vector chains[ROWS][2] = {};
    for (size_t k = 0; k < depth; k += ASKING) {
        ask(ahead);
        lengthen<ROWS>(chains, left + k * TILE_ROWS, right + k * Simd<Real>::TILE_COLUMNS, least(ASKING, depth - k));
    }
    add_chains(sums, chains);
}

// One tile of ROWS rows, of which `rows` and of its columns `columns` are wanted; `at` is its corner in the addend. A
// function of its own, as the compiler else keeps the sums in memory.
template <size_t ROWS, typename Real>
MINDTORCH_OWN_CODE void tile(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows,
                             size_t columns, size_t depth, const Finish<Real>& finish, const Real* at, Ahead& ahead) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    Vector sums[ROWS][2] = {};
    // What the tile is written to comes while it is summed.
    for (size_t i = 0; i < rows; i++)
        for (size_t byte = 0; byte < 2 * VECTOR_BYTES; byte += LINE)
            __builtin_prefetch(reinterpret_cast<char*>(out + static_cast<ptrdiff_t>(i) * out_row) + byte, 1);
    // The first chain is the sums: what is shallow has no other.
    const size_t first_depth = least(SUM_DEPTH, depth);
    for (size_t k = 0; k < first_depth; k += ASKING) {
        ask(ahead);
        lengthen<ROWS>(sums, left + k * TILE_ROWS, right + k * 2 * WIDTH, least(ASKING, first_depth - k));
    }
    for (size_t k = SUM_DEPTH; k < depth; k += SUM_DEPTH)
        sum_tile<ROWS>(sums, left + k * TILE_ROWS, right + k * 2 * WIDTH, least(SUM_DEPTH, depth - k), ahead);
    if (rows == ROWS && columns == 2 * WIDTH) {
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++, out += out_row, at += finish.addend.row) {
            Vector first = sums[i][0] * finish.alpha, second = sums[i][1] * finish.alpha;
            if (finish.again) {
                first += read(out);
                second += read(out + WIDTH);
            } else if (finish.addend.data != nullptr) {
                first += addend_part(finish, at);
                second += addend_part(finish, at + static_cast<ptrdiff_t>(WIDTH) * finish.addend.column);
            }
            write(out, first);
            write(out + WIDTH, second);
        }
        return;
    }
    Real lanes[ROWS][2 * WIDTH];
    memcpy(lanes, sums, sizeof lanes);
    for (size_t i = 0; i < rows; i++, out += out_row, at += finish.addend.row)
        finish_row(out, lanes[i], columns, finish, at);
}

// A tile whose rows are as many as `rows` need; `finish` is that of the corner of all tiles, the tile lies at row `row`
// and column `column` from there.
template <typename Real>
MINDTORCH_INLINE void any_tile(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t row,
                               size_t rows, size_t column, size_t columns, size_t depth, const Finish<Real>& finish,
                               Ahead& ahead) {
    constexpr size_t THIRD = (TILE_ROWS + 2) / 3, TWO_THIRDS = (2 * TILE_ROWS + 2) / 3;
    const ptrdiff_t row_at = static_cast<ptrdiff_t>(row), column_at = static_cast<ptrdiff_t>(column);
    const Real* at = finish.addend.data;
    if (at != nullptr) at += row_at * finish.addend.row + column_at * finish.addend.column;
    out += row_at * out_row + column_at;
    if (rows <= THIRD)
        tile<THIRD>(out, out_row, left, right, rows, columns, depth, finish, at, ahead);
    else if (rows <= TWO_THIRDS)
        tile<TWO_THIRDS>(out, out_row, left, right, rows, columns, depth, finish, at, ahead);
    else
        tile<TILE_ROWS>(out, out_row, left, right, rows, columns, depth, finish, at, ahead);
}

// A block of packed rows times a block of packed columns, of whose `right_depth` the first `depth` are taken.
template <typename Real>
void multiply_block(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows, size_t columns,
                    size_t depth, size_t right_depth, const Finish<Real>& finish, Ahead ahead = {}) {
    constexpr size_t WIDE = Simd<Real>::TILE_COLUMNS;
    for (size_t column = 0; column < columns; column += WIDE)
        for (size_t row = 0; row < rows; row += TILE_ROWS)
            any_tile(out, out_row, left + row * depth, right + column * right_depth, row, least(TILE_ROWS, rows - row),
                     column, least(WIDE, columns - column), depth, finish, ahead);
}

// `count` in as few equal steps of at most `most` as there can be, each a multiple of `unit`.
constexpr size_t even_step(size_t count, size_t most, size_t unit) {
    const size_t steps = (count + most - 1) / most;
    return steps < 2 ? count : round_up((count + steps - 1) / steps, unit);
}

template <typename Real>
size_t rows_together(size_t rows) {
    return even_step(rows, PACKED_ROW_BYTES / sizeof(Real), TILE_ROWS);
}

constexpr size_t depth_together(size_t depth) { return even_step(depth, PACKED_DEPTH, ASKING); }

template <typename Real>
size_t packed_rows(size_t rows, size_t depth) {
    return round_up(round_up(rows_together<Real>(rows), TILE_ROWS) * depth_together(depth), 16);
}

template <typename Real>
size_t scratch_size(size_t rows, size_t, size_t depth) {
    return packed_rows<Real>(rows, depth) + Simd<Real>::TILE_COLUMNS * depth_together(depth);
}

// Packed rows times the columns of `p`, which are packed a panel at a time; the next one is asked for meanwhile.
template <typename Real>
void multiply_panels(const Product<Real>& p, const Real* rows_packed, Real* panel, const Finish<Real>& finish) {
    constexpr size_t WIDE = Simd<Real>::TILE_COLUMNS;
    const size_t tiles = (p.rows + TILE_ROWS - 1) / TILE_ROWS;
    Matrix<Real> right = p.right;
    Finish<Real> own = finish;
    for (size_t column = 0; column < p.columns; column += WIDE) {
        const size_t columns = least(WIDE, p.columns - column), rest = p.columns - column - columns;
        pack<WIDE>(panel, right.data, right.column, right.row, columns, p.depth);
        right.data += static_cast<ptrdiff_t>(WIDE) * right.column;
        multiply_block(p.out + column, p.out_row, rows_packed, panel, p.rows, columns, p.depth, p.depth, own,
                       rest > 0 ? ahead_of(right, p.depth, least(WIDE, rest), tiles) : Ahead());
        if (own.addend.data != nullptr) own.addend.data += static_cast<ptrdiff_t>(WIDE) * own.addend.column;
    }
}

template <typename Real>
void multiply(const Product<Real>& p, Real* scratch) {
    const size_t rows_step = rows_together<Real>(p.rows), depth_step = depth_together(p.depth);
    Real* panel = scratch + packed_rows<Real>(p.rows, p.depth);
    for (size_t row = 0; row < p.rows; row += rows_step) {
        const ptrdiff_t row_at = static_cast<ptrdiff_t>(row);
        size_t k = 0;
        do {
            const ptrdiff_t k_at = static_cast<ptrdiff_t>(k);
            Product<Real> part = p;
            part.rows = least(rows_step, p.rows - row);
            part.depth = least(depth_step, p.depth - k);
            part.right.data += k_at * p.right.row;
            part.out += row_at * p.out_row;
            Finish<Real> finish = {p.alpha, p.beta, p.addend, k > 0};
            if (p.addend.data != nullptr) finish.addend.data += row_at * p.addend.row;
            pack<TILE_ROWS>(scratch, p.left.data + row_at * p.left.row + k_at * p.left.column, p.left.row,
                            p.left.column, part.rows, part.depth);
            multiply_panels(part, scratch, panel, finish);
            k += depth_step;
        } while (k < p.depth);
    }
}

}  // namespace
}  // namespace mindtorch
