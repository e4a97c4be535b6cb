// The product of a few rows, which reads the large operand once and packs nothing. Included as gemm/microkernel.h is.
#pragma once

#include "gemm/microkernel.h"

namespace mindtorch {
namespace {

// The sum of a vector's lanes: its halves are added, and theirs.
template <typename Real, size_t BYTES>
MINDTORCH_INLINE Real total_of(const Real __attribute__((vector_size(BYTES))) & value) {
    if constexpr (BYTES == 2 * sizeof(Real)) {
        return value[0] + value[1];
    } else if constexpr (BYTES == 16) {
        return (value[0] + value[2]) + (value[1] + value[3]);
    } else {
        typedef Real Half __attribute__((vector_size(BYTES / 2)));
        Half low, high;
        memcpy(&low, &value, sizeof low);
        memcpy(&high, reinterpret_cast<const char*>(&value) + sizeof low, sizeof high);
        return total_of<Real, BYTES / 2>(low + high);
    }
}

template <typename Real>
MINDTORCH_INLINE Real total(const typename Simd<Real>::Vector& value) {
    return total_of<Real, VECTOR_BYTES>(value);
}

// ROWS rows of `left` times COLUMNS dense columns of `right`.
template <size_t ROWS, size_t COLUMNS, typename Real>
MINDTORCH_INLINE void inner_products(Real* sums, size_t sums_row, const Real* left, ptrdiff_t left_row,
                                     const Real* right, ptrdiff_t right_column, size_t depth) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    Vector accumulators[ROWS][COLUMNS] = {};
    size_t k = 0;
    if constexpr (ROWS * COLUMNS == 1) {  // one accumulator alone would wait for itself
        constexpr size_t CHAINS = 8;
        Vector parts[CHAINS] = {};
        for (; k + CHAINS * WIDTH <= depth; k += CHAINS * WIDTH)
#pragma GCC unroll 8
            for (size_t part = 0; part < CHAINS; part++)
                parts[part] += read(left + k + part * WIDTH) * read(right + k + part * WIDTH);
        for (size_t step = CHAINS / 2; step > 0; step /= 2)
            for (size_t part = 0; part < step; part++) parts[part] += parts[part + step];
        accumulators[0][0] = parts[0];
    }
    for (; k + WIDTH <= depth; k += WIDTH) {
        Vector x[ROWS];
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++) x[i] = read(left + static_cast<ptrdiff_t>(i) * left_row + k);
#pragma GCC unroll 8
        for (size_t j = 0; j < COLUMNS; j++) {
            const Vector y = read(right + static_cast<ptrdiff_t>(j) * right_column + k);
#pragma GCC unroll 8
            for (size_t i = 0; i < ROWS; i++) accumulators[i][j] += x[i] * y;
        }
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            Real sum = total<Real>(accumulators[i][j]);
            const Real *x = left + static_cast<ptrdiff_t>(i) * left_row,
                       *y = right + static_cast<ptrdiff_t>(j) * right_column;
            for (size_t at = k; at < depth; at++) sum += x[at] * y[at];
            sums[i * sums_row + j] = sum;
        }
}

template <size_t ROWS, typename Real>
void down_columns(const Product<Real>& p, Real* sums, size_t row, size_t column, size_t columns) {
    constexpr size_t TOGETHER = ROWS == 1 ? 8 : 4;
    const Real* left = p.left.data + static_cast<ptrdiff_t>(row) * p.left.row;
    size_t j = column;
    for (; j + TOGETHER <= column + columns; j += TOGETHER)
        inner_products<ROWS, TOGETHER>(sums + row * p.columns + j, p.columns, left, p.left.row,
                                       p.right.data + static_cast<ptrdiff_t>(j) * p.right.column, p.right.column,
                                       p.depth);
    for (; j < column + columns; j++)
        inner_products<ROWS, 1>(sums + row * p.columns + j, p.columns, left, p.left.row,
                                p.right.data + static_cast<ptrdiff_t>(j) * p.right.column, p.right.column, p.depth);
}

// `columns` of the sums of ROWS rows, plus the products of rows k.. of `right`.
template <size_t ROWS, size_t DEPTH, typename Real>
MINDTORCH_INLINE void add_rows(Real* sums, size_t sums_row, const Real* left, ptrdiff_t left_row, const Real* right,
                               ptrdiff_t right_row, size_t columns) {
    using Vector = typename Simd<Real>::Vector;
    constexpr size_t WIDTH = Simd<Real>::WIDTH;
    size_t j = 0;
    for (; j + WIDTH <= columns; j += WIDTH) {
        Vector values[ROWS];
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++) values[i] = read(sums + i * sums_row + j);
#pragma GCC unroll 8
        for (size_t k = 0; k < DEPTH; k++) {
            const Vector y = read(right + static_cast<ptrdiff_t>(k) * right_row + j);
#pragma GCC unroll 8
            for (size_t i = 0; i < ROWS; i++) values[i] += y * left[static_cast<ptrdiff_t>(i) * left_row + k];
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < ROWS; i++) write(sums + i * sums_row + j, values[i]);
    }
    for (; j < columns; j++)
        for (size_t i = 0; i < ROWS; i++) {
            Real value = sums[i * sums_row + j];
            for (size_t k = 0; k < DEPTH; k++)
                value +=
                    right[static_cast<ptrdiff_t>(k) * right_row + j] * left[static_cast<ptrdiff_t>(i) * left_row + k];
            sums[i * sums_row + j] = value;
        }
}

template <size_t DEPTH, typename Real>
MINDTORCH_INLINE void add_rows_to_all(const Product<Real>& p, Real* sums, size_t sums_row, size_t k, size_t column,
                                      size_t columns) {
    const Real* right = p.right.data + static_cast<ptrdiff_t>(k) * p.right.row + column;
    const Real* left = p.left.data + k;
    size_t row = 0;
    for (; row + 4 <= p.rows; row += 4)
        add_rows<4, DEPTH>(sums + row * sums_row, sums_row, left + static_cast<ptrdiff_t>(row) * p.left.row, p.left.row,
                           right, p.right.row, columns);
    for (; row < p.rows; row++)
        add_rows<1, DEPTH>(sums + row * sums_row, sums_row, left + static_cast<ptrdiff_t>(row) * p.left.row, p.left.row,
                           right, p.right.row, columns);
}

// Sums of a stretch of columns and a block of the depth at a time: short sums of sums are more exact than long ones.
template <typename Real>
void along_rows(const Product<Real>& p, Real* sums) {
    constexpr size_t STRETCH = 2048 / sizeof(Real);
    Real block[SKINNY * STRETCH];
    memset(sums, 0, p.rows * p.columns * sizeof(Real));
    for (size_t column = 0; column < p.columns; column += STRETCH) {
        const size_t columns = least(STRETCH, p.columns - column);
        for (size_t from = 0; from < p.depth; from += KC) {
            const size_t to = least(from + KC, p.depth);
            for (size_t row = 0; row < p.rows; row++) memset(block + row * STRETCH, 0, columns * sizeof(Real));
            size_t k = from;
            for (; k + 8 <= to; k += 8) add_rows_to_all<8>(p, block, STRETCH, k, column, columns);
            for (; k < to; k++) add_rows_to_all<1>(p, block, STRETCH, k, column, columns);
            for (size_t row = 0; row < p.rows; row++)
                for (size_t i = 0; i < columns; i++) sums[row * p.columns + column + i] += block[row * STRETCH + i];
        }
    }
}

// The result of a product from its sums. One function for all, so that all round alike.
template <typename Real>
__attribute__((noinline)) void write_sums(const Product<Real>& p, const Real* sums) {
    for (size_t row = 0; row < p.rows; row++)
        for (size_t column = 0; column < p.columns; column++) {
            const ptrdiff_t i = static_cast<ptrdiff_t>(row), j = static_cast<ptrdiff_t>(column);
            Real value = p.alpha * sums[row * p.columns + column];
            if (p.addend.data != nullptr) value += p.beta * p.addend.data[i * p.addend.row + j * p.addend.column];
            p.out[i * p.out_row + j * p.out_column] = value;
        }
}

template <typename Real>
void multiply_skinny(const Product<Real>& p, Real* sums) {
    if (p.right.row == 1 || p.depth == 1) {
        for (size_t column = 0; column < p.columns; column += 8) {
            const size_t columns = least(8, p.columns - column);
            size_t row = 0;
            for (; row + 4 <= p.rows; row += 4) down_columns<4>(p, sums, row, column, columns);
            for (; row + 2 <= p.rows; row += 2) down_columns<2>(p, sums, row, column, columns);
            for (; row < p.rows; row++) down_columns<1>(p, sums, row, column, columns);
        }
    } else {
        along_rows(p, sums);
    }
    write_sums(p, sums);
}

template <typename Real>
void multiply_tiny(const Batch<Real>& batch) {
    Product<Real> p = batch.first;
    Real sums[TINY];
    for (size_t at = 0; at < batch.count; at++) {
        for (size_t row = 0; row < p.rows; row++)
            for (size_t column = 0; column < p.columns; column++) {
                const Real* x = p.left.data + static_cast<ptrdiff_t>(row) * p.left.row;
                const Real* y = p.right.data + static_cast<ptrdiff_t>(column) * p.right.column;
                Real sum = 0;
                for (size_t k = 0; k < p.depth; k++, x += p.left.column, y += p.right.row) sum += *x * *y;
                sums[row * p.columns + column] = sum;
            }
        write_sums(p, sums);
        p.left.data += batch.left;
        p.right.data += batch.right;
        p.out += batch.out;
        if (p.addend.data != nullptr) p.addend.data += batch.addend;
    }
}

}  // namespace
}  // namespace mindtorch
