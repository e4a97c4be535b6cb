// The blocked matrix product: operands are packed into panels that fit the caches, tiles of the result stay in
// registers. Included by the loops that multiply; all of it is local to the file that includes it.
#pragma once

#include <string.h>

#include "gemm.h"

#define MINDTORCH_INLINE inline __attribute__((always_inline))

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

// Blocks: `DEPTH` of a panel in the first cache, `ROWS` by `DEPTH` in the second, `DEPTH` by `COLUMNS` in the third.
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

// The sums of one tile.
template <size_t ROWS, typename Real>
MINDTORCH_INLINE void sum_tile(typename Simd<Real>::Vector (&sums)[ROWS][2], const Real* left, const Real* right,
                               size_t depth) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    Vector chains[ROWS][2] = {};
    for (size_t k = 0; k < depth; k++, left += TILE_ROWS, right += 2 * WIDTH) {
        const Vector first = read(right), second = read(right + WIDTH);
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++) {
            chains[i][0] += first * left[i];
            chains[i][1] += second * left[i];
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < ROWS; i++) {
        sums[i][0] += chains[i][0];
        sums[i][1] += chains[i][1];
    }
}

// One tile of ROWS rows, of which `rows` and of its columns `columns` are wanted; `at` is its corner in the addend.
template <size_t ROWS, typename Real>
void tile(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows, size_t columns, size_t depth,
          const Finish<Real>& finish, const Real* at) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    Vector sums[ROWS][2] = {};
    for (size_t k = 0; k < depth; k += SUM_DEPTH)
        sum_tile<ROWS>(sums, left + k * TILE_ROWS, right + k * 2 * WIDTH, least(SUM_DEPTH, depth - k));
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

// A block of packed rows times a block of packed columns, of whose `right_depth` the first `depth` are taken.
template <typename Real>
void multiply_block(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows, size_t columns,
                    size_t depth, size_t right_depth, const Finish<Real>& finish) {
    constexpr size_t WIDE = Simd<Real>::TILE_COLUMNS;
    for (size_t column = 0; column < columns; column += WIDE) {
        const size_t columns_here = least(WIDE, columns - column);
        for (size_t row = 0; row < rows; row += TILE_ROWS) {
            const size_t rows_here = least(TILE_ROWS, rows - row);
            Real* to = out + static_cast<ptrdiff_t>(row) * out_row + column;
            const Real *a = left + row * depth, *b = right + column * right_depth, *at = finish.addend.data;
            if (at != nullptr)
                at += static_cast<ptrdiff_t>(row) * finish.addend.row +
                      static_cast<ptrdiff_t>(column) * finish.addend.column;
            if (rows_here <= (TILE_ROWS + 2) / 3)
                tile<(TILE_ROWS + 2) / 3>(to, out_row, a, b, rows_here, columns_here, depth, finish, at);
            else if (rows_here <= (2 * TILE_ROWS + 2) / 3)
                tile<(2 * TILE_ROWS + 2) / 3>(to, out_row, a, b, rows_here, columns_here, depth, finish, at);
            else
                tile<TILE_ROWS>(to, out_row, a, b, rows_here, columns_here, depth, finish, at);
        }
    }
}

template <typename Real>
size_t packed_rows(size_t rows, size_t depth) {
    return round_up(least(rows, BLOCK_ROWS), TILE_ROWS) * least(depth, BLOCK_DEPTH);
}

template <typename Real>
size_t scratch_size(size_t rows, size_t columns, size_t depth) {
    return round_up(packed_rows<Real>(rows, depth), 16) +
           round_up(least(columns, BLOCK_COLUMNS), Simd<Real>::TILE_COLUMNS) * least(depth, BLOCK_DEPTH);
}

template <typename Real>
void multiply(const Product<Real>& p, Real* scratch) {
    Real *rows_packed = scratch, *columns_packed = scratch + round_up(packed_rows<Real>(p.rows, p.depth), 16);
    for (size_t column = 0; column < p.columns; column += BLOCK_COLUMNS) {
        const size_t columns = least(BLOCK_COLUMNS, p.columns - column);
        size_t k = 0;
        do {
            const size_t depth = least(BLOCK_DEPTH, p.depth - k);
            const ptrdiff_t k_at = static_cast<ptrdiff_t>(k), column_at = static_cast<ptrdiff_t>(column);
            pack<Simd<Real>::TILE_COLUMNS>(columns_packed,
                                           p.right.data + k_at * p.right.row + column_at * p.right.column,
                                           p.right.column, p.right.row, columns, depth);
            for (size_t row = 0; row < p.rows; row += BLOCK_ROWS) {
                const size_t rows = least(BLOCK_ROWS, p.rows - row);
                const ptrdiff_t row_at = static_cast<ptrdiff_t>(row);
                pack<TILE_ROWS>(rows_packed, p.left.data + row_at * p.left.row + k_at * p.left.column, p.left.row,
                                p.left.column, rows, depth);
                Finish<Real> finish = {p.alpha, p.beta, p.addend, k > 0};
                if (p.addend.data != nullptr) finish.addend.data += row_at * p.addend.row + column_at * p.addend.column;
                multiply_block(p.out + row_at * p.out_row + column_at, p.out_row, rows_packed, columns_packed, rows,
                               columns, depth, depth, finish);
            }
            k += BLOCK_DEPTH;
        } while (k < p.depth);
    }
}

}  // namespace
}  // namespace mindtorch
