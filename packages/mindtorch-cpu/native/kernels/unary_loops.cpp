// Elementary functions of dense float32 elements.
#include "kernels/activation.h"
#include "simd/double_function.h"
#include "simd/vector_map.h"
#include "simd/loop.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace mindtorch {

namespace {

#define FUNCTION(Name, value)                                             \
    struct Name : NoNumbers {                                             \
        using NoNumbers::NoNumbers;                                       \
        INLINE Floats operator()(const Floats& x) const { return value; } \
    };

#if defined(__AVX512F__)
// The bits of `exp`, with instructions that scale by powers of two, and choose the larger of two, at once.
INLINE Floats scaled_exp(const Floats& x) {
    constexpr __mmask16 ALL = 0xffff;  // without a mask GCC 12's headers read what is not set
    const __m512 least = _mm512_set1_ps(-105.0f), most = _mm512_set1_ps(90.0f);
    const __m512 above = _mm512_maskz_max_ps(ALL, least, (__m512)x);  // nan passes both
    const Floats within = (Floats)_mm512_maskz_min_ps(ALL, most, above);
    const Exponential made = exponential(within);
    return (Floats)_mm512_maskz_scalef_ps(ALL, (__m512)made.p, (__m512)made.n);
}
FUNCTION(Exp, scaled_exp(x))
#else
FUNCTION(Exp, exp(x))
#endif
FUNCTION(Expm1, expm1(x))
FUNCTION(Log, log(x))
FUNCTION(Log1p, log1p(x))
FUNCTION(Tanh, tanh(x))
FUNCTION(Erf, erf(x))
FUNCTION(Sigmoid, 1.0f / (1.0f + exp(-x)))

// The power of two is taken by what has few bits, so that whole logarithms come out whole, and what is left of it.
template <int base>
struct LogTo : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        constexpr float factor = base == 2 ? 1.44269504088896340736f : 0.43429448190325182765f;
        constexpr float most = base == 2 ? 1.0f : 0.30078125f, rest = base == 2 ? 0.0f : 2.48745663981195213739e-4f;
        const Ints tiny = x < 1.17549435e-38f;
        const Floats u = tiny ? x * 8388608.0f : x;
        const Ints above = (bits(u) - 0x3f3504f3) >> 23;  // from sqrt(0.5)
        const Floats f = (Floats)(bits(u) - (above << 23)) - 1.0f;
        const Floats n = __builtin_convertvector(tiny ? above - 23 : above, Floats);
        return log_limits(x, n * most + (log_of(Ints{}, f) * factor + n * rest));
    }
};

// True when a lane is.
INLINE bool any(const Ints& truth) {
    typedef long long Two __attribute__((vector_size(16)));
    Two parts[LANE_BYTES / 16];
    memcpy(parts, &truth, sizeof parts);
    for (size_t i = 1; i < LANE_BYTES / 16; i++) parts[0] |= parts[i];
    return (parts[0][0] | parts[0][1]) != 0;
}

#if defined(__FMA__)
// Sine, or cosine where `shift` is 1, of angles whose whole quarters leave a remainder that three fused steps find.
constexpr float LARGEST_SHORT = 4096.0f;
template <int shift>
INLINE Floats short_sin(const Floats& x) {
    const Floats shifted = x * 0.636619772f + 12582912.0f, n = shifted - 12582912.0f;
    Floats r = x - n * 1.57079637e+00f;
    r = r + n * 4.37113883e-08f;
    r = r + n * 1.71512451e-15f;
    const Ints quarter = bits(shifted) + shift;
    const Floats z = r * r;
    Floats sine = z * -1.9515295891e-4f + 8.3321608736e-3f;
    sine = sine * z - 1.6666654611e-1f;
    sine = sine * z * r + r;
    Floats cosine = z * 2.443315711809948e-5f - 1.388731625493765e-3f;
    cosine = cosine * z + 4.166664568298827e-2f;
    cosine = (cosine * z - 0.5f) * z + 1.0f;
    const Floats value = (quarter & 1) != 0 ? cosine : sine;
    const Floats found = (Floats)(bits(value) ^ ((quarter & 2) << 30));
    if constexpr (shift == 0) return x == 0.0f ? x : found;  // zeros keep their sign
    return found;
}
#endif

// Where the angle's remainder is no longer exact, the C library's function is taken.
template <int shift>
struct Sin : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
#if defined(__FMA__)
        const Ints is_long = absolute(x) < LARGEST_SHORT ? Ints{} : ~Ints{};
        const Floats value = short_sin<shift>(x);
        return any(is_long) ? (is_long ? of_any(x) : value) : value;  // no lane depends on another one
#else
        return of_any(x);
#endif
    }
    static __attribute__((noinline)) Floats of_any(const Floats& x) {
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

struct LogAddExp : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& a, const Floats& b) const {
        const Floats most = ((a > b) | (a != a)) ? a : b;
        const Floats value = most + log1p(exp(-absolute(a - b)));
        return ((a == b) & (absolute(a) == INFINITY)) ? a : value;  // of two infinities the difference is none
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
