// Linear layers whose weights have eight bits and whose inputs are rounded to seven when they come: sums of whole
// numbers, exact, which one multiplication turns into float32.
#pragma once

#include <stdint.h>

#include "gemm/gemm.h"

namespace mindtorch {

// Weights are packed in panels of so many columns; a word of a column is four elements of the depth, zeros behind the
// last. The layout is the same for all processors.
constexpr size_t INT8_PANEL = 16, INT8_WORD = 4;

// How numbers are rounded to whole ones from 0 to 127, the largest whose products by two weights fit into 16 bits.
struct Levels {
    float inverse_scale;
    int zero_point;
};

// out = (levels - zero point) @ (weights - zero point) * step + bias, without the bias where that is null.
struct Int8Product {
    size_t rows, columns, depth;
    const uint32_t* left;   // words of levels, in panels of mr rows
    const int* left_sums;   // of a row's levels
    const int8_t* right;    // words of weights, in panels
    const int* right_sums;  // of a column's weights
    int left_zero, right_zero;
    float step;
    const float* bias;
    float* out;  // dense
};

struct Int8GemmLoops {
    size_t mr, nr;
    // The range of numbers and zero; false where one is not finite.
    bool (*range)(const float* from, size_t count, float* least, float* greatest);
    // One panel of the left operand, of at most mr rows that are dense.
    void (*pack_rows)(uint32_t* to, int* sums, const float* from, size_t rows, size_t depth, const Levels& levels);
    // The same of levels from 0 to 255.
    void (*pack_levels)(uint32_t* to, int* sums, const uint8_t* from, size_t rows, size_t depth);
    // The columns from `column`, a multiple of nr, to `end`.
    void (*multiply)(const Int8Product& product, size_t column, size_t end);
    void (*multiply_levels)(const Int8Product& product, size_t column, size_t end);  // from 0 to 255
};

// The second are for processors that add up four products of bytes at once.
MINDTORCH_DECLARE_LOOPS(Int8GemmLoops, int8_gemm_loops)
MINDTORCH_DECLARE_LOOPS(Int8GemmLoops, int8_dot_loops)

// The scale and zero point that cover the numbers with 0 to 127.
struct Parameters {
    float scale;
    int zero_point;
};
Parameters parameters_of(float least, float greatest);

struct Int8Linear {
    size_t rows, columns, depth;
    const float* input;  // dense
    const int8_t* weight;
    const int* weight_sums;
    float weight_scale;
    int weight_zero;
    const float* bias;
    float* out;
};

enum Outcome { DONE, DECLINED, NO_MEMORY };

// Run it on the pool's threads; numbers that are not finite are declined.
Outcome linear_dynamic(const Int8Linear& linear);

// out = (levels - zero point) @ (weights - zero point), of levels from 0 to 255.
struct Int8Sums {
    size_t rows, columns, depth;
    const uint8_t* input;  // dense
    int input_zero;
    const int8_t* weight;
    const int* weight_sums;
    int weight_zero;
    float* out;
};

Outcome linear_sums(const Int8Sums& linear);

}  // namespace mindtorch
