// Matrix products of float32, float64 and bfloat16, whose elements are uint16_t.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simd/cpu_capability.h"

namespace mindtorch {

// What products are summed up in: bfloat16 in float, rounded once at the end.
template <typename Element>
struct AccumulateTypeOf {
    using Type = Element;
};
template <>
struct AccumulateTypeOf<uint16_t> {
    using Type = float;
};
template <typename Element>
using AccumulateType = typename AccumulateTypeOf<Element>::Type;

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
    AccumulateType<Real> alpha, beta;
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
    // How many numbers of scratch memory (aligned to 64 bytes) `multiply` needs.
    size_t (*scratch)(size_t rows, size_t columns, size_t depth);
    // Any product whose out_column is 1. No element depends on how many rows or columns there are.
    void (*multiply)(const Product<Real>& product, AccumulateType<Real>* scratch);
    // A product of few rows, each dense in `left`, and a `right` with steps of 1 down its columns, or along its rows
    // and then of at most SKINNY of them (of bfloat16 down its columns alone); `sums` holds rows * columns numbers.
    void (*multiply_skinny)(const Product<Real>& product, AccumulateType<Real>* sums);
    // `count` products of a depth less than `width`, one after another: what `multiply_skinny` gives for each. Null
    // where the width is 0.
    size_t width;
    void (*multiply_tiny)(const Batch<Real>& batch);
};

constexpr size_t SKINNY = 8;
constexpr size_t TINY = 512;  // multiplications of a product that are less work than a call

MINDTORCH_DECLARE_LOOPS(GemmLoops<float>, gemm_loops)
MINDTORCH_DECLARE_LOOPS(GemmLoops<double>, gemm_double_loops)
MINDTORCH_DECLARE_LOOPS(GemmLoops<uint16_t>, bfloat16_gemm_loops)
// For processors that multiply and add pairs of bfloat16 at once.
MINDTORCH_DECLARE_LOOPS(GemmLoops<uint16_t>, bfloat16_dot_loops)

// Run all products on the pool's threads. False, with nothing written, when neither step of the result is 1 or there is
// no memory. An element's value depends on the operands' shapes and steps, not on the number of threads.
bool multiply_all(const Batch<float>& batch);
bool multiply_all(const Batch<double>& batch);
bool multiply_all(const Batch<uint16_t>& batch);

}  // namespace mindtorch
