// Elementary functions of floats that are computed in double precision, half as many at a time: errors are those of the
// last rounding, and results below the smallest normal float come out right.
#pragma once

#include "simd/vector.h"

#include <math.h>

namespace mindtorch {
namespace {

typedef double Doubles __attribute__((vector_size(LANE_BYTES)));
typedef long long Longs __attribute__((vector_size(LANE_BYTES)));
typedef float HalfFloats __attribute__((vector_size(LANE_BYTES / 2)));

INLINE Doubles widened(const Floats& value, size_t half) {
    HalfFloats part;
    memcpy(&part, reinterpret_cast<const char*>(&value) + half * sizeof part, sizeof part);
    return __builtin_convertvector(part, Doubles);
}

// f, a function of doubles, of floats.
template <typename F>
INLINE Floats through_double(const Floats& x, const F& f) {
    Floats result;
    for (size_t half = 0; half < 2; half++) {
        const HalfFloats part = __builtin_convertvector(f(widened(x, half)), HalfFloats);
        memcpy(reinterpret_cast<char*>(&result) + half * sizeof part, &part, sizeof part);
    }
    return result;
}

template <typename F>
INLINE Floats through_double(const Floats& x, const Floats& y, const F& f) {
    Floats result;
    for (size_t half = 0; half < 2; half++) {
        const HalfFloats part = __builtin_convertvector(f(widened(x, half), widened(y, half)), HalfFloats);
        memcpy(reinterpret_cast<char*>(&result) + half * sizeof part, &part, sizeof part);
    }
    return result;
}

INLINE Doubles all_doubles(double value) { return Doubles{} + value; }

constexpr double SHIFT = 6755399441055744.0;  // 1.5 * 2**52: adding it rounds to a whole number, in the low bits

// What is left of x when whole multiples of ln 2 are taken off; which, stands in the low bits of `shifted`.
INLINE Doubles rest_of_exponent(const Doubles& x, Doubles& shifted) {
    shifted = x * 1.4426950408889634 + SHIFT;
    const Doubles n = shifted - SHIFT;
    return (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
}
INLINE Longs power_of_two(const Doubles& shifted) { return (Longs)shifted - 0x4338000000000000LL; }

// e**x - 1 where `less`, else e**x, for x that give a float that is not 0 or infinite, and somewhat further.
template <bool less>
INLINE Doubles double_exp_limited(const Doubles& x) {
    Doubles within = x < -150.0 ? all_doubles(-150.0) : x;
    within = within > 150.0 ? all_doubles(150.0) : within;  // nan passes both
    Doubles shifted;
    const Doubles r = rest_of_exponent(within, shifted);
    Doubles p = r * 2.48015873015873015873e-05 + 1.98412698412698412698e-04;
    p = p * r + 1.38888888888888888889e-03;
    p = p * r + 8.33333333333333333333e-03;
    p = p * r + 4.16666666666666666667e-02;
    p = p * r + 1.66666666666666666667e-01;
    p = p * r + 0.5;
    p = p * (r * r) + r;
    const Longs power = power_of_two(shifted);
    const Doubles scale = (Doubles)((power + 1023) << 52);
    if constexpr (less) {
        return scale * p + (scale - 1.0);
    } else {
        return scale * p + scale;
    }
}

// log(1 + x), or log(x) where not `plus_one`: the arguments are positive normal doubles, 1 + x too.
template <bool plus_one>
INLINE Doubles double_log(const Doubles& x) {
    const Doubles u = plus_one ? x + 1.0 : x;
    const Longs above = (Longs)u - 0x3fe6a09e667f3bcdLL;  // from sqrt(0.5)
    const Longs power = above >> 52;
    const Doubles m = (Doubles)((Longs)u - (power << 52));
    const Doubles f = plus_one ? (power == 0 ? x : m - 1.0) : m - 1.0;
    const Doubles s = f / (f + 2.0), z = s * s;
    Doubles p = z * (2.0 / 13) + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    const Doubles small = s * 2.0 + s * (z * p);
    const Doubles n = (Doubles)(power + 0x4338000000000000LL) - SHIFT;
    return n * 0.69314718055994530942 + small;
}

// What logarithms give outside of their domain; `x` is what the logarithm is of.
INLINE Floats log_limits(const Floats& x, const Floats& result) {
    Floats value = x == INFINITY ? x : result;
    value = x == 0.0f ? all(-INFINITY) : value;
    return ((x < 0.0f) | (x != x)) ? all(NAN) : value;
}

// log(2**power (1 + f)).
INLINE Floats log_of(const Ints& power, const Floats& f) {
    const Floats n = __builtin_convertvector(power, Floats), z = f * f;
    Floats p = f * 7.0376836292e-2f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    const Floats small = (p * f * z + n * -2.12194440e-4f) - z * 0.5f;
    return n * 0.693359375f + (f + small);
}

INLINE Floats log(const Floats& x) {
    const Ints tiny = x < 1.17549435e-38f;
    const Floats u = tiny ? x * 8388608.0f : x;
    const Ints power = (bits(u) - 0x3f3504f3) >> 23;  // from sqrt(0.5)
    const Floats f = (Floats)(bits(u) - (power << 23)) - 1.0f;
    return log_limits(x, log_of(tiny ? power - 23 : power, f));
}

INLINE Floats log1p(const Floats& x) {
    const Floats u = x + 1.0f;
    const Ints power = (bits(u) - 0x3f3504f3) >> 23;
    const Ints scale = power > 30 ? Ints{} : (127 - power) << 23;
    const Floats lost = (x - (u - 1.0f)) * (Floats)scale;
    const Floats f = power == 0 ? x : ((Floats)(bits(u) - (power << 23)) - 1.0f) + lost;
    const Floats found = log_of(power, f);
    return x == 0.0f ? x : log_limits(u, found);
}

// log(1 + e**x)
INLINE Floats softplus1(const Floats& x) {
    const Floats e = exp_of_negative(-absolute(x)), s = e / (e + 2.0f), z = s * s;
    Floats p = z * (2.0f / 13) + 2.0f / 11;
    p = p * z + 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    const Floats above = x < 0.0f ? Floats{} : x;  // nan stays
    return above + (s * 2.0f + s * (z * p));
}

// e**x - 1: 2**n (q + 1) - 1, where q is what the polynomial of e**r has beside 1, and 2**n in two factors.
INLINE Floats expm1(const Floats& x) {
    Floats within = x < -105.0f ? all(-105.0f) : x;
    within = within > 90.0f ? all(90.0f) : within;  // nan passes both
    const Floats shifted = within * 1.442695041f + 12582912.0f;
    const Floats n = shifted - 12582912.0f;
    const Floats r = (within - n * 0.693359375f) + n * 2.12194440e-4f;
    Floats q = r * 1.395062776e-03f + 8.368969895e-03f;
    q = q * r + 4.166620225e-02f;
    q = q * r + 1.666651815e-01f;
    q = q * r + 5.000000000e-01f;
    q = q * (r * r) + r;
    const Ints power = bits(shifted) - 0x4b400000, half = power >> 1, other = power - half;
    const Floats first = (Floats)((half + 127) << 23), second = (Floats)((other + 127) << 23);
    const Floats found = (q * first + (first - (Floats)((127 - other) << 23))) * second;
    return x == 0.0f ? x : found;
}

// Sine, or cosine where `shift` is 1, of what is not too large; quarters of the circle are counted from `shift`.
template <int shift>
INLINE Doubles double_sin_small(const Doubles& x) {
    const Doubles shifted = x * 0.63661977236758134308 + SHIFT;
    const Doubles n = shifted - SHIFT;
    const Doubles r = (x - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
    const Longs quarter = (Longs)shifted + shift;
    const Doubles z = r * r;
    Doubles sine = z * 2.75573192239858906526e-06 - 1.98412698412698412698e-04;
    sine = sine * z + 8.33333333333333333333e-03;
    sine = sine * z - 1.66666666666666666667e-01;
    sine = sine * (z * r) + r;
    Doubles cosine = z * -2.75573192239858906526e-07 + 2.48015873015873015873e-05;
    cosine = cosine * z - 1.38888888888888888889e-03;
    cosine = cosine * z + 4.16666666666666666667e-02;
    cosine = cosine * z - 0.5;
    cosine = cosine * z + 1.0;
    const Doubles value = (quarter & 1) != 0 ? cosine : sine;
    return (Doubles)((Longs)value ^ ((quarter & 2) << 62));
}

}  // namespace
}  // namespace mindtorch
