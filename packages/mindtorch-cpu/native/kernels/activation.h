// Elementary functions and activations with their backwards, of float32 elements and of doubles.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

// Every function: its name, how many operands it has, its loops for float and for double, and its rows.
#define MINDTORCH_FUNCTIONS(X)                                                                       \
    X(exp, 1, VECTORS(Exp, 1), NONE, "exp")                                                          \
    X(exp2, 1, VECTORS(Exp2, 1), NONE, "exp2")                                                       \
    X(expm1, 1, VECTORS(Expm1, 1), NONE, "expm1")                                                    \
    X(log, 1, VECTORS(Log, 1), NONE, "log")                                                          \
    X(log2, 1, VECTORS(LogTo<2>, 1), NONE, "log2")                                                   \
    X(log10, 1, VECTORS(LogTo<10>, 1), NONE, "log10")                                                \
    X(log1p, 1, VECTORS(Log1p, 1), NONE, "log1p")                                                    \
    X(sin, 1, VECTORS(Sin<0>, 1), DOUBLES(DoubleSin<0>), "sin")                                      \
    X(cos, 1, VECTORS(Sin<1>, 1), DOUBLES(DoubleSin<1>), "cos")                                      \
    X(tanh, 1, VECTORS(Tanh, 1), NONE, "tanh")                                                       \
    X(erf, 1, VECTORS(Erf, 1), DOUBLES(DoubleErf), "erf")                                            \
    X(erfc, 1, VECTORS(Erfc, 1), NONE, "erfc")                                                       \
    X(erfinv, 1, VECTORS(Erfinv, 1), NONE, "erfinv")                                                 \
    X(sigmoid, 1, VECTORS(Sigmoid, 1), DOUBLES(DoubleSigmoid), "sigmoid")                            \
    X(lgamma, 1, VECTORS(LogGamma, 1), NONE, "lgamma")                                               \
    X(i0, 1, VECTORS(BesselI0, 1), NONE, "i0 special_modified_bessel_i0")                            \
    X(i0e, 1, VECTORS(ScaledBesselI0, 1), NONE, "special_i0e")                                       \
    X(i1, 1, VECTORS(BesselI1, 1), NONE, "special_i1 special_modified_bessel_i1")                    \
    X(i1e, 1, VECTORS(ScaledBesselI1, 1), NONE, "special_i1e")                                       \
    X(entr, 1, VECTORS(Entropy, 1), NONE, "special_entr")                                            \
    X(sinc, 1, VECTORS(SineOverAngle<true>, 1), NONE, "sinc")                                        \
    X(spherical_bessel_j0, 1, VECTORS(SineOverAngle<false>, 1), NONE, "special_spherical_bessel_j0") \
    X(logaddexp2, 2, VECTORS(LogAddExp2, 2), NONE, "logaddexp2")                                     \
    X(logaddexp, 2, VECTORS(LogAddExp, 2), NONE, "logaddexp")                                        \
    X(hypot, 2, VECTORS(Hypot, 2), WIDE(DoubleHypot, 2), "hypot")                                    \
    X(pow, 2, VECTORS(Pow, 2), NONE, "")

// Every activation and backward: its name, how many operands and then numbers it has, its function, whether that is of
// doubles too, and its rows. The backwards are of a gradient and an operand.
#define MINDTORCH_ACTIVATIONS(X)                                                              \
    X(silu, 1, 0, Silu, WIDE, "silu")                                                         \
    X(gelu, 1, 0, Gelu, WIDE, "")                                                             \
    X(gelu_tanh, 1, 0, GeluTanh, NONE, "")                                                    \
    X(leaky_relu, 1, 1, LeakyRelu, WIDE, "leaky_relu")                                        \
    X(elu, 1, 3, Elu, WIDE, "elu")                                                            \
    X(softplus, 1, 2, Softplus, NONE, "softplus")                                             \
    X(hardswish, 1, 0, Hardswish, WIDE, "hardswish")                                          \
    X(hardsigmoid, 1, 0, Hardsigmoid, WIDE, "hardsigmoid")                                    \
    X(hardtanh, 1, 2, Hardtanh, WIDE, "")                                                     \
    X(mish, 1, 0, Mish, NONE, "mish")                                                         \
    X(log_sigmoid, 1, 0, LogSigmoid, NONE, "")                                                \
    X(threshold, 1, 2, Threshold, WIDE, "threshold")                                          \
    X(softshrink, 1, 1, Softshrink, WIDE, "softshrink")                                       \
    X(hardshrink, 1, 1, Hardshrink, WIDE, "hardshrink")                                       \
    X(silu_backward, 2, 0, SiluBackward, WIDE, "silu_backward")                               \
    X(gelu_backward, 2, 0, GeluBackward, WIDE, "")                                            \
    X(gelu_tanh_backward, 2, 0, GeluTanhBackward, NONE, "")                                   \
    X(leaky_relu_backward, 2, 1, LeakyReluBackward, WIDE, "")                                 \
    X(elu_backward, 2, 3, EluBackward, WIDE, "")                                              \
    X(elu_backward_of_result, 2, 3, EluBackwardOfResult, WIDE, "")                            \
    X(softplus_backward, 2, 2, SoftplusBackward, NONE, "softplus_backward")                   \
    X(hardswish_backward, 2, 0, HardswishBackward, WIDE, "hardswish_backward")                \
    X(hardsigmoid_backward, 2, 0, HardsigmoidBackward, WIDE, "hardsigmoid_backward")          \
    X(hardtanh_backward, 2, 2, HardtanhBackward, WIDE, "hardtanh_backward")                   \
    X(mish_backward, 2, 0, MishBackward, NONE, "mish_backward")                               \
    X(log_sigmoid_backward, 2, 0, LogSigmoidBackward, WIDE, "")                               \
    X(threshold_backward, 2, 1, ThresholdBackward, WIDE, "threshold_backward")                \
    X(shrink_backward, 2, 1, ShrinkBackward, WIDE, "softshrink_backward hardshrink_backward") \
    X(tanh_backward, 2, 0, TanhBackward, WIDE, "tanh_backward")                               \
    X(sigmoid_backward, 2, 0, SigmoidBackward, WIDE, "sigmoid_backward")                      \
    X(glu, 2, 0, Glu, WIDE, "")                                                               \
    X(glu_gate_backward, 3, 0, GluGateBackward, WIDE, "")                                     \
    X(logit, 1, 2, Logit, NONE, "")

#define MINDTORCH_NAME(name, ...) name,
enum class Function { MINDTORCH_FUNCTIONS(MINDTORCH_NAME) COUNT };
enum class Activation { MINDTORCH_ACTIVATIONS(MINDTORCH_NAME) COUNT };
#undef MINDTORCH_NAME

struct FunctionLoops {
    Forms function[static_cast<int>(Function::COUNT)][KINDS];
    // Elements of two bytes by a table: in[1] has what each of their 65536 values becomes.
    Forms lookup;
    // True with the widest registers, of 64 bytes: most functions then cost less than looking up their results.
    bool wide;

    const Forms* of(Function op) const { return function[static_cast<int>(op)]; }
};

struct ActivationLoops {
    Forms activation[static_cast<int>(Activation::COUNT)][KINDS];

    const Forms* of(Activation op) const { return activation[static_cast<int>(op)]; }
};

MINDTORCH_DECLARE_LOOPS(FunctionLoops, function_loops)
MINDTORCH_DECLARE_LOOPS(ActivationLoops, activation_loops)

}  // namespace mindtorch
