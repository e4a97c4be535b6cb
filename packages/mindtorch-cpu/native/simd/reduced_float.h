// Elements of two bytes, bfloat16 and float16, as floats and back, rounded to the nearest even.
#pragma once

#include "simd/half.h"

namespace mindtorch {
namespace {

// bfloat16 is the upper half of a float.
INLINE float float_of_bfloat16(uint16_t x) { return from_bits(static_cast<uint32_t>(x) << 16); }
INLINE uint16_t bfloat16_of(uint32_t bits) {
    const uint32_t even = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : even);
}

}  // namespace
}  // namespace mindtorch
