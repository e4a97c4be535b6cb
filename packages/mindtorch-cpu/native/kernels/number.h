// Numbers that matrices are made of: real and complex ones, with the same operations on both.
#pragma once

#include <math.h>
#include <stddef.h>

#include <complex>

#include "simd/vector.h"

namespace mindtorch {
namespace {

template <typename Real>
struct Complex {
    Real re, im;
};

template <typename T>
struct Number {
    using Real = T;
    static constexpr bool COMPLEX = false;
};
template <typename T>
struct Number<Complex<T>> {
    using Real = T;
    static constexpr bool COMPLEX = true;
};

template <typename R>
INLINE Complex<R> operator+(const Complex<R>& a, const Complex<R>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <typename R>
INLINE Complex<R> operator-(const Complex<R>& a, const Complex<R>& b) {
    return {a.re - b.re, a.im - b.im};
}
template <typename R>
INLINE Complex<R> operator-(const Complex<R>& a) {
    return {-a.re, -a.im};
}
template <typename R>
INLINE Complex<R> operator*(const Complex<R>& a, const Complex<R>& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// By the larger part of the divisor, so that no square overflows.
template <typename R>
INLINE Complex<R> operator/(const Complex<R>& a, const Complex<R>& b) {
    if (fabs(b.re) >= fabs(b.im)) {
        const R ratio = b.re == 0 && b.im == 0 ? b.im : b.im / b.re, size = b.re + b.im * ratio;
        return {(a.re + a.im * ratio) / size, (a.im - a.re * ratio) / size};
    }
    const R ratio = b.re / b.im, size = b.im + b.re * ratio;
    return {(a.re * ratio + a.im) / size, (a.im * ratio - a.re) / size};
}

template <typename T>
INLINE T conjugate_of(const T& x) {
    if constexpr (Number<T>::COMPLEX)
        return T{x.re, -x.im};
    else
        return x;
}

template <typename T>
INLINE typename Number<T>::Real real_of(const T& x) {
    if constexpr (Number<T>::COMPLEX)
        return x.re;
    else
        return x;
}

template <typename T>
INLINE T divided(const T& x, typename Number<T>::Real by) {
    if constexpr (Number<T>::COMPLEX)
        return T{x.re / by, x.im / by};
    else
        return x / by;
}

// A number whose imaginary part is zero.
template <typename T>
INLINE T number_of(typename Number<T>::Real x) {
    if constexpr (Number<T>::COMPLEX)
        return T{x, 0};
    else
        return x;
}

INLINE float size_of_real(float x) { return fabsf(x); }
INLINE double size_of_real(double x) { return fabs(x); }

// What LAPACK compares when it looks for a pivot.
template <typename T>
INLINE typename Number<T>::Real pivot_size(const T& x) {
    if constexpr (Number<T>::COMPLEX)
        return size_of_real(x.re) + size_of_real(x.im);
    else
        return size_of_real(x);
}

INLINE float length_of(float x) { return fabsf(x); }
INLINE double length_of(double x) { return fabs(x); }
// `abs` of C++ is hypot by another name: that of hypot itself would ask for glibc 2.35, which wheels should not.
INLINE float length_of(const Complex<float>& x) { return std::abs(std::complex<float>(x.re, x.im)); }
INLINE double length_of(const Complex<double>& x) { return std::abs(std::complex<double>(x.re, x.im)); }

INLINE float root_of(float x) { return sqrtf(x); }
INLINE double root_of(double x) { return sqrt(x); }
INLINE float logarithm_of(float x) { return logf(x); }
INLINE double logarithm_of(double x) { return log(x); }

}  // namespace
}  // namespace mindtorch
