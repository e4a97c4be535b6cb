// The blocked matrix product: operands are packed into panels that fit the caches, tiles of the result stay in
// registers. Included by the loops that multiply; all of it is local to the file that includes it.
#pragma once

#include "gemm/pack.h"

namespace mindtorch {
namespace {

// What becomes of a tile's sums: out = alpha * sums + beta * addend, or added to what is there.
template <typename Real>
struct Epilogue {
    Real alpha, beta;
    Matrix<Real> addend;
    bool accumulate_out;
};

template <typename Real>
MINDTORCH_INLINE typename Simd<Real>::Vector addend_part(const Epilogue<Real>& epilogue, const Real* from) {
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    typename Simd<Real>::Vector value = {};
    if (epilogue.addend.column == 1) return read(from) * epilogue.beta;
    for (size_t i = 0; i < WIDTH; i++) value[i] = from[static_cast<ptrdiff_t>(i) * epilogue.addend.column];
    return value * epilogue.beta;
}

template <typename Real>
void epilogue_row(Real* out, const Real* sums, size_t columns, const Epilogue<Real>& epilogue, const Real* addend) {
    for (size_t i = 0; i < columns; i++) {
        const Real value = sums[i] * epilogue.alpha;
        if (epilogue.accumulate_out)
            out[i] += value;
        else if (epilogue.addend.data != nullptr)
            out[i] = value + epilogue.beta * addend[static_cast<ptrdiff_t>(i) * epilogue.addend.column];
        else
            out[i] = value;
    }
}

// Memory that will be read soon: runs of whole cache lines, of which `each` are asked for at a time.
struct Prefetch {
    const char* at = nullptr;  // the run at hand
    ptrdiff_t step = 0;        // to the next one
    size_t run = 0, left = 0;  // lines of a run, and of the one at hand that were not asked for
    size_t each = 0;
};

constexpr size_t LINE = 64;
constexpr size_t PREFETCH_STEP = 16;  // how far along the depth a tile goes between one asking and the next

MINDTORCH_INLINE void prefetch_lines(Prefetch& prefetch) {
    for (size_t i = 0; i < prefetch.each; i++) {
        __builtin_prefetch(prefetch.at + (prefetch.run - prefetch.left) * LINE, 0, 2);
        if (--prefetch.left == 0) {
            prefetch.left = prefetch.run;
            prefetch.at += prefetch.step;
        }
    }
}

// A matrix that is packed after `tiles` more tiles of `depth`; nothing where its elements are not dense either way.
template <typename Real>
Prefetch prefetch_of(const Matrix<Real>& matrix, size_t depth, size_t columns, size_t tiles) {
    Prefetch prefetch;
    if (matrix.row != 1 && matrix.column != 1) return prefetch;
    const bool down = matrix.row == 1;
    const size_t runs = down ? columns : depth, bytes = (down ? depth : columns) * sizeof(Real);
    const size_t times = tiles * ((depth + PREFETCH_STEP - 1) / PREFETCH_STEP);
    prefetch.at = reinterpret_cast<const char*>(matrix.data);
    prefetch.step = (down ? matrix.column : matrix.row) * static_cast<ptrdiff_t>(sizeof(Real));
    prefetch.run = prefetch.left = (bytes + LINE - 1) / LINE;
    prefetch.each = times > 0 ? (runs * prefetch.run + times - 1) / times : 0;
    return prefetch;
}

// Add products of the depth to the accumulators of a tile of ROWS by VECTORS.
template <size_t ROWS, size_t VECTORS, typename Real>
MINDTORCH_INLINE void accumulate(typename Simd<Real>::Vector (&accumulators)[ROWS][VECTORS], const Real* left,
                                 const Real* right, size_t depth) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    for (; depth > 0; depth--, left += MR, right += 2 * WIDTH) {
        const Vector first = read(right), second = VECTORS > 1 ? read(right + WIDTH) : Vector{};
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++) {
            accumulators[i][0] += first * left[i];
            if (VECTORS > 1) accumulators[i][VECTORS - 1] += second * left[i];
        }
    }
}

template <size_t ROWS, size_t VECTORS, typename Vector>
MINDTORCH_INLINE void add_accumulators(Vector (&sums)[ROWS][VECTORS], const Vector (&accumulators)[ROWS][VECTORS]) {
#pragma GCC unroll 16
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < VECTORS; j++) sums[i][j] += accumulators[i][j];
}

// The sums of one tile.
template <size_t ROWS, size_t VECTORS, typename Real>
MINDTORCH_INLINE void sum_tile(typename Simd<Real>::Vector (&sums)[ROWS][VECTORS], const Real* left, const Real* right,
                               size_t depth) {
    typename Simd<Real>::Vector accumulators[ROWS][VECTORS] = {};
    accumulate<ROWS, VECTORS>(accumulators, left, right, depth);
    add_accumulators(sums, accumulators);
}

// The same, asking for what comes next meanwhile.
template <size_t ROWS, size_t VECTORS, typename Real>
MINDTORCH_INLINE void sum_tile(typename Simd<Real>::Vector (&sums)[ROWS][VECTORS], const Real* left, const Real* right,
                               size_t depth, Prefetch& prefetch) {
    typename Simd<Real>::Vector accumulators[ROWS][VECTORS] = {};
    for (size_t k = 0; k < depth; k += PREFETCH_STEP) {
        prefetch_lines(prefetch);
        accumulate<ROWS, VECTORS>(accumulators, left + k * MR, right + k * Simd<Real>::NR,
                                  least(PREFETCH_STEP, depth - k));
    }
    add_accumulators(sums, accumulators);
}

// One tile of ROWS rows and VECTORS vectors, of which `rows` and `columns` are wanted; `at` is its corner in the
// addend. A function of its own, as the compiler else keeps the sums in memory.
template <size_t ROWS, size_t VECTORS, typename Real>
MINDTORCH_OWN_CODE void tile(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows,
                             size_t columns, size_t depth, const Epilogue<Real>& epilogue, const Real* at,
                             Prefetch& prefetch) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    Vector sums[ROWS][VECTORS] = {};
    // What the tile is written to comes while it is summed.
    for (size_t i = 0; i < rows; i++)
        for (size_t byte = 0; byte < VECTORS * VECTOR_BYTES; byte += LINE)
            __builtin_prefetch(reinterpret_cast<char*>(out + static_cast<ptrdiff_t>(i) * out_row) + byte, 1);
    // The first accumulator is the sums: what is shallow has no other.
    const size_t first_depth = least(SUM_DEPTH, depth);
    for (size_t k = 0; k < first_depth; k += PREFETCH_STEP) {
        prefetch_lines(prefetch);
        accumulate<ROWS, VECTORS>(sums, left + k * MR, right + k * 2 * WIDTH, least(PREFETCH_STEP, first_depth - k));
    }
    for (size_t k = SUM_DEPTH; k < depth; k += SUM_DEPTH)
        sum_tile<ROWS, VECTORS>(sums, left + k * MR, right + k * 2 * WIDTH, least(SUM_DEPTH, depth - k), prefetch);
    if (rows == ROWS && columns == VECTORS * WIDTH) {
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++, out += out_row, at += epilogue.addend.row)
#pragma GCC unroll 2
            for (size_t j = 0; j < VECTORS; j++) {
                const size_t column = j * WIDTH;
                Vector value = sums[i][j] * epilogue.alpha;
                if (epilogue.accumulate_out)
                    value += read(out + column);
                else if (epilogue.addend.data != nullptr)
                    value += addend_part(epilogue, at + static_cast<ptrdiff_t>(column) * epilogue.addend.column);
                write(out + column, value);
            }
        return;
    }
    Real lanes[ROWS][VECTORS * WIDTH];
    memcpy(lanes, sums, sizeof lanes);
    for (size_t i = 0; i < rows; i++, out += out_row, at += epilogue.addend.row)
        epilogue_row(out, lanes[i], columns, epilogue, at);
}

// A tile whose rows are as many as `rows` need.
template <size_t VECTORS, typename Real>
MINDTORCH_INLINE void tile_of(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows,
                              size_t columns, size_t depth, const Epilogue<Real>& epilogue, const Real* at,
                              Prefetch& prefetch) {
    constexpr size_t THIRD = (MR + 2) / 3, TWO_THIRDS = (2 * MR + 2) / 3;
    if (rows <= THIRD)
        tile<THIRD, VECTORS>(out, out_row, left, right, rows, columns, depth, epilogue, at, prefetch);
    else if (rows <= TWO_THIRDS)
        tile<TWO_THIRDS, VECTORS>(out, out_row, left, right, rows, columns, depth, epilogue, at, prefetch);
    else
        tile<MR, VECTORS>(out, out_row, left, right, rows, columns, depth, epilogue, at, prefetch);
}

// A tile as large as it needs to be; `epilogue` is that of the corner of all tiles, the tile lies at row `row` and
// column `column` from there.
template <typename Real>
MINDTORCH_INLINE void any_tile(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t row,
                               size_t rows, size_t column, size_t columns, size_t depth, const Epilogue<Real>& epilogue,
                               Prefetch& prefetch) {
    const ptrdiff_t row_at = static_cast<ptrdiff_t>(row), column_at = static_cast<ptrdiff_t>(column);
    const Real* at = epilogue.addend.data;
    if (at != nullptr) at += row_at * epilogue.addend.row + column_at * epilogue.addend.column;
    out += row_at * out_row + column_at;
    if (columns <= Simd<Real>::WIDTH)
        tile_of<1>(out, out_row, left, right, rows, columns, depth, epilogue, at, prefetch);
    else
        tile_of<2>(out, out_row, left, right, rows, columns, depth, epilogue, at, prefetch);
}

// A block of packed rows times a block of packed columns, of whose `right_depth` the first `depth` are taken.
template <typename Real>
void multiply_block(Real* out, ptrdiff_t out_row, const Real* left, const Real* right, size_t rows, size_t columns,
                    size_t depth, size_t right_depth, const Epilogue<Real>& epilogue, Prefetch prefetch = {}) {
    constexpr size_t NR = Simd<Real>::NR;
    for (size_t column = 0; column < columns; column += NR)
        for (size_t row = 0; row < rows; row += MR)
            any_tile(out, out_row, left + row * depth, right + column * right_depth, row, least(MR, rows - row), column,
                     least(NR, columns - column), depth, epilogue, prefetch);
}

// `count` in as few equal steps of at most `most` as there can be, each a multiple of `unit`.
constexpr size_t even_step(size_t count, size_t most, size_t unit) {
    const size_t steps = (count + most - 1) / most;
    return steps < 2 ? count : round_up((count + steps - 1) / steps, unit);
}

template <typename Real>
size_t rows_together(size_t rows) {
    return even_step(rows, PACKED_MC_BYTES / sizeof(Real), MR);
}

constexpr size_t depth_together(size_t depth) { return even_step(depth, PACKED_KC, PREFETCH_STEP); }

template <typename Real>
size_t packed_rows(size_t rows, size_t depth) {
    return round_up(round_up(rows_together<Real>(rows), MR) * depth_together(depth), 16);
}

template <typename Real>
size_t scratch_size(size_t rows, size_t, size_t depth) {
    return packed_rows<Real>(rows, depth) + Simd<Real>::NR * depth_together(depth);
}

// Packed rows times the columns of `p`, which are packed a panel at a time; the next one is asked for meanwhile.
template <typename Real>
void multiply_panels(const Product<Real>& p, const Real* rows_packed, Real* panel, const Epilogue<Real>& epilogue) {
    constexpr size_t NR = Simd<Real>::NR;
    const size_t tiles = (p.rows + MR - 1) / MR;
    Matrix<Real> right = p.right;
    Epilogue<Real> own = epilogue;
    for (size_t column = 0; column < p.columns; column += NR) {
        const size_t columns = least(NR, p.columns - column), rest = p.columns - column - columns;
        pack<NR>(panel, right.data, right.column, right.row, columns, p.depth);
        right.data += static_cast<ptrdiff_t>(NR) * right.column;
        multiply_block(p.out + column, p.out_row, rows_packed, panel, p.rows, columns, p.depth, p.depth, own,
                       rest > 0 ? prefetch_of(right, p.depth, least(NR, rest), tiles) : Prefetch());
        if (own.addend.data != nullptr) own.addend.data += static_cast<ptrdiff_t>(NR) * own.addend.column;
    }
}

// A column times a row.
template <typename Real>
void multiply_outer(const Product<Real>& p) {
    const Epilogue<Real> epilogue = {p.alpha, p.beta, p.addend, false};
    constexpr size_t TOGETHER = 64;
    for (size_t row = 0; row < p.rows; row++) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(row);
        const Real factor = p.left.data[at * p.left.row];
        Real* out = p.out + at * p.out_row;
        if (p.addend.data == nullptr && p.alpha == Real(1)) {
            for (size_t j = 0; j < p.columns; j++) out[j] = factor * p.right.data[j];
            continue;
        }
        for (size_t j = 0; j < p.columns; j += TOGETHER) {
            const size_t columns = least(TOGETHER, p.columns - j);
            Real sums[TOGETHER];
            for (size_t i = 0; i < columns; i++) sums[i] = factor * p.right.data[j + i];
            const Real* addend = p.addend.data;
            if (addend != nullptr) addend += at * p.addend.row + static_cast<ptrdiff_t>(j) * p.addend.column;
            epilogue_row(out + j, sums, columns, epilogue, addend);
        }
    }
}

template <typename Real>
void multiply(const Product<Real>& p, Real* scratch) {
    if (p.depth == 1 && p.right.column == 1) return multiply_outer(p);
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
            Epilogue<Real> epilogue = {p.alpha, p.beta, p.addend, k > 0};
            if (p.addend.data != nullptr) epilogue.addend.data += row_at * p.addend.row;
            pack<MR>(scratch, p.left.data + row_at * p.left.row + k_at * p.left.column, p.left.row, p.left.column,
                     part.rows, part.depth);
            multiply_panels(part, scratch, panel, epilogue);
            k += depth_step;
        } while (k < p.depth);
    }
}

}  // namespace
}  // namespace mindtorch
