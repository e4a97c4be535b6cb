// Random words by blocks of the Mersenne Twister, and what is made of them: uniforms, ones of a probability, integers,
// permutations and float32 normals. All equals what torch draws, bit for bit.
#include "random/distributions.h"
#include "simd/vector.h"

namespace mindtorch {

namespace {

constexpr int BLOCK = 624, SHIFT = 397;
constexpr size_t PORTION = 1024;  // words that are drawn at a time: they stay in the nearest cache

constexpr size_t WORDS = 16;
typedef uint32_t Words __attribute__((vector_size(64)));

INLINE Words load_words(const uint32_t* from) {
    Words value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void store_words(uint32_t* to, const Words& value) { memcpy(to, &value, sizeof value); }

template <typename Word>
INLINE Word mixed(const Word& here, const Word& next) {
    const Word joined = (here & 0x80000000u) | (next & 0x7fffffffu);
    return (joined >> 1) ^ ((0u - (next & 1u)) & 0x9908b0dfu);
}

// Words at..end of the next block. The word `ahead` places on is of the old block or, below zero, of the new one; it is
// always more than a vector away.
INLINE void renew(uint32_t* words, int at, int end, int ahead) {
    for (; at + static_cast<int>(WORDS) <= end; at += WORDS)
        store_words(words + at,
                    load_words(words + at + ahead) ^ mixed(load_words(words + at), load_words(words + at + 1)));
    for (; at < end; at++) words[at] = words[at + ahead] ^ mixed(words[at], words[at + 1]);
}

void next_block(uint32_t* words) {
    renew(words, 0, BLOCK - SHIFT, SHIFT);
    renew(words, BLOCK - SHIFT, BLOCK - 1, SHIFT - BLOCK);
    words[BLOCK - 1] = words[SHIFT - 1] ^ mixed(words[BLOCK - 1], words[0]);
}

template <typename Word>
INLINE Word tempered(Word word) {
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
}

void temper(uint32_t* out, const uint32_t* words, size_t count) {
    size_t i = 0;
    for (; i + WORDS <= count; i += WORDS) store_words(out + i, tempered(load_words(words + i)));
    for (; i < count; i++) out[i] = tempered(words[i]);
}

void draw_words(Twister& from, uint32_t* out, size_t count) {
    while (count > 0) {
        if (from.position >= BLOCK) {
            next_block(from.words);
            from.position = 0;
        }
        const size_t left = static_cast<size_t>(BLOCK - from.position), part = left < count ? left : count;
        temper(out, from.words + from.position, part);
        from.position += static_cast<int>(part);
        out += part;
        count -= part;
    }
}

// Call body(words, start, count) for portions of `count` draws of 32 bits.
template <typename Body>
INLINE void draw_narrow(Twister& from, size_t count, const Body& body) {
    alignas(64) uint32_t words[PORTION];
    for (size_t start = 0; start < count; start += PORTION) {
        const size_t part = count - start < PORTION ? count - start : PORTION;
        draw_words(from, words, part);
        body(words, start, part);
    }
}

// As above, for draws of 64 bits; the first of two words is the high half.
template <typename Body>
INLINE void draw_wide(Twister& from, size_t count, const Body& body) {
    constexpr size_t PAIRS = PORTION / 2;
    alignas(64) uint32_t words[PORTION];
    alignas(64) uint64_t wide[PAIRS];
    for (size_t start = 0; start < count; start += PAIRS) {
        const size_t part = count - start < PAIRS ? count - start : PAIRS;
        draw_words(from, words, 2 * part);
        for (size_t i = 0; i < part; i++) wide[i] = static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1];
        body(wide, start, part);
    }
}

constexpr int64_t MASK_53 = (int64_t{1} << 53) - 1;
constexpr double UNIT_53 = 1.0 / 9007199254740992.0;
constexpr float UNIT_24 = 1.0f / 16777216.0f;

INLINE float unit_of(uint32_t word) { return static_cast<float>(static_cast<int>(word & 0xffffffu)) * UNIT_24; }

void uniform_float(Twister& from, float* out, size_t count, const Interval& within) {
    const float low = static_cast<float>(within.low), high = static_cast<float>(within.high), width = high - low;
    if (low == 0.0f && high == 1.0f) {
        draw_narrow(from, count, [&](const uint32_t* words, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++) out[start + i] = unit_of(words[i]);
        });
    } else if (within.fused) {
        draw_narrow(from, count, [&](const uint32_t* words, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++) {
                const float value = __builtin_fmaf(unit_of(words[i]), width, low);
                out[start + i] = value == high ? low : value;  // rounding may reach the excluded end
            }
        });
    } else {
        draw_narrow(from, count, [&](const uint32_t* words, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++) {
                const float value = unit_of(words[i]) * width + low;
                out[start + i] = value == high ? low : value;
            }
        });
    }
}

INLINE double unit_of(uint64_t wide) { return static_cast<double>(static_cast<int64_t>(wide) & MASK_53) * UNIT_53; }

void uniform_double(Twister& from, double* out, size_t count, const Interval& within) {
    const double low = within.low, high = within.high, width = high - low;
    const bool fused = within.fused;
    draw_wide(from, count, [&](const uint64_t* wide, size_t start, size_t part) {
        for (size_t i = 0; i < part; i++) {
            const double unit = unit_of(wide[i]);
            const double value = fused ? __builtin_fma(unit, width, low) : unit * width + low;
            out[start + i] = value == high ? low : value;
        }
    });
}

template <typename Out>
void below(Twister& from, void* to, size_t count, int64_t threshold) {
    Out* out = static_cast<Out*>(to);
    draw_wide(from, count, [&](const uint64_t* wide, size_t start, size_t part) {
        for (size_t i = 0; i < part; i++)
            out[start + i] = (static_cast<int64_t>(wide[i]) & MASK_53) < threshold ? Out(1) : Out(0);
    });
}

void below_each(Twister& from, float* out, const float* probabilities, size_t count) {
    draw_narrow(from, count, [&](const uint32_t* words, size_t start, size_t part) {
        for (size_t i = 0; i < part; i++) out[start + i] = unit_of(words[i]) < probabilities[start + i] ? 1.0f : 0.0f;
    });
}

// A divisor's reciprocal, such that remainders of all 32-bit numbers take no division.
struct Divisor {
    explicit Divisor(uint32_t divisor) : divisor(divisor) {
        while ((uint64_t{1} << bits) < divisor) bits++;
        reciprocal = (((uint64_t{1} << bits) - divisor) << 32) / divisor + 1;
        half = bits > 0 ? 1 : 0;
        bits -= half;
    }

    INLINE uint32_t rest(uint32_t number) const {
        const uint32_t high = static_cast<uint32_t>(reciprocal * number >> 32);
        return number - ((high + ((number - high) >> half)) >> bits) * divisor;
    }

    uint64_t reciprocal;
    uint32_t divisor, bits = 0, half;
};

template <typename Out>
void integers(Twister& from, void* to, size_t count, uint64_t base, uint64_t span) {
    Out* out = static_cast<Out*>(to);
    if (span != 0 && span < (uint64_t{1} << 28)) {
        const Divisor divisor(static_cast<uint32_t>(span));
        draw_narrow(from, count, [&](const uint32_t* words, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++)
                out[start + i] = static_cast<Out>(static_cast<int64_t>(base + divisor.rest(words[i])));
        });
    } else if ((span & (span - 1)) == 0) {
        draw_wide(from, count, [&](const uint64_t* wide, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++)
                out[start + i] = static_cast<Out>(static_cast<int64_t>(base + (wide[i] & (span - 1))));
        });
    } else {
        draw_wide(from, count, [&](const uint64_t* wide, size_t start, size_t part) {
            for (size_t i = 0; i < part; i++)
                out[start + i] = static_cast<Out>(static_cast<int64_t>(base + wide[i] % span));
        });
    }
}

void permutation(Twister& from, int64_t* out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = static_cast<int64_t>(i);
    if (count < 2) return;
    draw_narrow(from, count - 1, [&](const uint32_t* words, size_t start, size_t part) {
        for (size_t i = start; i < start + part; i++) {
            const size_t other = i + words[i - start] % static_cast<uint32_t>(count - i);
            const int64_t kept = out[i];
            out[i] = out[other];
            out[other] = kept;
        }
    });
}

// Normals: the single-precision logarithm, sine and cosine of Cephes, every multiply-add fused, over pairs of eight
// radii and eight angles.

constexpr size_t PAIRS = PORTION / 2;

INLINE float polynomial(float x, float a, float b, float c) { return __builtin_fmaf(__builtin_fmaf(a, x, b), x, c); }

INLINE float logarithm(float x) {
    int bits;
    memcpy(&bits, &x, sizeof bits);
    float exponent = static_cast<float>((bits >> 23) - 126);
    const int fraction = (bits & 0x007fffff) | 0x3f000000;
    memcpy(&x, &fraction, sizeof x);
    const bool small = x < 0.707106781186547524f;
    exponent -= small ? 1.0f : 0.0f;
    x = (x - 1.0f) + (small ? x : 0.0f);
    const float z = x * x;
    float y = polynomial(x, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f);
    y = polynomial(x, y, -1.2420140846e-1f, 1.4249322787e-1f);
    y = polynomial(x, y, -1.6668057665e-1f, 2.0000714765e-1f);
    y = polynomial(x, y, -2.4999993993e-1f, 3.3333331174e-1f) * x;
    y = __builtin_fmaf(y, z, exponent * -2.12194440e-4f);
    y = __builtin_fmaf(-z, 0.5f, y);
    return __builtin_fmaf(exponent, 0.693359375f, x + y);
}

INLINE float with_bits(float value, int sign) {
    int bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE void sine_and_cosine(float x, float& sine, float& cosine) {
    const int octant = (static_cast<int>(x * 1.27323954473516f) + 1) & ~1;
    const float turns = static_cast<float>(octant);
    x = __builtin_fmaf(turns, -0.78515625f, x);
    x = __builtin_fmaf(turns, -2.4187564849853515625e-4f, x);
    x = __builtin_fmaf(turns, -3.77489497744594108e-8f, x);
    const float z = x * x;
    float c = polynomial(z, 2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f);
    c = __builtin_fmaf(c * z, z, -(z * 0.5f)) + 1.0f;
    float s = polynomial(z, -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f);
    s = __builtin_fmaf(s * z, x, x);
    const bool kept = (octant & 2) == 0;
    sine = with_bits(kept ? s : c, static_cast<int>(static_cast<unsigned>(octant & 4) << 29));
    cosine = with_bits(kept ? c : s, static_cast<int>(static_cast<unsigned>(~(octant - 2) & 4) << 29));
}

// `count` uniforms to normals, in place; count is a multiple of 16 and at most PORTION.
void box_muller(float* values, size_t count, float mean, float std) {
    alignas(64) float radii[PAIRS], angles[PAIRS];
    for (size_t block = 0; block < count / 16; block++)
        for (size_t i = 0; i < 8; i++) {
            radii[8 * block + i] = values[16 * block + i];
            angles[8 * block + i] = values[16 * block + 8 + i];
        }
    for (size_t i = 0; i < count / 2; i++) {
        const float radius = __builtin_sqrtf(-2.0f * logarithm(1.0f - radii[i]));
        float sine, cosine;
        sine_and_cosine(angles[i] * 6.283185307179586f, sine, cosine);
        radii[i] = __builtin_fmaf(radius * cosine, std, mean);
        angles[i] = __builtin_fmaf(radius * sine, std, mean);
    }
    for (size_t block = 0; block < count / 16; block++)
        for (size_t i = 0; i < 8; i++) {
            values[16 * block + i] = radii[8 * block + i];
            values[16 * block + 8 + i] = angles[8 * block + i];
        }
}

void normal(Twister& from, float* out, size_t count, float mean, float std) {
    const size_t whole = count - count % 16;
    for (size_t start = 0; start < whole; start += PORTION) {
        const size_t part = whole - start < PORTION ? whole - start : PORTION;
        uniform_float(from, out + start, part, {0.0, 1.0, true});
        box_muller(out + start, part, mean, std);
    }
    if (whole == count) return;
    // A last partial block is drawn, and then the last 16 elements are drawn anew.
    uint32_t unused[16];
    draw_words(from, unused, count - whole);
    uniform_float(from, out + count - 16, 16, {0.0, 1.0, true});
    box_muller(out + count - 16, 16, mean, std);
}

}  // namespace

extern const RandomLoops MINDTORCH_LOOPS(random_loops) = {
    draw_words,
    uniform_float,
    uniform_double,
    {below<float>, below<double>, below<uint8_t>, below<int32_t>, below<int64_t>},
    below_each,
    normal,
    {integers<float>, integers<double>, integers<uint8_t>, integers<int32_t>, integers<int64_t>},
    permutation,
};

}  // namespace mindtorch
