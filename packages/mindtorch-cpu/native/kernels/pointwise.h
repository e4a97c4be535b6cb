// Elementwise arithmetic, comparisons and logic, for every kind of element.
#pragma once

#include "kernels/map.h"

namespace mindtorch {

// Every operation: its name, how many operands it has, its loops, those over elements of reduced precision, and the
// rows that need no more than these. The words in its columns are macros of the files that make loops and kernels of
// it.
#define MINDTORCH_POINTWISE(X)                                                                           \
    X(add, 2, WRAPPED(Add, 2), REDUCED(Add, 2), "")                                                      \
    X(mul, 2, WITH_BOOL(WRAPPED(Mul, 2), BitwiseAnd, 2), REDUCED(Mul, 2), "mul.Tensor mul.Scalar")       \
    X(div, 2, FLOATS(Div, 2), REDUCED(Div, 2), "div.Tensor div.Scalar")                                  \
    X(maximum, 2, WITH_BOOL(NUMBERS(Maximum, 2), BitwiseOr, 2), REDUCED(Maximum, 2), "maximum")          \
    X(minimum, 2, WITH_BOOL(NUMBERS(Minimum, 2), BitwiseAnd, 2), REDUCED(Minimum, 2), "minimum")         \
    X(bitwise_and, 2, WITH_BOOL(INTEGERS(BitwiseAnd, 2), BitwiseAnd, 2), NONE,                           \
      "bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor")                                 \
    X(bitwise_or, 2, WITH_BOOL(INTEGERS(BitwiseOr, 2), BitwiseOr, 2), NONE,                              \
      "bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor")                                    \
    X(bitwise_xor, 2, WITH_BOOL(INTEGERS(BitwiseXor, 2), BitwiseXor, 2), NONE,                           \
      "bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor")                                 \
    X(neg, 1, WRAPPED(Neg, 1), BITS(NegBits), "neg")                                                     \
    X(abs, 1, NUMBERS(Abs, 1), BITS(AbsBits), "abs")                                                     \
    X(sqrt, 1, FLOATS(Sqrt, 1), REDUCED(Sqrt, 1), "sqrt")                                                \
    X(rsqrt, 1, FLOATS(Rsqrt, 1), REDUCED(Rsqrt, 1), "rsqrt")                                            \
    X(reciprocal, 1, FLOATS(Reciprocal, 1), REDUCED(Reciprocal, 1), "reciprocal")                        \
    X(relu, 1, NUMBERS(Relu, 1), BITS(ReluBits<Format>), "relu")                                         \
    X(floor, 1, FLOATS(Floor, 1), REDUCED(Floor, 1), "floor")                                            \
    X(ceil, 1, FLOATS(Ceil, 1), REDUCED(Ceil, 1), "ceil")                                                \
    X(round, 1, FLOATS(Round, 1), REDUCED(Round, 1), "round")                                            \
    X(trunc, 1, FLOATS(Trunc, 1), REDUCED(Trunc, 1), "trunc")                                            \
    X(sign, 1, NUMBERS(Sign, 1), REDUCED(Sign, 1), "sign sgn")                                           \
    X(bitwise_not, 1, WITH_BOOL(INTEGERS(BitwiseNot, 1), LogicalNot, 1), NONE, "bitwise_not")            \
    X(square, 1, WRAPPED(Square, 1), REDUCED(Square, 1), "")                                             \
    X(cube, 1, WRAPPED(Cube, 1), REDUCED(Cube, 1), "")                                                   \
    X(reciprocal_square, 1, FLOATS(ReciprocalSquare, 1), REDUCED(ReciprocalSquare, 1), "")               \
    X(clamp, 3, NUMBERS(Clamp, 3), REDUCED(Clamp, 3), "")                                                \
    X(where, 3, WHERE, NONE, "")                                                                         \
    X(addcmul, 3, FLOATS(Addcmul, 3), REDUCED(Addcmul, 3), "")                                           \
    X(addcdiv, 3, FLOATS(Addcdiv, 3), REDUCED(Addcdiv, 3), "")                                           \
    X(lerp, 3, FLOATS(Lerp, 3), REDUCED(Lerp, 3), "lerp.Scalar lerp.Tensor")                             \
    X(remainder, 2, REMAINDERS(true), NONE, "remainder.Tensor remainder.Scalar remainder.Scalar_Tensor") \
    X(fmod, 2, REMAINDERS(false), NONE, "fmod.Tensor fmod.Scalar")                                       \
    X(floor_divide, 2, QUOTIENTS, NONE, "")                                                              \
    X(prelu, 2, FLOATS(Prelu, 2), NONE, "_prelu_kernel")                                                 \
    X(prelu_slope, 3, FLOATS(PreluSlope, 3), NONE, "")                                                   \
    X(prelu_weight_slope, 2, FLOATS(PreluWeightSlope, 2), NONE, "")                                      \
    X(bitwise_left_shift, 2, INTEGERS(LeftShift, 2), NONE,                                               \
      "bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_left_shift.Scalar_Tensor")     \
    X(bitwise_right_shift, 2, INTEGERS(RightShift, 2), NONE,                                             \
      "bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar bitwise_right_shift.Scalar_Tensor")  \
    X(nan_to_num, 1, FLOATS(NanToNum, 1), REDUCED(NanToNum, 1), "")                                      \
    X(frac, 1, FLOATS(Frac, 1), REDUCED(Frac, 1), "frac")                                                \
    X(angle, 1, FLOATS(Angle, 1), REDUCED(Angle, 1), "angle")                                            \
    X(copysign, 2, FLOATS(Copysign, 2), REDUCED(Copysign, 2), "copysign.Tensor copysign.Scalar")

// The same where the output is bool.
#define MINDTORCH_COMPARISONS(X)                 \
    X(eq, 2, Eq, "eq.Tensor eq.Scalar")          \
    X(ne, 2, Ne, "ne.Tensor ne.Scalar")          \
    X(lt, 2, Lt, "lt.Tensor lt.Scalar")          \
    X(le, 2, Le, "le.Tensor le.Scalar")          \
    X(gt, 2, Gt, "gt.Tensor gt.Scalar")          \
    X(ge, 2, Ge, "ge.Tensor ge.Scalar")          \
    X(logical_and, 2, LogicalAnd, "logical_and") \
    X(logical_or, 2, LogicalOr, "logical_or")    \
    X(logical_xor, 2, LogicalXor, "logical_xor") \
    X(logical_not, 1, LogicalNot, "logical_not") \
    X(isnan, 1, IsNan, "isnan")                  \
    X(isinf, 1, IsInf, "isinf")                  \
    X(isfinite, 1, IsFinite, "isfinite")

#define MINDTORCH_NAME(name, ...) name,
enum class Pointwise { MINDTORCH_POINTWISE(MINDTORCH_NAME) COUNT };
enum class Comparison { MINDTORCH_COMPARISONS(MINDTORCH_NAME) COUNT };
#undef MINDTORCH_NAME

struct PointwiseLoops {
    Forms pointwise[static_cast<int>(Pointwise::COUNT)][KINDS];
    Forms comparison[static_cast<int>(Comparison::COUNT)][KINDS];

    const Forms* of(Pointwise op) const { return pointwise[static_cast<int>(op)]; }
    const Forms* of(Comparison op) const { return comparison[static_cast<int>(op)]; }
};
struct ReducedForms {
    Forms pointwise[static_cast<int>(Pointwise::COUNT)];
};
struct ReducedLoops {
    ReducedForms of[REDUCED_FORMATS];
};

MINDTORCH_DECLARE_LOOPS(PointwiseLoops, pointwise_loops)
MINDTORCH_DECLARE_LOOPS(ReducedLoops, reduced_loops)

}  // namespace mindtorch
