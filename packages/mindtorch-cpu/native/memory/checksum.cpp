// CRC-32: the remainder of the bytes, taken as a polynomial whose highest power is the first bit, after division by
// 0xEDB88320. Eight bytes at a time by tables; where the processor multiplies polynomials, 64 bytes at a time: a block
// of 16 bytes is replaced by a product with what stands for it so many bytes later. Processors that multiply four such
// blocks at once take 256 bytes at a time.
#include "memory/checksum.h"

#include "simd/cpu_capability.h"

#ifdef MINDTORCH_X86_LEVELS
#include <immintrin.h>
#endif

namespace mindtorch {

namespace {

constexpr uint32_t POLYNOMIAL = 0xEDB88320;

constexpr uint32_t times_x(uint32_t value) { return (value >> 1) ^ (value & 1 ? POLYNOMIAL : 0); }

// `of[k][byte]`: the remainder of a byte with `k` bytes of zeros behind it.
struct Tables {
    uint32_t of[8][256] = {};

    constexpr Tables() {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t value = byte;
            for (int bit = 0; bit < 8; bit++) value = times_x(value);
            of[0][byte] = value;
        }
        for (int k = 1; k < 8; k++)
            for (uint32_t byte = 0; byte < 256; byte++)
                of[k][byte] = of[0][of[k - 1][byte] & 255] ^ (of[k - 1][byte] >> 8);
    }
};

constexpr Tables tables;

uint32_t divided(uint32_t sum, const uint8_t* bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        sum ^= static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
               static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
        sum = tables.of[7][sum & 255] ^ tables.of[6][sum >> 8 & 255] ^ tables.of[5][sum >> 16 & 255] ^
              tables.of[4][sum >> 24] ^ tables.of[3][bytes[4]] ^ tables.of[2][bytes[5]] ^ tables.of[1][bytes[6]] ^
              tables.of[0][bytes[7]];
    }
    for (; count > 0; bytes++, count--) sum = tables.of[0][(sum ^ *bytes) & 255] ^ (sum >> 8);
    return sum;
}

#ifdef MINDTORCH_X86_LEVELS

// x to the power of `bits`, reduced, as the product of two reflected halves of 64 bits takes it.
constexpr long long power(int bits) {
    uint32_t value = 0x80000000;
    for (int bit = 0; bit < bits; bit++) value = times_x(value);
    return static_cast<long long>(static_cast<uint64_t>(value) << 1);
}

#define MINDTORCH_FOLDS __attribute__((target("pclmul,sse4.1")))

MINDTORCH_FOLDS inline __m128i load(const uint8_t* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

// What stands for `sum` where `next` is.
MINDTORCH_FOLDS inline __m128i fold(__m128i sum, __m128i powers, __m128i next) {
    const __m128i first = _mm_clmulepi64_si128(sum, powers, 0x00), second = _mm_clmulepi64_si128(sum, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

// At least 64 bytes.
MINDTORCH_FOLDS uint32_t folded(uint32_t sum, const uint8_t* bytes, size_t count) {
    constexpr long long far_first = power(4 * 128 + 32), far_second = power(4 * 128 - 32);
    constexpr long long near_first = power(128 + 32), near_second = power(128 - 32);
    const __m128i far = _mm_set_epi64x(far_second, far_first), near = _mm_set_epi64x(near_second, near_first);
    __m128i lanes[4];
    for (int lane = 0; lane < 4; lane++) lanes[lane] = load(bytes + 16 * lane);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
    for (bytes += 64, count -= 64; count >= 64; bytes += 64, count -= 64)
        for (int lane = 0; lane < 4; lane++) lanes[lane] = fold(lanes[lane], far, load(bytes + 16 * lane));
    __m128i all = lanes[0];
    for (int lane = 1; lane < 4; lane++) all = fold(all, near, lanes[lane]);
    for (; count >= 16; bytes += 16, count -= 16) all = fold(all, near, load(bytes));
    uint8_t last[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(last), all);
    return divided(divided(0, last, sizeof last), bytes, count);
}

#define MINDTORCH_FOLDS_WIDE __attribute__((target("pclmul,sse4.1,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl")))

MINDTORCH_FOLDS_WIDE inline __m512i fold_wide(__m512i sum, __m512i powers, __m512i next) {
    const __m512i first = _mm512_clmulepi64_epi128(sum, powers, 0x00),
                  second = _mm512_clmulepi64_epi128(sum, powers, 0x11);
    return _mm512_ternarylogic_epi64(first, second, next, 0x96);
}

MINDTORCH_FOLDS_WIDE inline __m512i powers_over(long long first, long long second) {
    return _mm512_broadcast_i32x4(_mm_set_epi64x(second, first));
}

// At least 256 bytes.
MINDTORCH_FOLDS_WIDE uint32_t folded_wide(uint32_t sum, const uint8_t* bytes, size_t count) {
    constexpr int FAR = 4 * 512, NEAR = 512;
    constexpr long long far_first = power(FAR + 32), far_second = power(FAR - 32);
    constexpr long long near_first = power(NEAR + 32), near_second = power(NEAR - 32);
    const __m512i far = powers_over(far_first, far_second), near = powers_over(near_first, near_second);
    __m512i lanes[4];
    for (int lane = 0; lane < 4; lane++) lanes[lane] = _mm512_loadu_si512(bytes + 64 * lane);
    lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(sum))));
    for (bytes += 256, count -= 256; count >= 256; bytes += 256, count -= 256)
        for (int lane = 0; lane < 4; lane++)
            lanes[lane] = fold_wide(lanes[lane], far, _mm512_loadu_si512(bytes + 64 * lane));
    __m512i all = lanes[0];
    for (int lane = 1; lane < 4; lane++) all = fold_wide(all, near, lanes[lane]);
    for (; count >= 64; bytes += 64, count -= 64) all = fold_wide(all, near, _mm512_loadu_si512(bytes));
    uint8_t last[64];
    _mm512_storeu_si512(last, all);
    return divided(folded(0, last, sizeof last), bytes, count);
}

enum Folding { NO_FOLDS, FOLDS, FOLDS_WIDE };

Folding best_folding() {
    __builtin_cpu_init();
    if (instruction_set < 1 || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return NO_FOLDS;
    return instruction_set >= 3 && __builtin_cpu_supports("vpclmulqdq") ? FOLDS_WIDE : FOLDS;
}

#endif

}  // namespace

uint32_t crc32(uint32_t before, const uint8_t* bytes, size_t count) {
#ifdef MINDTORCH_X86_LEVELS
    static const Folding folding = best_folding();
    if (folding == FOLDS_WIDE && count >= 256) return ~folded_wide(~before, bytes, count);
    if (folding != NO_FOLDS && count >= 64) return ~folded(~before, bytes, count);
#endif
    return ~divided(~before, bytes, count);
}

}  // namespace mindtorch
