// Elementary functions, activations and their slopes, of float32 elements.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

enum Function {
    EXPONENTIAL,
    EXPONENTIAL_LESS_ONE,
    LOGARITHM,
    LOGARITHM_2,
    LOGARITHM_10,
    LOGARITHM_OF_ONE_PLUS,
    SINE,
    COSINE,
    TANGENT,
    ERROR_FUNCTION,
    SIGMOID,
    POWER,
    FUNCTION_COUNT
};

// Those of one operand, then those of a gradient and one operand; GATED is of a value and its gate, GATE_SLOPE of a
// gradient and both.
enum Activation {
    SILU,
    GELU,
    GELU_BY_TANGENT,
    LEAKY,
    ELU,
    SOFTPLUS,
    HARD_SWISH,
    HARD_SIGMOID,
    HARD_TANGENT,
    MISH,
    LOG_SIGMOID,
    THRESHOLD,
    SOFT_SHRINK,
    HARD_SHRINK,
    SILU_SLOPE,
    GELU_SLOPE,
    GELU_BY_TANGENT_SLOPE,
    LEAKY_SLOPE,
    ELU_SLOPE,
    ELU_SLOPE_OF_RESULT,
    SOFTPLUS_SLOPE,
    HARD_SWISH_SLOPE,
    HARD_SIGMOID_SLOPE,
    HARD_TANGENT_SLOPE,
    MISH_SLOPE,
    LOG_SIGMOID_SLOPE,
    THRESHOLD_SLOPE,
    SHRINK_SLOPE,
    TANGENT_SLOPE,
    SIGMOID_SLOPE,
    GATED,
    GATE_SLOPE,
    ACTIVATION_COUNT
};

struct FunctionLoops {
    Forms function[FUNCTION_COUNT][KINDS];
    // Elements of two bytes by a table: in[1] has what each of their 65536 values becomes.
    Forms lookup;
};

struct ActivationLoops {
    Forms activation[ACTIVATION_COUNT][KINDS];
};

MINDTORCH_DECLARE_LOOPS(FunctionLoops, function_loops)
MINDTORCH_DECLARE_LOOPS(ActivationLoops, activation_loops)

}  // namespace mindtorch
