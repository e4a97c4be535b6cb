// Bessel functions of imaginary arguments and the logarithm of the gamma function, of floats, computed as doubles:
// errors are those of the last rounding.
#pragma once

#include "simd/double_function.h"

namespace mindtorch {
namespace {

// Polynomials, highest powers first, that lie within 5e-10 of what they stand for, the last within 1e-14.
constexpr double I0_NEAR[] = {
    -0.00013152060630607088, 0.00034824109057890804, -0.00022722968338111303, 0.0004143919060489856,
    -0.0020044758245779414,  0.004166015653562654,   -0.006651419484491594,   0.011557353661066808,
    -0.019745851414068618,   0.030358703692477982,   -0.04296881129335962,    0.05672795589861263,
    -0.06954385402504584,    0.07928284334431146,    -0.08496317214579,       0.08734281771702368,
    -0.08904344770455307,    0.09451564672892827,    -0.1130043268544693,     0.20700192113298854};
constexpr double I0_FAR[] = {3.3635802235185296e-08, 1.0910232941075882e-07, 3.0383309086686276e-07,
                             1.4754756356201013e-06, 1.1141542189580863e-05, 0.000136217407834547,
                             0.0033605520313900634,  0.4021765094053054};
constexpr double I1_NEAR[] = {
    -1.694785151624946e-05, 4.7479082033953785e-05, -4.317720058003002e-05, 9.375809886867844e-05,
    -0.0003636452040028463, 0.000812047943412777,   -0.001522471036028631,  0.0029563628396675574,
    -0.005541908244896256,  0.009606095385955372,   -0.015569320920202672,  0.023680016667049938,
    -0.03367166370472805,   0.0446755031610766,     -0.05528001503648954,   0.06376733064622675,
    -0.06848260694070092,   0.06805760212960305,    -0.061124338025990106,  0.04468770986450251};
constexpr double I1_FAR[] = {-3.7856024793316294e-08, -1.2318419674047784e-07, -3.5481954165334105e-07,
                             -1.8250069387125121e-06, -1.5037047143805947e-05, -0.00021923738535629923,
                             -0.009749577241315432,   0.3893984590744713};
constexpr double LOG_GAMMA[] = {
    -1.0720306768374289e-08, 2.2205818811586364e-08, 1.826501857734655e-08,   -3.757408128677482e-08,
    -9.149733061118459e-08,  1.904119884592213e-07,  -1.4236105253537717e-07, 3.018395891270956e-07,
    -8.855951686326325e-07,  1.8755509317635744e-06, -3.833116287646882e-06,  8.192828765584198e-06,
    -1.7665709404383975e-05, 3.817722380545098e-05,  -8.309440541585384e-05,  0.00018255114930835727,
    -0.0004057074731484343,  0.0009153770785665488,  -0.002108130829872506,   0.004998641156259031,
    -0.012384192193457294,   0.03296500062133358,    -0.10031730167435363,    0.4227843350984665};

template <size_t count>
INLINE Doubles polynomial(const double (&factors)[count], const Doubles& t) {
    Doubles value = all_doubles(factors[0]);
#pragma GCC unroll 24
    for (size_t i = 1; i < count; i++) value = value * t + factors[i];
    return value;
}

INLINE Doubles root_of_double(const Doubles& x) {
    Doubles root;
    for (size_t i = 0; i < LANES / 2; i++) root[i] = sqrt(x[i]);
    return root;
}

// e**-a I(a), a >= 0, of order 0 or 1: a polynomial up to 8, of 16 / a - 1 over a's root beyond.
template <int order>
INLINE Doubles scaled_bessel(const Doubles& a) {
    const Doubles t = a * 0.25 - 1.0, u = 16.0 / a - 1.0;
    if constexpr (order == 0) return a <= 8.0 ? polynomial(I0_NEAR, t) : polynomial(I0_FAR, u) / root_of_double(a);
    return a <= 8.0 ? a * polynomial(I1_NEAR, t) : polynomial(I1_FAR, u) / root_of_double(a);
}

// The function itself, infinite where no float is as large and nan of an infinity, or e**-|x| times it.
template <int order, bool scaled>
INLINE Doubles bessel(const Doubles& x) {
    Doubles a = size_of(x);
    if constexpr (!scaled) a = a > 150.0 ? all_doubles(150.0) : a;  // nan passes
    Doubles value = scaled_bessel<order>(a);
    if constexpr (!scaled) value = size_of(x) == INFINITY ? all_doubles(NAN) : value * double_exp_limited<false>(a);
    if constexpr (order == 1) value = x < 0.0 ? -value : value;
    return value;
}

// What exceeds log gamma(x), x >= 1, by the logarithm of `product`: between the zeros and up to 3 a polynomial times
// them, beyond Stirling's series, of x + 5 below 8.
INLINE Doubles log_gamma_above(const Doubles& x, Doubles& product) {
    const Doubles near = (x - 1.0) * (x - 2.0) * polynomial(LOG_GAMMA, x - 2.0);
    const Longs raised = (x > 3.0) & (x < 8.0);
    product = raised ? x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) : all_doubles(1.0);
    const Doubles above = raised ? x + 5.0 : x, t = 1.0 / above, u = t * t;
    Doubles p = u * (-691.0 / 360360) + 1.0 / 1188;
    p = p * u - 1.0 / 1680;
    p = p * u + 1.0 / 1260;
    p = p * u - 1.0 / 360;
    p = p * u + 1.0 / 12;
    const Doubles far = (above - 0.5) * double_log<false>(above) - above + (0.91893853320467274178 + p * t);
    return x <= 3.0 ? near : far;
}

// gamma(x) is gamma(x + 1) / x below 1, and below zero it follows from gamma(1 - x) and sin(pi x).
INLINE Doubles log_gamma(const Doubles& x) {
    const Longs above = x > 0.0, low = above & (x < 1.0);
    const Doubles a = size_of(x), n = (a + SHIFT) - SHIFT;
    const Doubles part = a >= 8388608.0 ? Doubles{} : size_of(a - n);  // larger floats are whole numbers
    const Doubles sine = double_sin<0>(part * 3.14159265358979323846) * 0.31830988618379067154;
    Doubles product;
    const Doubles value = log_gamma_above(above ? (low ? x + 1.0 : x) : a + 1.0, product);
    const Doubles rest = double_log<false>(above ? (low ? x : product) : sine / product);
    const Doubles found = above ? value - rest : -rest - value;
    return ((~above & (sine == 0.0)) | (a == INFINITY)) ? all_doubles(INFINITY) : found;
}

}  // namespace
}  // namespace mindtorch
