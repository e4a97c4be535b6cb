// Matrix products of float32 and float64.
#pragma once

#include <stddef.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// Steps are in elements.
template <typename Real>
struct Matrix {
    const Real* data;
    ptrdiff_t row, column;
};

// out = alpha * left @ right + beta * addend, without the addend where its data is null.
template <typename Real>
struct Product {
    size_t rows, columns, depth;
    Matrix<Real> left, right;
    Real* out;
    ptrdiff_t out_row, out_column;
    Real alpha, beta;
    Matrix<Real> addend;
};

// `count` products; the steps lead from one's operands to the next one's.
template <typename Real>
struct Batch {
    Product<Real> first;
    size_t count;
    ptrdiff_t left, right, out, addend;
};

template <typename Real>
struct GemmLoops {
    size_t mr, nr;
    // How many elements of scratch memory (aligned to 64 bytes) `multiply` needs.
    size_t (*scratch)(size_t rows, size_t columns, size_t depth);
    // Any product whose out_column is 1. No element depends on how many rows or columns there are.
    void (*multiply)(const Product<Real>& product, Real* scratch);
    // A product of few rows, each dense in `left`, and a `right` with steps of 1 down its columns, or along its rows
    // and then of at most SKINNY of them; `sums` holds rows * columns elements.
    void (*multiply_skinny)(const Product<Real>& product, Real* sums);
    // `count` products of a depth less than `width`, one after another: what `multiply_skinny` gives for each.
    size_t width;
    void (*multiply_tiny)(const Batch<Real>& batch);
};

constexpr size_t SKINNY = 8;
constexpr size_t TINY = 512;  // multiplications of a product that are less work than a call

MINDTORCH_DECLARE_LOOPS(GemmLoops<float>, gemm_loops)
MINDTORCH_DECLARE_LOOPS(GemmLoops<double>, gemm_double_loops)

// Run all products on the pool's threads. False, with nothing written, when neither step of the result is 1 or there is
// no memory. An element's value depends on the operands' shapes and steps, not on the number of threads.
bool multiply_all(const Batch<float>& batch);
bool multiply_all(const Batch<double>& batch);

}  // namespace mindtorch
