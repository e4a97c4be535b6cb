// Elementwise arithmetic, comparisons and logic, for every kind of element.
#pragma once

#include "map.h"

namespace mindtorch {

enum Pointwise {
    ADD,
    MULTIPLY,
    DIVIDE,
    MAXIMUM,
    MINIMUM,
    BITWISE_AND,
    BITWISE_OR,
    BITWISE_XOR,
    NEGATIVE,
    ABSOLUTE,
    SQUARE_ROOT,
    RECIPROCAL_ROOT,
    RECIPROCAL,
    RECTIFY,
    FLOOR,
    CEIL,
    ROUND,
    TRUNC,
    SIGN,
    BITWISE_NOT,
    SQUARE,
    CUBE,
    RECIPROCAL_SQUARE,
    CLAMP,
    SELECT,
    ADD_PRODUCT,
    ADD_QUOTIENT,
    INTERPOLATE,
    REMAINDER,
    TRUNCATED_REMAINDER,
    LEFT_SHIFT,
    RIGHT_SHIFT,
    FINITE_NUMBER,
    POINTWISE_COUNT
};

// The output is a truth value.
enum Comparison {
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    LOGICAL_AND,
    LOGICAL_OR,
    LOGICAL_XOR,
    LOGICAL_NOT,
    IS_NAN,
    IS_INFINITE,
    IS_FINITE,
    COMPARISON_COUNT
};

struct PointwiseLoops {
    Map pointwise[POINTWISE_COUNT][KINDS];
    Map comparison[COMPARISON_COUNT][KINDS];
    BrainMaps brain[POINTWISE_COUNT];
    // Those of two operands, the first (or the second) of which is one element for all: operations up to the last
    // named.
    Map arithmetic_of_one[2][MINIMUM + 1][KINDS];
    Map comparison_of_one[2][GREATER_EQUAL + 1][KINDS];
};

MINDTORCH_DECLARE_LOOPS(PointwiseLoops, pointwise_loops)

}  // namespace mindtorch
