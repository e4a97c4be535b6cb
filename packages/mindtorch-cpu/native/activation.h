// Activations over contiguous float32 elements.
#pragma once

#include "instructions.h"

namespace mindtorch {

enum Activation { EXPONENTIAL, TANGENT, ERROR_FUNCTION, SIGMOID, SILU, GELU, GELU_BY_TANGENT, ACTIVATION_COUNT };
enum Slope { GELU_SLOPE, GELU_BY_TANGENT_SLOPE, SLOPE_COUNT };
struct ActivationLoops {
    void (*activation[ACTIVATION_COUNT])(float* out, const float* in, size_t count);
    void (*slope[SLOPE_COUNT])(float* out, const float* grad, const float* in, size_t count);
};

MINDTORCH_DECLARE_LOOPS(ActivationLoops, activation_loops)

}  // namespace mindtorch
