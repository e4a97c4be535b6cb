// Factors of small matrices by rows: every inner loop runs along a row.
#include "kernels/factor.h"

#include "kernels/number.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

// row -= factors times the rows of `others`; `step` elements from one to the next.
template <typename T>
INLINE void subtract_rows(T* row, const T* factors, const T* others, size_t count, size_t step, size_t columns) {
    size_t at = 0;
    for (; at + 4 <= count; at += 4) {
        const T a = factors[at], b = factors[at + 1], c = factors[at + 2], d = factors[at + 3];
        const T *first = others + at * step, *second = first + step, *third = second + step, *fourth = third + step;
        MINDTORCH_IVDEP
        for (size_t j = 0; j < columns; j++)
            row[j] = row[j] - a * first[j] - b * second[j] - c * third[j] - d * fourth[j];
    }
    for (; at < count; at++) {
        const T factor = factors[at];
        const T* other = others + at * step;
        MINDTORCH_IVDEP
        for (size_t j = 0; j < columns; j++) row[j] = row[j] - factor * other[j];
    }
}

// The sum of the products of two lines, in eight sums side by side.
template <typename T>
INLINE T sum_of_products(const T* a, const T* b, size_t count) {
    constexpr size_t SUMS = 8;
    T sums[SUMS] = {}, rest{};
    size_t at = 0;
    for (; at + SUMS <= count; at += SUMS)
        for (size_t j = 0; j < SUMS; j++) sums[j] = sums[j] + a[at + j] * b[at + j];
    for (; at < count; at++) rest = rest + a[at] * b[at];
    return rest + (((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])));
}

template <typename T>
INLINE void exchange_rows(T* a, T* b, size_t columns) {
    MINDTORCH_IVDEP
    for (size_t j = 0; j < columns; j++) {
        const T kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

// The first row, from `from` on, whose element of the column is largest. A nan is never larger, nor is one found.
template <typename T>
INLINE size_t pivot_row(const T* matrix, size_t from, size_t rows, size_t columns) {
    size_t found = from;
    auto most = pivot_size(matrix[from * columns + from]);
    for (size_t i = from + 1; i < rows; i++) {
        const auto size = pivot_size(matrix[i * columns + from]);
        if (size > most) {
            most = size;
            found = i;
        }
    }
    return found;
}

template <typename T>
INLINE int factor_lu(T* matrix, size_t rows, size_t columns, int* pivots) {
    const size_t least = rows < columns ? rows : columns;
    int status = 0;
    for (size_t k = 0; k < least; k++) {
        const size_t found = pivot_row(matrix, k, rows, columns);
        T* own = matrix + k * columns;
        pivots[k] = (int)found + 1;
        if (found != k) exchange_rows(own, matrix + found * columns, columns);
        const T pivot = own[k];
        if (pivot_size(pivot) == 0) {
            if (status == 0) status = (int)k + 1;
            continue;
        }
        for (size_t i = k + 1; i < rows; i++) {
            T* row = matrix + i * columns;
            const T factor = row[k] / pivot;
            row[k] = factor;
            MINDTORCH_IVDEP
            for (size_t j = k + 1; j < columns; j++) row[j] = row[j] - factor * own[j];
        }
    }
    return status;
}

template <typename T>
int lu(void* given, size_t rows, size_t columns, int* pivots) {
    T* matrix = static_cast<T*>(given);
    if (rows == columns) {  // the smallest ones unrolled
        if (columns == 2) return factor_lu(matrix, 2, 2, pivots);
        if (columns == 3) return factor_lu(matrix, 3, 3, pivots);
        if (columns == 4) return factor_lu(matrix, 4, 4, pivots);
    }
    return factor_lu(matrix, rows, columns, pivots);
}

// Row by row: what the rows above leave of a row, divided by the root of its first.
template <typename T>
int cholesky(void* given, size_t size) {
    T* matrix = static_cast<T*>(given);
    T factors[MOST_SMALL];
    for (size_t i = 0; i < size; i++) {
        T* row = matrix + i * size;
        for (size_t k = 0; k < i; k++) factors[k] = conjugate_of(matrix[k * size + i]);
        subtract_rows(row + i, factors, matrix + i, i, size, size - i);
        const auto square = real_of(row[i]);
        if (!(square > 0)) return (int)i + 1;
        const auto root = root_of(square);
        row[i] = number_of<T>(root);
        MINDTORCH_IVDEP
        for (size_t j = i + 1; j < size; j++) row[j] = divided(row[j], root);
        for (size_t j = 0; j < i; j++) row[j] = T{};
    }
    return 0;
}

template <typename T>
INLINE void divide_row(T* row, const T& by, size_t columns) {
    MINDTORCH_IVDEP
    for (size_t j = 0; j < columns; j++) row[j] = row[j] / by;
}

template <typename T>
INLINE void solve_columns(T* right, size_t columns, const T* matrix, size_t size, bool upper, bool unit) {
    for (size_t step = 0; step < size; step++) {
        const size_t i = upper ? size - 1 - step : step, from = upper ? i + 1 : 0, count = upper ? step : i;
        T* row = right + i * columns;
        const T *factors = matrix + i * size + from, *others = right + from * columns;
        if (columns == 1)
            row[0] = row[0] - sum_of_products(factors, others, count);
        else
            subtract_rows(row, factors, others, count, columns, columns);
        if (!unit) divide_row(row, matrix[i * size + i], columns);
    }
}

// Columns that do not fill a vector are solved among others, which stay zero.
template <typename T, size_t wide>
void solve_widened(T* right, size_t columns, const T* matrix, size_t size, bool upper, bool unit) {
    T widened[MOST_SMALL * wide];
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < wide; j++) widened[i * wide + j] = j < columns ? right[i * columns + j] : T{};
    solve_columns(widened, wide, matrix, size, upper, unit);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < columns; j++) right[i * columns + j] = widened[i * wide + j];
}

template <typename T>
void solve(void* given, size_t columns, const void* factors, size_t size, bool upper, bool unit) {
    T* right = static_cast<T*>(given);
    const T* matrix = static_cast<const T*>(factors);
    if (columns == size) {
        if (size == 2) return solve_columns(right, 2, matrix, 2, upper, unit);
        if (size == 3) return solve_columns(right, 3, matrix, 3, upper, unit);
        if (size == 4) return solve_columns(right, 4, matrix, 4, upper, unit);
    }
    if (columns == 1) return solve_columns(right, 1, matrix, size, upper, unit);
    if (size >= 8 && columns < 4) return solve_widened<T, 4>(right, columns, matrix, size, upper, unit);
    if (size >= 8 && columns < 8) return solve_widened<T, 8>(right, columns, matrix, size, upper, unit);
    if (size >= 8 && columns < 16) return solve_widened<T, 16>(right, columns, matrix, size, upper, unit);
    solve_columns(right, columns, matrix, size, upper, unit);
}

template <typename T>
void exchange(void* given, size_t columns, const int* pivots, size_t size, bool backwards) {
    T* right = static_cast<T*>(given);
    for (size_t step = 0; step < size; step++) {
        const size_t i = backwards ? size - 1 - step : step, other = (size_t)pivots[i] - 1;
        if (other != i) exchange_rows(right + i * columns, right + other * columns, columns);
    }
}

template <typename T>
void identity(void* given, size_t size) {
    T* matrix = static_cast<T*>(given);
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < size; j++) matrix[i * size + j] = T{};
        matrix[i * size + i] = number_of<T>(1);
    }
}

bool is_odd(const int* pivots, size_t size) {
    bool odd = false;
    for (size_t i = 0; i < size; i++) odd ^= pivots[i] != (int)i + 1;
    return odd;
}

template <typename T>
void determinant(void* out, const void* given, const int* pivots, size_t size) {
    const T* factors = static_cast<const T*>(given);
    T product = number_of<T>(1);
    for (size_t i = 0; i < size; i++) product = product * factors[i * size + i];
    *static_cast<T*>(out) = is_odd(pivots, size) ? -product : product;
}

template <typename T>
void log_determinant(void* sign, void* size, const void* given, const int* pivots, size_t extent) {
    using Real = typename Number<T>::Real;
    const T* factors = static_cast<const T*>(given);
    T direction = number_of<T>(1);
    Real sum = 0;
    for (size_t i = 0; i < extent; i++) {
        const T x = factors[i * extent + i];
        const Real length = length_of(x);
        if constexpr (Number<T>::COMPLEX) {
            const Real by = length == 0 ? 1 : length;
            direction = direction * T{x.re / by, x.im / by};
        } else {
            direction = x != x ? x : direction * (T)((x > 0) - (x < 0));
        }
        sum += logarithm_of(length);
    }
    *static_cast<T*>(sign) = is_odd(pivots, extent) ? -direction : direction;
    *static_cast<Real*>(size) = sum;
}

template <typename T>
void read(void* given, const char* from, ptrdiff_t row_step, ptrdiff_t column_step, size_t rows, size_t columns,
          bool conjugate) {
    T* to = static_cast<T*>(given);
    for (size_t i = 0; i < rows; i++, to += columns) {
        const char* row = from + (ptrdiff_t)i * row_step;
        if (column_step == (ptrdiff_t)sizeof(T))
            for (size_t j = 0; j < columns; j++) to[j] = reinterpret_cast<const T*>(row)[j];
        else
            for (size_t j = 0; j < columns; j++) to[j] = *reinterpret_cast<const T*>(row + (ptrdiff_t)j * column_step);
        if (Number<T>::COMPLEX && conjugate)
            for (size_t j = 0; j < columns; j++) to[j] = conjugate_of(to[j]);
    }
}

template <typename T>
void write(char* to, ptrdiff_t row_step, ptrdiff_t column_step, const void* given, size_t rows, size_t columns,
           bool conjugate) {
    const T* from = static_cast<const T*>(given);
    const bool conjugated = Number<T>::COMPLEX && conjugate;
    for (size_t i = 0; i < rows; i++, from += columns) {
        char* row = to + (ptrdiff_t)i * row_step;
        for (size_t j = 0; j < columns; j++)
            *reinterpret_cast<T*>(row + (ptrdiff_t)j * column_step) = conjugated ? conjugate_of(from[j]) : from[j];
    }
}

}  // namespace

#define FACTORS(T) \
    {lu<T>, cholesky<T>, solve<T>, exchange<T>, identity<T>, determinant<T>, log_determinant<T>, read<T>, write<T>}

extern const AllFactorLoops MINDTORCH_LOOPS(factor_loops) = {
    {FACTORS(float), FACTORS(double), FACTORS(Complex<float>), FACTORS(Complex<double>)},
};

}  // namespace mindtorch
