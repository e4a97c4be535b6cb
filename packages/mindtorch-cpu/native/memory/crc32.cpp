// CRC-32 by carry-less products of 64 bytes at a time, or eight bytes at a time by tables.
#include "memory/crc32.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mindtorch {

namespace {

constexpr uint32_t POLYNOMIAL = 0xedb88320;  // lowest bit first

// The remainder of x^(32 + bits) by the polynomial, in the order of bits that products of reflected values need.
constexpr uint64_t power(unsigned bits) {
    uint32_t remainder = 0x80000000;  // x^0
    for (unsigned i = 0; i < bits; i++) remainder = remainder & 1 ? remainder >> 1 ^ POLYNOMIAL : remainder >> 1;
    return static_cast<uint64_t>(remainder) << 1;
}

struct Tables {
    uint32_t of[8][256];
    constexpr Tables() : of() {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t value = byte;
            for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ POLYNOMIAL : value >> 1;
            of[0][byte] = value;
        }
        for (uint32_t byte = 0; byte < 256; byte++)
            for (int at = 1; at < 8; at++) of[at][byte] = of[at - 1][byte] >> 8 ^ of[0][of[at - 1][byte] & 255];
    }
};
constexpr Tables TABLES;

// `state` is the checksum's complement.
uint32_t by_tables(uint32_t state, const unsigned char* data, size_t count) {
    const auto& t = TABLES.of;
    for (; count >= 8; count -= 8, data += 8) {
        const uint32_t low = state ^ (data[0] | data[1] << 8 | data[2] << 16 | static_cast<uint32_t>(data[3]) << 24);
        state = t[7][low & 255] ^ t[6][low >> 8 & 255] ^ t[5][low >> 16 & 255] ^ t[4][low >> 24] ^ t[3][data[4]] ^
                t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
    }
    for (; count > 0; count--, data++) state = state >> 8 ^ t[0][(state ^ *data) & 255];
    return state;
}

#if defined(__x86_64__)
#define MINDTORCH_CARRY_LESS __attribute__((target("pclmul,sse2")))

// `value` moved past as many bits as `factors` are for, and what stands there.
MINDTORCH_CARRY_LESS inline __m128i folded(__m128i value, __m128i factors, __m128i next) {
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(value, factors, 0x00), _mm_clmulepi64_si128(value, factors, 0x11)), next);
}

MINDTORCH_CARRY_LESS inline __m128i sixteen(const unsigned char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// At least 64 bytes.
MINDTORCH_CARRY_LESS uint32_t by_products(uint32_t state, const unsigned char* data, size_t count) {
    constexpr uint64_t FAR_LOW = power(4 * 128 + 32), FAR_HIGH = power(4 * 128 - 32), LOW = power(128 + 32),
                       HIGH = power(128 - 32);
    const __m128i far = _mm_set_epi64x(static_cast<int64_t>(FAR_HIGH), static_cast<int64_t>(FAR_LOW)),
                  near = _mm_set_epi64x(static_cast<int64_t>(HIGH), static_cast<int64_t>(LOW));
    __m128i lanes[4];
    for (int i = 0; i < 4; i++) lanes[i] = sixteen(data + 16 * i);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(state)));
    for (data += 64, count -= 64; count >= 64; data += 64, count -= 64)
        for (int i = 0; i < 4; i++) lanes[i] = folded(lanes[i], far, sixteen(data + 16 * i));
    for (int i = 1; i < 4; i++) lanes[0] = folded(lanes[0], near, lanes[i]);
    for (; count >= 16; data += 16, count -= 16) lanes[0] = folded(lanes[0], near, sixteen(data));
    unsigned char rest[16];
    memcpy(rest, lanes, sizeof rest);
    return by_tables(by_tables(0, rest, sizeof rest), data, count);
}

uint32_t advance(uint32_t state, const unsigned char* data, size_t count) {
    static const bool has_products = __builtin_cpu_supports("pclmul");
    return has_products && count >= 64 ? by_products(state, data, count) : by_tables(state, data, count);
}
#else
uint32_t advance(uint32_t state, const unsigned char* data, size_t count) { return by_tables(state, data, count); }
#endif

}  // namespace

uint32_t crc32(uint32_t before, const unsigned char* data, size_t count) { return ~advance(~before, data, count); }

}  // namespace mindtorch
