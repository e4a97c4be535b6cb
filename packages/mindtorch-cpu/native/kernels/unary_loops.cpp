// Elementary functions of dense float32 elements.
#include "kernels/activation.h"
#include "simd/double_function.h"
#include "simd/vector_map.h"

namespace mindtorch {

namespace {

#define FUNCTION(Name, value)                                             \
    struct Name : NoNumbers {                                             \
        using NoNumbers::NoNumbers;                                       \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };

FUNCTION(Exponential, exponential(x))
FUNCTION(ExponentialLessOne, exponential_less_one(x))
FUNCTION(Logarithm, logarithm(x))
FUNCTION(LogarithmOfOnePlus, logarithm_of_one_plus(x))
FUNCTION(Tangent, hyperbolic_tangent(x))
FUNCTION(ErrorFunction, error_function(x))
FUNCTION(Sigmoid, 1.0f / (1.0f + exponential(-x)))

template <int base>
struct LogarithmTo : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        constexpr double factor = base == 2 ? 1.44269504088896340736 : 0.43429448190325182765;
        return limited_logarithm(
            x, through_wide(x, [](const Doubles& value) { return wide_logarithm<false>(value) * factor; }));
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
struct Sine : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        Floats value = through_wide(x, [](const Doubles& angle) { return wide_sine<shift>(angle); });
        if constexpr (shift == 0) value = x == 0.0f ? x : value;
        return any(absolute(x) < 1e6f ? Ints{} : ~Ints{}) ? one_by_one(x) : value;
    }
    static __attribute__((noinline)) Floats one_by_one(const Floats& x) {
        Floats value;
        for (size_t i = 0; i < LANES; i++) value[i] = shift == 0 ? sinf(x[i]) : cosf(x[i]);
        return value;
    }
};

struct Power : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x, const Floats& y) const {
        if (any((x > 0.0f) & (x < INFINITY) & (absolute(y) < INFINITY) ? Ints{} : ~Ints{})) return one_by_one(x, y);
        return through_wide(x, y, [](const Doubles& base, const Doubles& exponent) {
            return wide_exponential<false>(wide_logarithm<false>(base) * exponent);
        });
    }
    static __attribute__((noinline)) Floats one_by_one(const Floats& x, const Floats& y) {
        Floats value;
        for (size_t i = 0; i < LANES; i++) value[i] = powf(x[i], y[i]);
        return value;
    }
};

struct WideSigmoid {
    static INLINE Doubles of(const Doubles& x) { return 1.0 / (1.0 + full_exponential(-x)); }
};
struct WideErrorFunction {
    static INLINE Doubles of(const Doubles& x) { return full_error_function(x); }
};
template <int shift>
struct WideSine {
    static INLINE Doubles of(const Doubles& x) {
        const Longs large = size_of(x) < LARGEST_ANGLE ? Longs{} : ~Longs{};
        long long found = 0;
        for (size_t i = 0; i < LANES / 2; i++) found |= large[i];
        const Doubles value = full_sine<shift>(x);
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
#pragma GCC ivdep
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++) to[i] = table[from[i]];
}

}  // namespace

extern const FunctionLoops MINDTORCH_LOOPS(function_loops) = {
    {
        {{{vector_map<Exponential, 1>}}},
        {{{vector_map<ExponentialLessOne, 1>}}},
        {{{vector_map<Logarithm, 1>}}},
        {{{vector_map<LogarithmTo<2>, 1>}}},
        {{{vector_map<LogarithmTo<10>, 1>}}},
        {{{vector_map<LogarithmOfOnePlus, 1>}}},
        {{{vector_map<Sine<0>, 1>}}, {{double_map<WideSine<0>>}}},
        {{{vector_map<Sine<1>, 1>}}, {{double_map<WideSine<1>>}}},
        {{{vector_map<Tangent, 1>}}},
        {{{vector_map<ErrorFunction, 1>}}, {{double_map<WideErrorFunction>}}},
        {{{vector_map<Sigmoid, 1>}}, {{double_map<WideSigmoid>}}},
        {{{vector_map<Power, 2>}}},
    },
    {{nullptr, nullptr, lookup}},
};

}  // namespace mindtorch
