// Sixteen floats at a time, with AVX's registers eight, in the vector notation of GCC and Clang, which every
// instruction set is compiled from; and the elementary functions on them. Errors are below 2 ulp. Where the processor
// has fused multiplication the compiler uses it, so that the last bit may differ between sets.
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "simd/vector_width.h"

namespace mindtorch {
namespace {

// GCC makes conditions of vectors wider than AVX's registers element by element.
constexpr size_t LANES = VECTOR_BYTES == 32 ? 8 : 16, LANE_BYTES = LANES * sizeof(float);

typedef float Floats __attribute__((vector_size(LANE_BYTES)));
typedef int Ints __attribute__((vector_size(LANE_BYTES)));

#define INLINE inline __attribute__((always_inline))

INLINE Floats load(const float* from) {
    Floats value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void store(float* to, const Floats& value) { memcpy(to, &value, sizeof value); }

INLINE Floats all(float value) { return Floats{} + value; }

// The first `count` lanes; the others are `rest`.
INLINE Floats load_part(const float* from, size_t count, float rest) {
    float lanes[LANES];
    for (size_t i = 0; i < LANES; i++) lanes[i] = i < count ? from[i] : rest;
    return load(lanes);
}

INLINE void store_part(float* to, const Floats& value, size_t count) {
    float lanes[LANES];
    store(lanes, value);
    for (size_t i = 0; i < count; i++) to[i] = lanes[i];
}

INLINE Ints bits(const Floats& value) { return (Ints)value; }
INLINE Floats absolute(const Floats& x) { return (Floats)(bits(x) & 0x7fffffff); }
INLINE Floats with_sign(const Floats& size, const Floats& sign) {
    return (Floats)(bits(size) | (bits(sign) & (int)0x80000000));
}

// The second where one is nan.
template <typename V>
INLINE V greater_of(const V& a, const V& b) {
    return a > b ? a : b;
}

// All lanes in one, by halves: lanes of one half with those of the other.
template <typename OfTwo>
INLINE float fold(const Floats& value, const OfTwo& of_two) {
    typedef float Eight __attribute__((vector_size(32)));
    typedef float Four __attribute__((vector_size(16)));
    Eight eight[LANES / 8];
    memcpy(eight, &value, sizeof eight);
    const Eight e = LANES > 8 ? of_two(eight[0], eight[LANES / 8 - 1]) : eight[0];
    Four four[2];
    memcpy(four, &e, sizeof four);
    const Four f = of_two(four[0], four[1]);
    const float a = of_two(f[0], f[2]), b = of_two(f[1], f[3]);
    return of_two(a, b);
}
INLINE float sum_of(const Floats& value) {
    return fold(value, [](const auto& a, const auto& b) { return a + b; });
}
INLINE float greatest_of(const Floats& value) {
    return fold(value, [](const auto& a, const auto& b) { return a > b ? a : b; });
}

// The greatest of a row's numbers, for its exponentials: nans don't count, as the sum of those has them anyway.
INLINE float greatest(const float* row, size_t width) {
    Floats first = all(-INFINITY), second = first;
    size_t i = 0;
    for (; i + 2 * LANES <= width; i += 2 * LANES) {
        const Floats x = load(row + i), y = load(row + i + LANES);
        first = greater_of(x, first);
        second = greater_of(y, second);
    }
    for (; i < width; i += LANES) {
        const Floats x = width - i < LANES ? load_part(row + i, width - i, -INFINITY) : load(row + i);
        first = greater_of(x, first);
    }
    return greatest_of(greater_of(first, second));
}

// e**x as p 2**n: x = n ln 2 + r, and p a polynomial of r. The low bits of `shifted` are n.
struct Exponential {
    Floats p, n, shifted;
};
INLINE Exponential exponential(const Floats& x) {
    const Floats shifted = x * 1.442695041f + 12582912.0f;
    const Floats n = shifted - 12582912.0f;
    const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    Floats p = r * 1.395062776e-03f + 8.368969895e-03f;
    p = p * r + 4.166620225e-02f;
    p = p * r + 1.666651815e-01f;
    p = p * r + 5.000000000e-01f;
    p = (p * (r * r) + r) + 1.0f;
    return {p, n, shifted};
}

// e**x, with 2**n in two factors, so that results may be subnormal.
INLINE Floats exp(const Floats& x) {
    Floats within = x < -105.0f ? all(-105.0f) : x;
    within = within > 90.0f ? all(90.0f) : within;  // nan passes both
    const Exponential made = exponential(within);
    const Ints power = bits(made.shifted) - 0x4b400000;
    const Ints half = power >> 1;
    return made.p * (Floats)((half + 127) << 23) * (Floats)((power - half + 127) << 23);
}

// e**x of what is not above 0; 0 below -87, where it is subnormal.
INLINE Floats exp_of_negative(const Floats& x) {
    const Exponential made = exponential(x);
    return x < -87.0f ? Floats{} : made.p * (Floats)((bits(made.shifted) - (0x4b400000 - 127)) << 23);
}

// What of the normal distribution lies below x, to 1e-7: beyond t = |x| it is 2**(t q(t) - 1), an exponent that is
// never too small for the arithmetic of bits, as t counts for 5.6 at most; nan stays.
INLINE Floats normal_cdf(const Floats& x) {
    const Floats most = all(5.6f), t = absolute(x);
    const Floats within = most < t ? most : t;
    Floats q = within * 8.858418249e-06f - 5.769717054e-05f;
    q = q * within - 4.069796243e-04f;
    q = q * within + 7.363123956e-03f;
    q = q * within - 5.266660585e-02f;
    q = q * within - 4.591643239e-01f;
    q = q * within - 1.151108839e+00f;
    const Floats y = q * within - 1.0f;
    const Floats shifted = y + 12582912.0f;
    const Floats r = y - (shifted - 12582912.0f);
    Floats p = r * 1.326472910e-03f + 9.671512640e-03f;
    p = p * r + 5.550733737e-02f;
    p = p * r + 2.402224209e-01f;
    p = p * r + 6.931469776e-01f;
    p = p * r + 1.0f;
    const Floats beyond = (Floats)(bits(p) + (bits(shifted) << 23));
    return 0.5f + with_sign(0.5f - beyond, x);
}

// The error function: x + x p(x x) near zero, else 1 - e**(t q(t)).
INLINE Floats erf(const Floats& x) {
    const Floats s = x * x;
    Floats p = s * -5.953926011e-04f + 4.985984880e-03f;
    p = p * s - 2.676175907e-02f;
    p = p * s + 1.128168404e-01f;
    p = p * s - 3.761247993e-01f;
    p = p * s + 1.283791512e-01f;
    Floats t = absolute(x);
    const Ints small = t < 0.925f;
    t = t > 4.0f ? all(4.0f) : t;
    Floats q = t * -5.296989002e-06f + 4.994031406e-05f;
    q = q * t + 2.743601908e-05f;
    q = q * t - 2.869123360e-03f;
    q = q * t + 2.257561870e-02f;
    q = q * t - 1.051694974e-01f;
    q = q * t - 6.356731653e-01f;
    q = q * t - 1.128541470e+00f;
    const Floats large = with_sign(1.0f - exp(q * t), x);
    return small ? x + x * p : large;
}

// The hyperbolic tangent: x + x s p(s) near zero, else 1 - 2 / (e**2t + 1).
INLINE Floats tanh(const Floats& x) {
    const Floats s = x * x;
    Floats p = s * -5.666981451e-03f + 2.060618065e-02f;
    p = p * s - 5.373000726e-02f;
    p = p * s + 1.333133131e-01f;
    p = p * s - 3.333327770e-01f;
    const Floats t = absolute(x);
    const Floats large = 1.0f - 2.0f / (exp(t + t) + 1.0f);
    return with_sign(t < 0.625f ? t + t * (s * p) : large, x);
}

}  // namespace
}  // namespace mindtorch
