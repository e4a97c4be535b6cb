// Matrix products of bfloat16, summed up in float and rounded once.
#pragma once

#include <stdint.h>

#include "gemm/gemm.h"

namespace mindtorch {

// out = alpha * left @ right + beta * addend, without the addend where its data is null; out's columns are dense.
struct BFloat16Product {
    size_t rows, columns, depth;
    Matrix<uint16_t> left, right;
    uint16_t* out;
    ptrdiff_t out_row;
    float alpha, beta;
    Matrix<uint16_t> addend;
};

struct BFloat16GemmLoops {
    size_t mr, nr;
    // How many bytes of scratch memory (aligned to 64 bytes) `multiply` needs.
    size_t (*scratch)(size_t rows, size_t columns, size_t depth);
    void (*multiply)(const BFloat16Product& product, void* scratch);
    // A product of at most SKINNY rows, each dense, by columns that are dense.
    void (*multiply_skinny)(const BFloat16Product& product);
};

// The second are for processors that multiply pairs of bfloat16.
MINDTORCH_DECLARE_LOOPS(BFloat16GemmLoops, bfloat16_gemm_loops)
MINDTORCH_DECLARE_LOOPS(BFloat16GemmLoops, bfloat16_dot_loops)

// `count` products; the steps lead from one's operands to the next one's.
struct BFloat16Batch {
    BFloat16Product first;
    ptrdiff_t out_column;
    size_t count;
    ptrdiff_t left, right, out, addend;
};

// Run all products on the pool's threads. False, with nothing written, when neither step of the result is 1 or there is
// no memory.
bool multiply_all(const BFloat16Batch& batch);

}  // namespace mindtorch
