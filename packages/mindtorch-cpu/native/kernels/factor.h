// Factors of small matrices, and what is solved with them. All matrices here are dense and lie by rows.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// What has more rows or columns is LAPACK's.
constexpr size_t MOST_SMALL = 64;

struct FactorLoops {
    // Factors in the matrix's place, and row exchanges counted from 1; which pivot is the first that is zero, or 0.
    int (*lu)(void* matrix, size_t rows, size_t columns, int* pivots);
    // The upper factor in the matrix's place, from its upper triangle, zeros below; which leading minor is the first
    // that is not positive, or 0.
    int (*cholesky)(void* matrix, size_t size);
    // `right` of so many columns, solved in its place.
    void (*solve)(void* right, size_t columns, const void* matrix, size_t size, bool upper, bool unit);
    void (*exchange)(void* right, size_t columns, const int* pivots, size_t size, bool backwards);
    void (*identity)(void* matrix, size_t size);
    void (*determinant)(void* out, const void* factors, const int* pivots, size_t size);
    void (*log_determinant)(void* sign, void* size, const void* factors, const int* pivots, size_t extent);
    // Matrices of any strides, in bytes, read and written.
    void (*read)(void* to, const char* from, ptrdiff_t row_step, ptrdiff_t column_step, size_t rows, size_t columns,
                 bool conjugate);
    void (*write)(char* to, ptrdiff_t row_step, ptrdiff_t column_step, const void* from, size_t rows, size_t columns,
                  bool conjugate);
};

// What matrices are of.
enum FactorKind { FACTOR_FLOAT, FACTOR_DOUBLE, FACTOR_COMPLEX_FLOAT, FACTOR_COMPLEX_DOUBLE, FACTOR_KINDS };

struct AllFactorLoops {
    FactorLoops of[FACTOR_KINDS];
};

MINDTORCH_DECLARE_LOOPS(AllFactorLoops, factor_loops)

}  // namespace mindtorch
