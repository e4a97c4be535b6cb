// Elementary functions of doubles, a vector at a time, and the loop over dense elements. Errors are about 1 ulp.
#pragma once

#include "kernels/map.h"
#include "simd/vector_double.h"

namespace mindtorch {
namespace {

INLINE Doubles load_doubles(const double* from) {
    Doubles value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE Doubles size_of(const Doubles& x) { return (Doubles)((Longs)x & 0x7fffffffffffffffLL); }
INLINE Doubles with_sign_of(const Doubles& size, const Doubles& sign) {
    return (Doubles)((Longs)size | ((Longs)sign & (long long)0x8000000000000000ULL));
}

// e**r - 1 for what is left of an exponent, |r| <= ln 2 / 2.
INLINE Doubles double_expm1_of_rest(const Doubles& r) {
    Doubles p = r * 2.5100472505694996e-08 + 2.7620201591031547e-07;
    p = p * r + 2.7557268275906697e-06;
    p = p * r + 2.4801521057868204e-05;
    p = p * r + 0.00019841269863171557;
    p = p * r + 0.0013888888917367081;
    p = p * r + 0.008333333333330039;
    p = p * r + 0.041666666666623824;
    p = p * r + 0.16666666666666669;
    p = p * r + 0.5000000000000001;
    return p * (r * r) + r;
}

// The exponents that give another double than 0 or infinity, and somewhat further; nan stays.
INLINE Doubles double_exponent(const Doubles& x) {
    const Doubles above = x < -750.0 ? all_doubles(-750.0) : x;
    return above > 710.0 ? all_doubles(710.0) : above;
}

// e**x: x = n ln 2 + r, a polynomial of r, and 2**n in two factors, so that results may be subnormal or infinite.
INLINE Doubles double_exp(const Doubles& x) {
    Doubles shifted;
    const Doubles p = double_expm1_of_rest(rest_of_exponent(double_exponent(x), shifted)) + 1.0;
    const Longs power = power_of_two(shifted), half = power >> 1;
    return p * (Doubles)((half + 1023) << 52) * (Doubles)((power - half + 1023) << 52);
}

// e**x - 1, as `expm1` of floats.
INLINE Doubles double_expm1(const Doubles& x) {
    Doubles shifted;
    const Doubles q = double_expm1_of_rest(rest_of_exponent(double_exponent(x), shifted));
    const Longs power = power_of_two(shifted), half = power >> 1, other = power - half;
    const Doubles first = (Doubles)((half + 1023) << 52), second = (Doubles)((other + 1023) << 52);
    const Doubles found = (q * first + (first - (Doubles)((1023 - other) << 52))) * second;
    return x == 0.0 ? x : found;
}

// Angles up to which what is left of whole quarters of the circle is exact.
constexpr double LARGEST_ANGLE = 1e6;

// Sine, or cosine where `shift` is 1; quarters of the circle are counted from `shift`. The angle that is left is r + t.
template <int shift>
INLINE Doubles double_sin(const Doubles& x) {
    const Doubles shifted = x * 0.63661977236758134308 + SHIFT;
    const Doubles n = shifted - SHIFT;
    const Doubles near = (x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11;
    const Doubles last = n * 2.02226624879595063154e-21, r = near - last, t = (near - r) - last;
    const Longs quarter = (Longs)shifted + shift;
    const Doubles z = r * r;
    Doubles sine = z * 1.5917988979397204e-10 - 2.505112989645018e-08;
    sine = sine * z + 2.7557316093198404e-06;
    sine = sine * z - 0.00019841269836740532;
    sine = sine * z + 0.008333333333330936;
    sine = sine * z - 0.16666666666666666;
    sine = (sine * (z * r) + t) + r;
    Doubles cosine = z * -1.138254464392478e-11 + 2.087614504938899e-09;
    cosine = cosine * z - 2.755731726587793e-07;
    cosine = cosine * z + 2.48015872987544e-05;
    cosine = cosine * z - 0.0013888888888887389;
    cosine = cosine * z + 0.041666666666666664;
    const Doubles half = z * 0.5, most = 1.0 - half;
    cosine = most + (((1.0 - most) - half) + (cosine * (z * z) - r * t));
    const Doubles value = (quarter & 1) != 0 ? cosine : sine;
    return (Doubles)((Longs)value ^ ((quarter & 2) << 62));
}

// The error function: x + x p(x x) near zero, else 1 - e**(t q(t)).
INLINE Doubles double_erf(const Doubles& x) {
    const Doubles s = x * x;
    Doubles p = s * -8.146305237980713e-10 + 1.3895131895151542e-08;
    p = p * s - 1.6246203591763842e-07;
    p = p * s + 1.6452010243075747e-06;
    p = p * s - 1.4925082421728991e-05;
    p = p * s + 0.0001205531159293687;
    p = p * s - 0.0008548326491729192;
    p = p * s + 0.005223977617046873;
    p = p * s - 0.026866170644348104;
    p = p * s + 0.11283791670951347;
    p = p * s - 0.3761263890318368;
    p = p * s + 0.12837916709551256;
    Doubles t = size_of(x);
    const Longs small = t < 0.925;
    t = t > 6.0 ? all_doubles(6.0) : t;
    Doubles q = t * 1.7839821138386446e-12 - 7.784930166468651e-11;
    q = q * t + 1.5916260022621011e-09;
    q = q * t - 2.0249749606547514e-08;
    q = q * t + 1.793879331837173e-07;
    q = q * t - 1.170593608391522e-06;
    q = q * t + 5.781095014943761e-06;
    q = q * t - 2.1662808612043392e-05;
    q = q * t + 5.944248327737611e-05;
    q = q * t - 0.00010244831579470571;
    q = q * t + 1.2194423607906459e-05;
    q = q * t + 0.0005604905941688368;
    q = q * t - 0.001678759033301833;
    q = q * t + 0.00020177684901977365;
    q = q * t + 0.019130528429734117;
    q = q * t - 0.10277290868440812;
    q = q * t - 0.6366197728464166;
    q = q * t - 1.1283791621796737;
    const Doubles large = with_sign_of(1.0 - double_exp(q * t), x);
    return small ? x + x * p : large;
}

template <typename Op>
void double_map(void* out, const void* const* in, size_t count, const double*) {
    constexpr size_t MANY = LANES / 2;
    auto* to = static_cast<double*>(out);
    const auto* from = static_cast<const double*>(in[0]);
    size_t i = 0;
    for (; i + MANY <= count; i += MANY) {
        const Doubles value = Op::of(load_doubles(from + i));
        memcpy(to + i, &value, sizeof value);
    }
    if (i < count) {
        double rest[MANY] = {};
        for (size_t j = 0; i + j < count; j++) rest[j] = from[i + j];
        const Doubles value = Op::of(load_doubles(rest));
        memcpy(rest, &value, sizeof rest);
        for (size_t j = 0; i + j < count; j++) to[i + j] = rest[j];
    }
}

// As `vector_map`, of doubles.
template <typename Op, int arity>
void double_vector_map(void* out, const void* const* in, size_t count, const double* numbers) {
    constexpr size_t MANY = LANES / 2;
    auto* to = static_cast<double*>(out);
    const double* from[MOST_SOURCES];
    for (int each = 0; each < arity; each++) from[each] = static_cast<const double*>(in[each]);
    const Op op(numbers);
    auto value = [&op](const Doubles* x) {
        if constexpr (arity == 1) {
            return op(x[0]);
        } else if constexpr (arity == 2) {
            return op(x[0], x[1]);
        } else {
            return op(x[0], x[1], x[2]);
        }
    };
    Doubles given[arity];
    size_t i = 0;
    for (; i + MANY <= count; i += MANY) {
        for (int each = 0; each < arity; each++) given[each] = load_doubles(from[each] + i);
        const Doubles made = value(given);
        memcpy(to + i, &made, sizeof made);
    }
    if (i == count) return;
    for (int each = 0; each < arity; each++) {
        double rest[MANY] = {};
        for (size_t j = 0; i + j < count; j++) rest[j] = from[each][i + j];
        given[each] = load_doubles(rest);
    }
    const Doubles made = value(given);
    double rest[MANY];
    memcpy(rest, &made, sizeof rest);
    for (size_t j = 0; i + j < count; j++) to[i + j] = rest[j];
}

}  // namespace
}  // namespace mindtorch
