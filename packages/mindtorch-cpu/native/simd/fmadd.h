// Products with a sum, rounded once where the instruction set has it, which is what torch's vectors are compiled to;
// where it has not, torch rounds twice too.
#pragma once

#include "simd/element.h"

namespace mindtorch {
namespace {

#if defined(__FMA__) || defined(__aarch64__)
INLINE float fmadd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double fmadd(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
INLINE float fmadd(float a, float b, float c) { return a * b + c; }
INLINE double fmadd(double a, double b, double c) { return a * b + c; }
#endif

// Rounded once in every build.
INLINE float fused(float x, float factor, float addend) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(x, factor, addend);
#else
    return (float)((double)x * factor + addend);
#endif
}

}  // namespace
}  // namespace mindtorch
