// Elementwise operations as functions of elements, for loops that the compiler vectorises. They are made of the call's
// numbers.
#pragma once

#include <math.h>
#include <stdint.h>

#include "simd/fmadd.h"

namespace mindtorch {
namespace {

struct Plain {
    explicit Plain(const double*) {}
};

#define OPERATION(Name, arguments, value) \
    struct Name : Plain {                 \
        using Plain::Plain;               \
        template <typename T>             \
        auto operator() arguments const { \
            return value;                 \
        }                                 \
    };

OPERATION(Mul, (T a, T b), a* b)
OPERATION(Div, (T a, T b), a / b)
OPERATION(Maximum, (T a, T b), a > b || a != a ? a : b)  // of two zeros the second, as torch
OPERATION(Minimum, (T a, T b), a < b || a != a ? a : b)
OPERATION(BitwiseAnd, (T a, T b), a& b)
OPERATION(BitwiseOr, (T a, T b), a | b)
OPERATION(BitwiseXor, (T a, T b), a ^ b)
OPERATION(Neg, (T a), -a)
OPERATION(Reciprocal, (T a), T(1) / a)
OPERATION(Relu, (T a), a > T(0) || a != a ? a : T(0))  // -0.0 becomes 0.0, which is what torch gives
OPERATION(Sign, (T a), T(a > T(0)) - T(a < T(0)))
OPERATION(BitwiseNot, (T a), T(~a))
OPERATION(Square, (T a), a* a)
OPERATION(Cube, (T a), a * a * a)
OPERATION(ReciprocalSquare, (T a), T(1) / (a * a))
OPERATION(Eq, (T a, T b), a == b)
OPERATION(Ne, (T a, T b), a != b)
OPERATION(Lt, (T a, T b), a < b)
OPERATION(Le, (T a, T b), a <= b)
OPERATION(Gt, (T a, T b), a > b)
OPERATION(Ge, (T a, T b), a >= b)
OPERATION(LogicalAnd, (T a, T b), (a != T(0)) & (b != T(0)))
OPERATION(LogicalOr, (T a, T b), (a != T(0)) | (b != T(0)))
OPERATION(LogicalXor, (T a, T b), (a != T(0)) ^ (b != T(0)))
OPERATION(LogicalNot, (T a), a == T(0))
OPERATION(IsNan, (T a), a != a)
OPERATION(IsInf, (T a), a - a != a - a && a == a)
OPERATION(IsFinite, (T a), a - a == a - a)

// Functions of the C library, by precision.
#define FUNCTION(Name, single, wide)                                                           \
    struct Name : Plain {                                                                      \
        using Plain::Plain;                                                                    \
        float operator()(float a) const { return single; }                                     \
        double operator()(double a) const { return wide; }                                     \
        int64_t operator()(int64_t a) const { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; } \
    };

FUNCTION(Abs, fabsf(a), fabs(a))
FUNCTION(Sqrt, sqrtf(a), sqrt(a))
FUNCTION(Rsqrt, 1.0f / sqrtf(a), 1.0 / sqrt(a))
FUNCTION(Floor, floorf(a), floor(a))
FUNCTION(Ceil, ceilf(a), ceil(a))
FUNCTION(Round, rintf(a), rint(a))
FUNCTION(Trunc, truncf(a), trunc(a))
FUNCTION(Frac, a - truncf(a), a - trunc(a))

OPERATION(Angle, (T a), a != a ? a : a < T(0) ? T(3.14159265358979323846) : T(0))  // of real numbers
struct Copysign : Plain {
    using Plain::Plain;
    float operator()(float a, float b) const { return copysignf(a, b); }
    double operator()(double a, double b) const { return copysign(a, b); }
};

// With torch's `alpha` or `value`.
struct Scaled {
    explicit Scaled(const double* numbers) : number(numbers == nullptr ? 1.0 : numbers[0]) {}
    double number;
};
struct Add : Scaled {
    using Scaled::Scaled;
    template <typename T>
    T operator()(T a, T b) const {
        return a + b * (T)(int64_t)number;
    }
    float operator()(float a, float b) const { return fmadd(b, (float)number, a); }
    double operator()(double a, double b) const { return fmadd(b, number, a); }
};
struct Addcmul : Scaled {
    using Scaled::Scaled;
    float operator()(float a, float b, float c) const { return fmadd(b * (float)number, c, a); }
    double operator()(double a, double b, double c) const { return fmadd(b * number, c, a); }
};
struct Addcdiv : Scaled {
    using Scaled::Scaled;
    float operator()(float a, float b, float c) const { return a + (b * (float)number) / c; }
    double operator()(double a, double b, double c) const { return a + (b * number) / c; }
};
// From the nearer end, for accuracy.
struct Lerp : Plain {
    using Plain::Plain;
    template <typename T>
    T operator()(T a, T b, T weight) const {
        const T apart = b - a, near = fmadd(weight, apart, a), far = fmadd(-apart, T(1) - weight, b);
        return (weight < 0 ? -weight : weight) < T(0.5) ? near : far;
    }
};
// The upper bound wins; where one of the three is nan the result is.
struct Clamp : Plain {
    using Plain::Plain;
    template <typename T>
    T operator()(T a, T low, T high) const {
        const T raised = a < low || low != low ? low : a;
        return raised > high || high != high ? high : raised;
    }
};

OPERATION(Prelu, (T a, T weight), a > 0 ? a : weight * a)
// The gradients of its input and of its weight; the gradient comes first.
OPERATION(PreluSlope, (T grad, T a, T weight), a > 0 ? grad : weight * grad)
OPERATION(PreluWeightSlope, (T grad, T a), a > 0 ? T(0) : a * grad)

// Counts that are negative or too large leave nothing, or the sign.
OPERATION(LeftShift, (T a, T b), (uint64_t)b < 64 ? (T)((uint64_t)a << (b & 63)) : T(0))
OPERATION(RightShift, (T a, T b), a >> ((uint64_t)b < 63 ? b : T(63)))

struct NanToNum {
    explicit NanToNum(const double* numbers) : nan(numbers[0]), most(numbers[1]), least(numbers[2]) {}
    double nan, most, least;
    template <typename T>
    T operator()(T a) const {
        const T known = a != a ? (T)nan : a, high = a == T(INFINITY) ? (T)most : known;
        return a == -T(INFINITY) ? (T)least : high;
    }
};

}  // namespace
}  // namespace mindtorch
