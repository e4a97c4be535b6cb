// Elementary functions of dense float32 elements.
#include "kernels/activation.h"
#include "simd/double_function.h"
#include "simd/vector_map.h"
#include "simd/loop.h"

namespace mindtorch {

namespace {

#define FUNCTION(Name, value)                                             \
    struct Name : NoNumbers {                                             \
        using NoNumbers::NoNumbers;                                       \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };

FUNCTION(Exp, exp(x))
FUNCTION(Expm1, expm1(x))
FUNCTION(Log, log(x))
FUNCTION(Log1p, log1p(x))
FUNCTION(Tanh, tanh(x))
FUNCTION(Erf, erf(x))
FUNCTION(Sigmoid, 1.0f / (1.0f + exp(-x)))

template <int base>
struct LogTo : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        constexpr double factor = base == 2 ? 1.44269504088896340736 : 0.43429448190325182765;
        return log_limits(x, through_double(x, [](const Doubles& value) { return double_log<false>(value) * factor; }));
    }
};

// True when a lane is.
INLINE bool any(const Ints& truth) {
    int found = 0;
    for (size_t i = 0; i < LANES; i++) found |= truth[i];
    return found != 0;
}

// Where the angle's remainder is no longer exact, the C library's function is taken.
template <int shift>
struct Sin : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        Floats value = through_double(x, [](const Doubles& angle) { return double_sin_small<shift>(angle); });
        if constexpr (shift == 0) value = x == 0.0f ? x : value;
        return any(absolute(x) < 1e6f ? Ints{} : ~Ints{}) ? one_by_one(x) : value;
    }
    static __attribute__((noinline)) Floats one_by_one(const Floats& x) {
        Floats value;
        for (size_t i = 0; i < LANES; i++) value[i] = shift == 0 ? sinf(x[i]) : cosf(x[i]);
        return value;
    }
};

struct Pow : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x, const Floats& y) const {
        if (any(((x > 0.0f) & (x < INFINITY) & (absolute(y) < INFINITY)) ? Ints{} : ~Ints{})) return one_by_one(x, y);
        return through_double(x, y, [](const Doubles& base, const Doubles& exponent) {
            return double_exp_limited<false>(double_log<false>(base) * exponent);
        });
    }
    static __attribute__((noinline)) Floats one_by_one(const Floats& x, const Floats& y) {
        Floats value;
        for (size_t i = 0; i < LANES; i++) value[i] = powf(x[i], y[i]);
        return value;
    }
};

struct DoubleSigmoid {
    static INLINE Doubles of(const Doubles& x) { return 1.0 / (1.0 + double_exp(-x)); }
};
struct DoubleErf {
    static INLINE Doubles of(const Doubles& x) { return double_erf(x); }
};
template <int shift>
struct DoubleSin {
    static INLINE Doubles of(const Doubles& x) {
        const Longs large = size_of(x) < LARGEST_ANGLE ? Longs{} : ~Longs{};
        long long found = 0;
        for (size_t i = 0; i < LANES / 2; i++) found |= large[i];
        const Doubles value = double_sin<shift>(x);
        const Doubles kept = shift == 0 ? (x == 0.0 ? x : value) : value;
        return found != 0 ? one_by_one(x) : kept;
    }
    static __attribute__((noinline)) Doubles one_by_one(const Doubles& x) {
        Doubles value;
        for (size_t i = 0; i < LANES / 2; i++) value[i] = shift == 0 ? sin(x[i]) : cos(x[i]);
        return value;
    }
};

void lookup(void* out, const void* const* in, size_t count, const double*) {
    auto* to = static_cast<unsigned short*>(out);
    const auto *from = static_cast<const unsigned short*>(in[0]), *table = static_cast<const unsigned short*>(in[1]);
    MINDTORCH_IVDEP
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++) to[i] = table[from[i]];
}

}  // namespace

#define VECTORS(Op, arity)        \
    {                             \
        {                         \
            vector_map<Op, arity> \
        }                         \
    }
#define DOUBLES(Op)        \
    {                      \
        {                  \
            double_map<Op> \
        }                  \
    }
#define NONE \
    {        \
    }
#define LOOPS(name, arity, single, wide, rows) {single, wide},

extern const FunctionLoops MINDTORCH_LOOPS(function_loops) = {{MINDTORCH_FUNCTIONS(LOOPS)},
                                                              {{nullptr, nullptr, lookup}}};

}  // namespace mindtorch
