// Elementary functions and activations with their backwards, of float32 elements.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

// Every function: its name, how many operands it has, its loops for float and for double, and its rows.
#define MINDTORCH_FUNCTIONS(X)                                            \
    X(exp, 1, VECTORS(Exp, 1), NONE, "exp")                               \
    X(expm1, 1, VECTORS(Expm1, 1), NONE, "expm1")                         \
    X(log, 1, VECTORS(Log, 1), NONE, "log")                               \
    X(log2, 1, VECTORS(LogTo<2>, 1), NONE, "log2")                        \
    X(log10, 1, VECTORS(LogTo<10>, 1), NONE, "log10")                     \
    X(log1p, 1, VECTORS(Log1p, 1), NONE, "log1p")                         \
    X(sin, 1, VECTORS(Sin<0>, 1), DOUBLES(DoubleSin<0>), "sin")           \
    X(cos, 1, VECTORS(Sin<1>, 1), DOUBLES(DoubleSin<1>), "cos")           \
    X(tanh, 1, VECTORS(Tanh, 1), NONE, "tanh")                            \
    X(erf, 1, VECTORS(Erf, 1), DOUBLES(DoubleErf), "erf")                 \
    X(sigmoid, 1, VECTORS(Sigmoid, 1), DOUBLES(DoubleSigmoid), "sigmoid") \
    X(logaddexp, 2, VECTORS(LogAddExp, 2), NONE, "logaddexp")             \
    X(pow, 2, VECTORS(Pow, 2), NONE, "")

// Every activation and backward: its name, how many operands and then numbers it has, its function, and its rows. The
// backwards are of a gradient and an operand.
#define MINDTORCH_ACTIVATIONS(X)                                                        \
    X(silu, 1, 0, Silu, "silu")                                                         \
    X(gelu, 1, 0, Gelu, "")                                                             \
    X(gelu_tanh, 1, 0, GeluTanh, "")                                                    \
    X(leaky_relu, 1, 1, LeakyRelu, "leaky_relu")                                        \
    X(elu, 1, 3, Elu, "elu")                                                            \
    X(softplus, 1, 2, Softplus, "softplus")                                             \
    X(hardswish, 1, 0, Hardswish, "hardswish")                                          \
    X(hardsigmoid, 1, 0, Hardsigmoid, "hardsigmoid")                                    \
    X(hardtanh, 1, 2, Hardtanh, "")                                                     \
    X(mish, 1, 0, Mish, "mish")                                                         \
    X(log_sigmoid, 1, 0, LogSigmoid, "")                                                \
    X(threshold, 1, 2, Threshold, "threshold")                                          \
    X(softshrink, 1, 1, Softshrink, "softshrink")                                       \
    X(hardshrink, 1, 1, Hardshrink, "hardshrink")                                       \
    X(silu_backward, 2, 0, SiluBackward, "silu_backward")                               \
    X(gelu_backward, 2, 0, GeluBackward, "")                                            \
    X(gelu_tanh_backward, 2, 0, GeluTanhBackward, "")                                   \
    X(leaky_relu_backward, 2, 1, LeakyReluBackward, "")                                 \
    X(elu_backward, 2, 3, EluBackward, "")                                              \
    X(elu_backward_of_result, 2, 3, EluBackwardOfResult, "")                            \
    X(softplus_backward, 2, 2, SoftplusBackward, "softplus_backward")                   \
    X(hardswish_backward, 2, 0, HardswishBackward, "hardswish_backward")                \
    X(hardsigmoid_backward, 2, 0, HardsigmoidBackward, "hardsigmoid_backward")          \
    X(hardtanh_backward, 2, 2, HardtanhBackward, "hardtanh_backward")                   \
    X(mish_backward, 2, 0, MishBackward, "mish_backward")                               \
    X(log_sigmoid_backward, 2, 0, LogSigmoidBackward, "")                               \
    X(threshold_backward, 2, 1, ThresholdBackward, "threshold_backward")                \
    X(shrink_backward, 2, 1, ShrinkBackward, "softshrink_backward hardshrink_backward") \
    X(tanh_backward, 2, 0, TanhBackward, "tanh_backward")                               \
    X(sigmoid_backward, 2, 0, SigmoidBackward, "sigmoid_backward")                      \
    X(glu, 2, 0, Glu, "")                                                               \
    X(glu_gate_backward, 3, 0, GluGateBackward, "")

#define MINDTORCH_NAME(name, ...) name,
enum class Function { MINDTORCH_FUNCTIONS(MINDTORCH_NAME) COUNT };
enum class Activation { MINDTORCH_ACTIVATIONS(MINDTORCH_NAME) COUNT };
#undef MINDTORCH_NAME

struct FunctionLoops {
    Forms function[static_cast<int>(Function::COUNT)][KINDS];
    // Elements of two bytes by a table: in[1] has what each of their 65536 values becomes.
    Forms lookup;

    const Forms* of(Function op) const { return function[static_cast<int>(op)]; }
};

struct ActivationLoops {
    Forms activation[static_cast<int>(Activation::COUNT)][KINDS];

    const Forms* of(Activation op) const { return activation[static_cast<int>(op)]; }
};

MINDTORCH_DECLARE_LOOPS(FunctionLoops, function_loops)
MINDTORCH_DECLARE_LOOPS(ActivationLoops, activation_loops)

}  // namespace mindtorch
