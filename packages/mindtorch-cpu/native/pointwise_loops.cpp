// Plain loops that the compiler vectorises; built once per instruction set.
#include "pointwise.h"

#include <math.h>

namespace mindtorch {

namespace {

struct Add {
    template <typename T> static T of(T a, T b) { return a + b; }
};
struct Subtract {
    template <typename T> static T of(T a, T b) { return a - b; }
};
struct Multiply {
    template <typename T> static T of(T a, T b) { return a * b; }
};
struct Divide {
    template <typename T> static T of(T a, T b) { return a / b; }
};

// `out` may be an operand: an element is read before it is written.
template <typename Op, typename T, int left_step, int right_step>
void binary(void* out, const void* left, const void* right, size_t count) {
    auto* to = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(left);
    const auto* b = static_cast<const T*>(right);
    if constexpr (left_step == 0) {
        const T number = *a;
        for (size_t i = 0; i < count; i++) to[i] = Op::of(number, b[i]);
    } else if constexpr (right_step == 0) {
        const T number = *b;
        for (size_t i = 0; i < count; i++) to[i] = Op::of(a[i], number);
    } else {
        for (size_t i = 0; i < count; i++) to[i] = Op::of(a[i], b[i]);
    }
}

struct Negative {
    template <typename T> static T of(T a) { return -a; }
};
struct SquareRoot {
    static float of(float a) { return sqrtf(a); }
    static double of(double a) { return sqrt(a); }
};
struct Absolute {
    static float of(float a) { return fabsf(a); }
    static double of(double a) { return fabs(a); }
};
struct Rectify {  // nan stays; -0.0 becomes 0.0, which is what numpy's maximum and torch's give
    template <typename T> static T of(T a) { return a > T(0) || a != a ? a : T(0); }
};

template <typename Op, typename T>
void unary(void* out, const void* in, size_t count) {
    auto* to = static_cast<T*>(out);
    const auto* a = static_cast<const T*>(in);
    for (size_t i = 0; i < count; i++) to[i] = Op::of(a[i]);
}

}  // namespace

#define BINARY(Op)                                                          \
    {                                                                       \
        {binary<Op, float, 1, 1>, binary<Op, double, 1, 1>},                \
        {binary<Op, float, 0, 1>, binary<Op, double, 0, 1>},                \
        {binary<Op, float, 1, 0>, binary<Op, double, 1, 0>},                \
    }
#define UNARY(Op) {unary<Op, float>, unary<Op, double>}

extern const PointwiseLoops MINDTORCH_LOOPS(pointwise_loops) = {
    {BINARY(Add), BINARY(Subtract), BINARY(Multiply), BINARY(Divide)},
    {UNARY(Negative), UNARY(SquareRoot), UNARY(Absolute), UNARY(Rectify)},
};

}  // namespace mindtorch
