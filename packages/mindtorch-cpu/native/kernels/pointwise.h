// Elementwise arithmetic, comparisons and logic, for every kind of element.
#pragma once

#include "kernels/map.h"

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
    Forms pointwise[POINTWISE_COUNT][KINDS];
    Forms comparison[COMPARISON_COUNT][KINDS];
};
struct ShortForms {
    Forms pointwise[POINTWISE_COUNT];
};
struct ShortLoops {
    ShortForms of[SHORT_FORMATS];
};

MINDTORCH_DECLARE_LOOPS(PointwiseLoops, pointwise_loops)
MINDTORCH_DECLARE_LOOPS(ShortLoops, short_loops)

}  // namespace mindtorch
