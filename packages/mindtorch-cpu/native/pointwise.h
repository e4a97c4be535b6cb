// Elementwise loops over contiguous float32 and float64 elements.
#pragma once

#include "instructions.h"

namespace mindtorch {

enum Binary { ADD, SUBTRACT, MULTIPLY, DIVIDE, BINARY_COUNT };
enum Unary { NEGATIVE, SQUARE_ROOT, ABSOLUTE, RECTIFY, UNARY_COUNT };

// Which operand of a binary loop is one number for all elements.
enum Shape { BOTH, LEFT_NUMBER, RIGHT_NUMBER, SHAPE_COUNT };

using BinaryLoop = void (*)(void* out, const void* left, const void* right, size_t count);
using UnaryLoop = void (*)(void* out, const void* in, size_t count);

// [0] is float, [1] is double.
struct PointwiseLoops {
    BinaryLoop binary[BINARY_COUNT][SHAPE_COUNT][2];
    UnaryLoop unary[UNARY_COUNT][2];
};

MINDTORCH_DECLARE_LOOPS(PointwiseLoops, pointwise_loops)

}  // namespace mindtorch
