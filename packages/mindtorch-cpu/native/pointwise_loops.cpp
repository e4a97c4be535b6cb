// Plain loops that the compiler vectorises; built once per instruction set.
#include "pointwise.h"

#include <math.h>
#include <stdint.h>

namespace mindtorch {

namespace {

using Byte = unsigned char;

// An operation is a function of `arity` elements and the numbers of the call. Operands may be the output, whose
// elements are read before they are written: the compiler need not look whether they overlap.
template <typename Op, int arity, typename T, typename R = T>
void loop(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<R*>(out);
    const auto* a = static_cast<const T*>(in[0]);
    const auto* b = static_cast<const T*>(in[arity > 1 ? 1 : 0]);
    const auto* c = static_cast<const T*>(in[arity > 2 ? 2 : 0]);
    const Op op(numbers);
#pragma GCC ivdep
    for (size_t i = 0; i < count; i++) {
        if constexpr (arity == 1) {
            to[i] = (R)op(a[i]);
        } else if constexpr (arity == 2) {
            to[i] = (R)op(a[i], b[i]);
        } else {
            to[i] = (R)op(a[i], b[i], c[i]);
        }
    }
}

// Of two operands, the first of which (or the second) is one element for all.
template <typename Op, int one, typename T, typename R = T>
void loop_of_one(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<R*>(out);
    const auto* many = static_cast<const T*>(in[1 - one]);
    const T single = *static_cast<const T*>(in[one]);
    const Op op(numbers);
#pragma GCC ivdep
    for (size_t i = 0; i < count; i++) to[i] = (R)(one == 0 ? op(single, many[i]) : op(many[i], single));
}

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

OPERATION(Multiply, (T a, T b), a* b)
OPERATION(Divide, (T a, T b), a / b)
OPERATION(Maximum, (T a, T b), a > b || a != a ? a : b)  // of two zeros the second, as torch
OPERATION(Minimum, (T a, T b), a < b || a != a ? a : b)
OPERATION(And, (T a, T b), a& b)
OPERATION(Or, (T a, T b), a | b)
OPERATION(Xor, (T a, T b), a ^ b)
OPERATION(Negative, (T a), -a)
OPERATION(Reciprocal, (T a), T(1) / a)
OPERATION(Rectify, (T a), a > T(0) || a != a ? a : T(0))  // -0.0 becomes 0.0, which is what torch gives
OPERATION(Sign, (T a), T(a > T(0)) - T(a < T(0)))
OPERATION(Not, (T a), T(~a))
OPERATION(Square, (T a), a* a)
OPERATION(Cube, (T a), a * a * a)
OPERATION(ReciprocalSquare, (T a), T(1) / (a * a))
OPERATION(Equal, (T a, T b), a == b)
OPERATION(NotEqual, (T a, T b), a != b)
OPERATION(Less, (T a, T b), a < b)
OPERATION(LessEqual, (T a, T b), a <= b)
OPERATION(Greater, (T a, T b), a > b)
OPERATION(GreaterEqual, (T a, T b), a >= b)
OPERATION(LogicalAnd, (T a, T b), (a != T(0)) & (b != T(0)))
OPERATION(LogicalOr, (T a, T b), (a != T(0)) | (b != T(0)))
OPERATION(LogicalXor, (T a, T b), (a != T(0)) ^ (b != T(0)))
OPERATION(LogicalNot, (T a), a == T(0))
OPERATION(IsNan, (T a), a != a)
OPERATION(IsInfinite, (T a), a - a != a - a && a == a)
OPERATION(IsFinite, (T a), a - a == a - a)

// Functions of the C library, by precision.
#define FUNCTION(Name, single, wide)                                                           \
    struct Name : Plain {                                                                      \
        using Plain::Plain;                                                                    \
        float operator()(float a) const { return single; }                                     \
        double operator()(double a) const { return wide; }                                     \
        int64_t operator()(int64_t a) const { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; } \
    };

FUNCTION(Absolute, fabsf(a), fabs(a))
FUNCTION(SquareRoot, sqrtf(a), sqrt(a))
FUNCTION(ReciprocalRoot, 1.0f / sqrtf(a), 1.0 / sqrt(a))
FUNCTION(Floor, floorf(a), floor(a))
FUNCTION(Ceil, ceilf(a), ceil(a))
FUNCTION(Round, rintf(a), rint(a))
FUNCTION(Trunc, truncf(a), trunc(a))

// With torch's `alpha` or `value`.
struct Scaled {
    explicit Scaled(const double* numbers) : number(numbers == nullptr ? 1.0 : numbers[0]) {}
    double number;
};
struct AddScaled : Scaled {
    using Scaled::Scaled;
    template <typename T>
    T operator()(T a, T b) const {
        return a + b * (T)(int64_t)number;
    }
    float operator()(float a, float b) const { return a + b * (float)number; }
    double operator()(double a, double b) const { return a + b * number; }
};
struct AddProduct : Scaled {
    using Scaled::Scaled;
    float operator()(float a, float b, float c) const { return a + (b * (float)number) * c; }
    double operator()(double a, double b, double c) const { return a + (b * number) * c; }
};
struct AddQuotient : Scaled {
    using Scaled::Scaled;
    float operator()(float a, float b, float c) const { return a + (b * (float)number) / c; }
    double operator()(double a, double b, double c) const { return a + (b * number) / c; }
};
// From the nearer end, for accuracy.
struct Interpolate : Plain {
    using Plain::Plain;
    template <typename T>
    T operator()(T a, T b, T weight) const {
        const T apart = b - a, near = a + weight * apart, far = b - apart * (T(1) - weight);
        return (weight < 0 ? -weight : weight) < T(0.5) ? near : far;
    }
};
// The upper bound wins, nan stays.
struct Bounded : Plain {
    using Plain::Plain;
    template <typename T>
    T operator()(T a, T low, T high) const {
        const T raised = a >= low || a != a ? a : low;
        return raised <= high || raised != raised ? raised : high;
    }
};

// bfloat16 is the upper half of a float.
inline float widened(uint16_t x) { return __builtin_bit_cast(float, (uint32_t)x << 16); }
inline uint16_t rounded(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const uint32_t even = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)(x != x ? (bits >> 16) | 0x40 : even);
}

// One element of an operand: of those that bit `place` of `form` is set for, they are all one float.
template <int form, int place>
inline float element(const void* in, size_t i) {
    if constexpr ((form >> place & 1) != 0) {
        return *static_cast<const float*>(in);
    } else {
        return widened(static_cast<const uint16_t*>(in)[i]);
    }
}

template <typename Op, int arity, int form = 0>
void brain_loop(void* out, const void* const* in, size_t count, const double* numbers) {
    auto* to = static_cast<uint16_t*>(out);
    const void *a = in[0], *b = in[arity > 1 ? 1 : 0], *c = in[arity > 2 ? 2 : 0];
    const Op op(numbers);
#pragma GCC ivdep
    for (size_t i = 0; i < count; i++) {
        if constexpr (arity == 1) {
            to[i] = rounded(op(element<form, 0>(a, i)));
        } else if constexpr (arity == 2) {
            to[i] = rounded(op(element<form, 0>(a, i), element<form, 1>(b, i)));
        } else {
            to[i] = rounded(op(element<form, 0>(a, i), element<form, 1>(b, i), element<form, 2>(c, i)));
        }
    }
}

// What changes the sign alone.
template <typename Op>
void brain_bits(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<uint16_t*>(out);
    const auto* from = static_cast<const uint16_t*>(in[0]);
#pragma GCC ivdep
    for (size_t i = 0; i < count; i++) to[i] = Op::of(from[i]);
}
struct BrainNegative {
    static uint16_t of(uint16_t x) { return (uint16_t)(x ^ 0x8000); }
};
struct BrainAbsolute {
    static uint16_t of(uint16_t x) { return x & 0x7fff; }
};
struct BrainRectify {
    static uint16_t of(uint16_t x) { return (int16_t)x > 0 || (x & 0x7fff) > 0x7f80 ? x : 0; }
};

// Counts that are negative or too large leave nothing, or the sign.
OPERATION(LeftShift, (T a, T b), (uint64_t)b < 64 ? (T)((uint64_t)a << (b & 63)) : T(0))
OPERATION(RightShift, (T a, T b), a >> ((uint64_t)b < 63 ? b : T(63)))

struct FiniteNumber {
    explicit FiniteNumber(const double* numbers) : nan(numbers[0]), most(numbers[1]), least(numbers[2]) {}
    double nan, most, least;
    template <typename T>
    T operator()(T a) const {
        const T known = a != a ? (T)nan : a, high = a == T(INFINITY) ? (T)most : known;
        return a == -T(INFINITY) ? (T)least : high;
    }
};

// What is left of a after whole multiples of b, with the sign of b where `floored`, else of a. In double precision it
// is exact where the quotient has less than 29 bits; blocks with others, infinities and nans are the C library's.
template <bool floored>
void remainders(void* out, const void* const* in, size_t count, const double*) {
    constexpr size_t PART = 64;
    auto* to = static_cast<float*>(out);
    const auto *a = static_cast<const float*>(in[0]), *b = static_cast<const float*>(in[1]);
    for (size_t start = 0; start < count; start += PART, to += PART, a += PART, b += PART) {
        const size_t part = count - start < PART ? count - start : PART;
        float rests[PART];
        int other = 0;
        for (size_t i = 0; i < part; i++) {
            const double x = a[i], y = b[i], quotient = trunc(x / y), rest = x - quotient * y;
            other |= !(fabs(quotient) < 536870912.0) | (rest != rest);
            // A quotient that was rounded up to a whole number is one too large.
            const double back = (rest < 0) != (x < 0) && rest != 0 ? fabs(y) - fabs(rest) : rest;
            rests[i] = copysignf((float)fabs(back), a[i]);
        }
        if (other)
            for (size_t i = 0; i < part; i++) rests[i] = fmodf(a[i], b[i]);
        for (size_t i = 0; i < part; i++) {
            const float rest = rests[i];
            to[i] = floored && rest != 0 && (rest < 0) != (b[i] < 0) ? rest + b[i] : rest;
        }
    }
}

// The first operand tells which of the others.
template <typename T>
void select(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<T*>(out);
    const auto* chosen = static_cast<const Byte*>(in[0]);
    const auto* a = static_cast<const T*>(in[1]);
    const auto* b = static_cast<const T*>(in[2]);
#pragma GCC ivdep
    for (size_t i = 0; i < count; i++) to[i] = chosen[i] ? a[i] : b[i];
}

}  // namespace

#define FLOATS(Op, arity) loop<Op, arity, float>, loop<Op, arity, double>
#define NUMBERS(Op, arity) FLOATS(Op, arity), loop<Op, arity, int64_t>
// Integers wrap, as unsigned ones do.
#define WRAPPED(Op, arity) FLOATS(Op, arity), loop<Op, arity, uint64_t>
#define BRAIN_PAIR(Op) {brain_loop<Op, 2>, brain_loop<Op, 2, 1>, brain_loop<Op, 2, 2>}
#define TRUTHS(Op, arity) \
    loop<Op, arity, float, Byte>, loop<Op, arity, double, Byte>, loop<Op, arity, int64_t, Byte>, loop<Op, arity, Byte>

#define FLOATS_OF_ONE(Op, one) loop_of_one<Op, one, float>, loop_of_one<Op, one, double>
#define ARITHMETIC_OF_ONE(one)                                                           \
    {                                                                                    \
        {FLOATS_OF_ONE(AddScaled, one), loop_of_one<AddScaled, one, uint64_t>, nullptr}, \
        {FLOATS_OF_ONE(Multiply, one), loop_of_one<Multiply, one, uint64_t>, nullptr},   \
        {FLOATS_OF_ONE(Divide, one), nullptr, nullptr},                                  \
        {FLOATS_OF_ONE(Maximum, one), loop_of_one<Maximum, one, int64_t>, nullptr},      \
        {FLOATS_OF_ONE(Minimum, one), loop_of_one<Minimum, one, int64_t>, nullptr},      \
    }
#define TRUTHS_OF_ONE(Op, one) \
    loop_of_one<Op, one, float, Byte>, loop_of_one<Op, one, double, Byte>, loop_of_one<Op, one, int64_t, Byte>, nullptr
#define COMPARISONS_OF_ONE(one)                                                                              \
    {                                                                                                        \
        {TRUTHS_OF_ONE(Equal, one)},     {TRUTHS_OF_ONE(NotEqual, one)}, {TRUTHS_OF_ONE(Less, one)},         \
        {TRUTHS_OF_ONE(LessEqual, one)}, {TRUTHS_OF_ONE(Greater, one)},  {TRUTHS_OF_ONE(GreaterEqual, one)}, \
    }

extern const PointwiseLoops MINDTORCH_LOOPS(pointwise_loops) = {
    {
        {WRAPPED(AddScaled, 2), nullptr},
        {WRAPPED(Multiply, 2), loop<And, 2, Byte>},
        {FLOATS(Divide, 2), nullptr, nullptr},
        {NUMBERS(Maximum, 2), loop<Or, 2, Byte>},
        {NUMBERS(Minimum, 2), loop<And, 2, Byte>},
        {nullptr, nullptr, loop<And, 2, int64_t>, loop<And, 2, Byte>},
        {nullptr, nullptr, loop<Or, 2, int64_t>, loop<Or, 2, Byte>},
        {nullptr, nullptr, loop<Xor, 2, int64_t>, loop<Xor, 2, Byte>},
        {WRAPPED(Negative, 1), nullptr},
        {NUMBERS(Absolute, 1), nullptr},
        {FLOATS(SquareRoot, 1), nullptr, nullptr},
        {FLOATS(ReciprocalRoot, 1), nullptr, nullptr},
        {FLOATS(Reciprocal, 1), nullptr, nullptr},
        {NUMBERS(Rectify, 1), nullptr},
        {FLOATS(Floor, 1), nullptr, nullptr},
        {FLOATS(Ceil, 1), nullptr, nullptr},
        {FLOATS(Round, 1), nullptr, nullptr},
        {FLOATS(Trunc, 1), nullptr, nullptr},
        {NUMBERS(Sign, 1), nullptr},
        {nullptr, nullptr, loop<Not, 1, int64_t>, loop<LogicalNot, 1, Byte>},
        {WRAPPED(Square, 1), nullptr},
        {WRAPPED(Cube, 1), nullptr},
        {FLOATS(ReciprocalSquare, 1), nullptr, nullptr},
        {NUMBERS(Bounded, 3), nullptr},
        {select<float>, select<double>, select<int64_t>, select<Byte>},
        {FLOATS(AddProduct, 3), nullptr, nullptr},
        {FLOATS(AddQuotient, 3), nullptr, nullptr},
        {FLOATS(Interpolate, 3), nullptr, nullptr},
        {remainders<true>, nullptr, nullptr, nullptr},
        {remainders<false>, nullptr, nullptr, nullptr},
        {nullptr, nullptr, loop<LeftShift, 2, int64_t>, nullptr},
        {nullptr, nullptr, loop<RightShift, 2, int64_t>, nullptr},
        {FLOATS(FiniteNumber, 1), nullptr, nullptr},
    },
    {
        {TRUTHS(Equal, 2)},
        {TRUTHS(NotEqual, 2)},
        {TRUTHS(Less, 2)},
        {TRUTHS(LessEqual, 2)},
        {TRUTHS(Greater, 2)},
        {TRUTHS(GreaterEqual, 2)},
        {TRUTHS(LogicalAnd, 2)},
        {TRUTHS(LogicalOr, 2)},
        {TRUTHS(LogicalXor, 2)},
        {TRUTHS(LogicalNot, 1)},
        {TRUTHS(IsNan, 1)},
        {TRUTHS(IsInfinite, 1)},
        {TRUTHS(IsFinite, 1)},
    },
    {
        BRAIN_PAIR(AddScaled),
        BRAIN_PAIR(Multiply),
        BRAIN_PAIR(Divide),
        BRAIN_PAIR(Maximum),
        BRAIN_PAIR(Minimum),
        {},
        {},
        {},
        {brain_bits<BrainNegative>},
        {brain_bits<BrainAbsolute>},
        {brain_loop<SquareRoot, 1>},
        {brain_loop<ReciprocalRoot, 1>},
        {brain_loop<Reciprocal, 1>},
        {brain_bits<BrainRectify>},
        {brain_loop<Floor, 1>},
        {brain_loop<Ceil, 1>},
        {brain_loop<Round, 1>},
        {brain_loop<Trunc, 1>},
        {brain_loop<Sign, 1>},
        {},
        {brain_loop<Square, 1>},
        {brain_loop<Cube, 1>},
        {brain_loop<ReciprocalSquare, 1>},
        {brain_loop<Bounded, 3>, nullptr, nullptr, nullptr, nullptr, nullptr, brain_loop<Bounded, 3, 6>},
        {},
        {brain_loop<AddProduct, 3>},
        {brain_loop<AddQuotient, 3>},
        {brain_loop<Interpolate, 3>, nullptr, nullptr, nullptr, brain_loop<Interpolate, 3, 4>},
    },
    {ARITHMETIC_OF_ONE(0), ARITHMETIC_OF_ONE(1)},
    {COMPARISONS_OF_ONE(0), COMPARISONS_OF_ONE(1)},
};

}  // namespace mindtorch
