// Elementary functions of dense float32 elements and doubles.
#include "kernels/activation.h"
#include "simd/double_function.h"
#include "simd/special_function.h"
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

// 2**x: the whole number next to x, and e**r of what is left, times ln 2.
struct Exp2 : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        Floats within = x < -152.0f ? all(-152.0f) : x;
        within = within > 130.0f ? all(130.0f) : within;  // nan passes both
        const Floats shifted = within + 12582912.0f;
        const Floats r = (within - (shifted - 12582912.0f)) * 0.693147181f;
        Floats p = r * 1.395062776e-03f + 8.368969895e-03f;
        p = p * r + 4.166620225e-02f;
        p = p * r + 1.666651815e-01f;
        p = p * r + 5.000000000e-01f;
        p = (p * (r * r) + r) + 1.0f;
        const Ints power = bits(shifted) - 0x4b400000, half = power >> 1;
        return p * (Floats)((half + 127) << 23) * (Floats)((power - half + 127) << 23);
    }
};

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

// What the error function leaves of 1: e**(-t t) times a polynomial of 1 / (1 + 0.4 t), and 2 less that below zero.
INLINE Doubles double_erfc_limited(const Doubles& x) {
    Doubles t = size_of(x);
    t = t > 10.2 ? all_doubles(10.2) : t;  // nan passes
    const Doubles u = (1.0 / (1.0 + 0.4 * t) - 0.595) * 2.4691358024691357;
    Doubles p = u * -4.997268282689941e-07 - 4.931176472862802e-06;
    p = p * u + 7.1165427609808e-06;
    p = p * u + 6.851150319754435e-05;
    p = p * u - 9.158076968452795e-05;
    p = p * u - 0.0009916461066701542;
    p = p * u + 0.00014817599085047687;
    p = p * u + 0.01812251156375513;
    p = p * u + 0.08312639730181476;
    p = p * u + 0.2177250299683519;
    p = p * u + 0.3904572379671637;
    p = p * u + 0.29143367606796333;
    const Doubles rest = p * double_exp_limited<false>(-(t * t));
    return x < 0.0 ? 2.0 - rest : rest;
}
FUNCTION(Erfc, through_double(x, [](const Doubles& value) { return double_erfc_limited(value); }))

// The logarithm of one is no negative zero.
FUNCTION(LogGamma, through_double(x, [](const Doubles& value) { return log_gamma(value) + 0.0; }))

template <int order, bool scaled>
struct Bessel : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        return through_double(x, [](const Doubles& value) { return bessel<order, scaled>(value); });
    }
};

using BesselI0 = Bessel<0, false>;
using ScaledBesselI0 = Bessel<0, true>;
using BesselI1 = Bessel<1, false>;
using ScaledBesselI1 = Bessel<1, true>;

// The entropy of a probability.
struct Entropy : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        const Floats inside = x == 0.0f ? all(0.0f) : -x * log(x);
        return x < 0.0f ? all(-INFINITY) : inside;
    }
};

// sin(x) / x, of a multiple of x where `scaled`.
template <bool scaled>
struct SineOverAngle : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        const Floats angle = scaled ? x * 3.14159265f : x;
        const Floats found = x == 0.0f ? all(1.0f) : Sin<0>(nullptr)(angle) / angle;
        return !scaled && any(absolute(x) == INFINITY) ? (absolute(x) == INFINITY ? all(0.0f) : found) : found;
    }
};

// The inverse of the error function: x times a polynomial of w = -log(1 - x x), one of two.
INLINE Doubles double_erfinv_limited(const Doubles& x) {
    const Doubles w = -double_log<true>(-(x * x));
    const Doubles near = (w - 3.0) * 0.3333333333333389, far = (w - 11.0) * 0.2;
    Doubles p = near * 3.8592200669516966e-05 - 0.00010696172237578753;
    p = p * near - 0.00012426039465072514;
    p = p * near + 0.0009789885713056305;
    p = p * near - 0.001291310602910211;
    p = p * near - 0.003086993522445186;
    p = p * near + 0.015804259671068816;
    p = p * near - 0.022577539263864254;
    p = p * near - 0.051643622307191134;
    p = p * near + 0.7248912460823683;
    p = p * near + 1.6235420128541793;
    Doubles q = far * 1.9345646703632278e-05 - 5.556667908945515e-05;
    q = q * far + 7.51716828172264e-05;
    q = q * far - 7.322104402792499e-05;
    q = q * far - 8.139731347397581e-05;
    q = q * far + 0.0009351170483715407;
    q = q * far - 0.00428892621269773;
    q = q * far + 0.017627047930960194;
    q = q * far - 0.08350364232728258;
    q = q * far + 0.7582463177625596;
    q = q * far + 3.15088355585136;
    return x * (w < 6.0 ? p : q);
}
struct Erfinv : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& x) const {
        const Floats size = absolute(x);
        const Floats found = through_double(x, [](const Doubles& value) { return double_erfinv_limited(value); });
        const Floats ends = size == 1.0f ? with_sign(all(INFINITY), x) : all(NAN);
        return size < 1.0f ? found : ends;
    }
};

// Of an infinity and whatever else the length is infinite.
struct Hypot : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& a, const Floats& b) const {
        const Floats found =
            through_double(a, b, [](const Doubles& x, const Doubles& y) { return root_of(x * x + y * y); });
        return ((absolute(a) == INFINITY) | (absolute(b) == INFINITY)) ? all(INFINITY) : found;
    }
    static INLINE Doubles root_of(const Doubles& square) {
        Doubles root;
        for (size_t i = 0; i < LANES / 2; i++) root[i] = sqrt(square[i]);
        return root;
    }
};
// Squares of what is large or small would be infinite or vanish: those are of numbers with another power of two.
struct DoubleHypot : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Doubles operator()(const Doubles& a, const Doubles& b) const {
        const Doubles x = size_of(a), y = size_of(b), most = x < y ? y : x;
        const Doubles scale = most > 0x1p500    ? all_doubles(0x1p-600)
                              : most < 0x1p-450 ? all_doubles(0x1p600)
                                                : all_doubles(1.0);
        const Doubles u = most * scale, v = (x < y ? x : y) * scale;
        const Doubles found = corrected(u, v, Hypot::root_of(u * u + v * v)) / scale;
        return ((x == INFINITY) | (y == INFINITY)) ? all_doubles(INFINITY) : found;
    }
    // One step of Newton's method from a root h of u² + v², u >= v, whose excess h² - u² - v² is found from differences
    // that are exact: nearly all results are those of one rounding (C. F. Borges, An improved algorithm for hypot,
    // 2020).
    static INLINE Doubles corrected(const Doubles& u, const Doubles& v, const Doubles& h) {
        const Doubles near = h - v, far = h - u;
        const Doubles of_near = u * (2.0 * near - u) + (near - 2.0 * (u - v)) * near;
        const Doubles of_far = 2.0 * far * (u - 2.0 * v) + ((4.0 * far - v) * v + far * far);
        const Doubles excess = h <= 2.0 * v ? of_near : of_far;
        return h > 0.0 ? h - excess / (2.0 * h) : h;
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

struct LogAddExp2 : NoNumbers {
    using NoNumbers::NoNumbers;
    INLINE Floats operator()(const Floats& a, const Floats& b) const {
        const Floats most = ((a > b) | (a != a)) ? a : b;
        const Floats value = most + log1p(Exp2(nullptr)(-absolute(a - b))) * 1.44269504088896340736f;
        return ((a == b) & (absolute(a) == INFINITY)) ? a : value;
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
#define WIDE(Op, arity)                  \
    {                                    \
        {                                \
            double_vector_map<Op, arity> \
        }                                \
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

extern const FunctionLoops MINDTORCH_LOOPS(function_loops) = {
    {MINDTORCH_FUNCTIONS(LOOPS)}, {{nullptr, nullptr, lookup}}, VECTOR_BYTES == 64};

}  // namespace mindtorch
