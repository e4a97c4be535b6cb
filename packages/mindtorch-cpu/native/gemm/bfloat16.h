// Matrix products of bfloat16, summed up in float and rounded once.
#pragma once

#include <stdint.h>

#include "gemm/gemm.h"

namespace mindtorch {

// out = alpha * left @ right + beta * addend, without the addend where its data is null; out's columns are dense.
struct BrainProduct {
    size_t rows, columns, depth;
    Matrix<uint16_t> left, right;
    uint16_t* out;
    ptrdiff_t out_row;
    float alpha, beta;
    Matrix<uint16_t> addend;
};

struct BrainGemmLoops {
    size_t tile_rows, tile_columns;
    // How many bytes of scratch memory (aligned to 64 bytes) `multiply` needs.
    size_t (*scratch)(size_t rows, size_t columns, size_t depth);
    void (*multiply)(const BrainProduct& product, void* scratch);
    // A product of at most FEW rows, each dense, by columns that are dense.
    void (*multiply_few)(const BrainProduct& product);
};

// The second are for processors that multiply pairs of bfloat16.
MINDTORCH_DECLARE_LOOPS(BrainGemmLoops, brain_gemm_loops)
MINDTORCH_DECLARE_LOOPS(BrainGemmLoops, brain_pair_loops)

// `count` products; the steps lead from one's operands to the next one's.
struct BrainBatch {
    BrainProduct first;
    ptrdiff_t out_column;
    size_t count;
    ptrdiff_t left, right, out, addend;
};

// Run all products on the pool's threads. False, with nothing written, when neither step of the result is 1 or there is
// no memory.
bool multiply_all(const BrainBatch& batch);

}  // namespace mindtorch
