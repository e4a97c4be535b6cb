// Elements of float16: to float and back, rounded to the nearest even.
#pragma once

#include "simd/element.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace mindtorch {
namespace {

struct Half {
    uint16_t bits;
};

INLINE float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE float widened(Half half) {
    // Scaled as a float with too small an exponent, so that subnormal numbers come right too.
    const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000) << 16, size = half.bits & 0x7fff;
    const uint32_t finite = to_bits(from_bits(size << 13) * 5.192296858534828e33f);  // 2**112
    const uint32_t quiet = size > 0x7c00 ? 0x400000 : 0;                             // as the instruction does
    return from_bits(sign | quiet | (size >= 0x7c00 ? 0x7f800000 | (size << 13) : finite));
}

INLINE Half half_of(float value) {
    const uint32_t bits = to_bits(value), sign = (bits >> 16) & 0x8000, size = bits & 0x7fffffff;
    // Below the smallest normal number, adding 0.5 shifts the last bits out and rounds.
    const uint32_t small = to_bits(from_bits(size) + 0.5f) - 0x3f000000;
    const uint32_t normal = (size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13;
    const uint32_t large = size > 0x7f800000 ? 0x7e00 | (size >> 13 & 0x1ff) : 0x7c00;
    const uint32_t result = size < 0x38800000 ? small : size >= 0x47800000 ? large : normal;
    return {static_cast<uint16_t>(sign | result)};
}

// Dense float16 as floats.
INLINE void floats_of(char* to, const char* from, size_t count) {
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= count; i += 16) store(to + 4 * i, _mm512_maskz_cvtph_ps(0xffff, load<__m256i>(from + 2 * i)));
#endif
#ifdef __F16C__
    for (; i + 8 <= count; i += 8) store(to + 4 * i, _mm256_cvtph_ps(load<__m128i>(from + 2 * i)));
#endif
    for (; i < count; i++) store(to + 4 * i, widened(load<Half>(from + 2 * i)));
}

// Dense floats as float16.
INLINE void halves_of(char* to, const char* from, size_t count) {
    size_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= count; i += 16) store(to + 2 * i, _mm512_maskz_cvtps_ph(0xffff, load<__m512>(from + 4 * i), 0));
#endif
#ifdef __F16C__
    for (; i + 8 <= count; i += 8) store(to + 2 * i, _mm256_cvtps_ph(load<__m256>(from + 4 * i), 0));
#endif
    for (; i < count; i++) store(to + 2 * i, half_of(load<float>(from + 4 * i)));
}

}  // namespace
}  // namespace mindtorch
