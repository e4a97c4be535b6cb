// Products of bytes: levels from 0 to 127, or to 255, by weights from -128 to 127, summed up in int32.
#include "gemm/int8.h"
#include "gemm/pack.h"
#include "simd/fmadd.h"

#if defined(__SSSE3__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__)
#define MINDTORCH_DOT __attribute__((target("avx512vnni")))
#endif

namespace mindtorch {

namespace {

typedef int Sums __attribute__((vector_size(VECTOR_BYTES)));
typedef float Results __attribute__((vector_size(VECTOR_BYTES)));
constexpr size_t WIDTH = VECTOR_BYTES / sizeof(int);

// A tile's sums stay in registers.
#if defined(__AVX512F__)
constexpr size_t ROWS = 12, VECTORS = 2;
#elif defined(__AVX__)
constexpr size_t ROWS = 4, VECTORS = 2;
#else
constexpr size_t ROWS = 2, VECTORS = 4;
#endif
constexpr size_t COLUMNS = VECTORS * WIDTH;
constexpr int MOST_LEVEL = 127;

MINDTORCH_INLINE Sums read_sums(const void* from) {
    Sums value;
    memcpy(&value, from, sizeof value);
    return value;
}

// Pairs of products fit into 16 bits, as levels have seven.
struct Pairs {
    static MINDTORCH_INLINE Sums dot(const Sums& sum, const Sums& levels, const Sums& weights) {
#if defined(__AVX512F__)
        const __m512i pairs = _mm512_maddubs_epi16((__m512i)levels, (__m512i)weights);
        return sum + (Sums)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#elif defined(__AVX2__)
        const __m256i pairs = _mm256_maddubs_epi16((__m256i)levels, (__m256i)weights);
        return sum + (Sums)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#elif defined(__SSSE3__)
        const __m128i pairs = _mm_maddubs_epi16((__m128i)levels, (__m128i)weights);
        return sum + (Sums)_mm_madd_epi16(pairs, _mm_set1_epi16(1));
#else
        Sums total = sum;
        for (int shift = 0; shift < 32; shift += 8) total += (levels >> shift & 0xff) * (weights << (24 - shift) >> 24);
        return total;
#endif
    }
};

// Levels of eight bits: pairs of products of the highest bit fit into 16 bits, too.
struct WidePairs {
    static MINDTORCH_INLINE Sums dot(const Sums& sum, const Sums& levels, const Sums& weights) {
        return Pairs::dot(Pairs::dot(sum, levels & 0x7f7f7f7f, weights), levels & (int)0x80808080, weights);
    }
};

#ifdef MINDTORCH_DOT
struct Quads {
    static inline __attribute__((always_inline)) MINDTORCH_DOT Sums dot(const Sums& sum, const Sums& levels,
                                                                        const Sums& weights) {
        return (Sums)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)levels, (__m512i)weights);
    }
};
#endif

bool range(const float* from, size_t count, float* least, float* greatest) {
    float low = 0, high = 0, check = 0;  // `check` is nan where a number is not finite
    constexpr size_t LANES = 64;
    float lows[LANES] = {}, highs[LANES] = {}, checks[LANES] = {};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            const float x = from[i + lane];
            lows[lane] = x < lows[lane] ? x : lows[lane];
            highs[lane] = x > highs[lane] ? x : highs[lane];
            checks[lane] += x - x;
        }
    for (; i < count; i++) {
        low = from[i] < low ? from[i] : low;
        high = from[i] > high ? from[i] : high;
        check += from[i] - from[i];
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        low = lows[lane] < low ? lows[lane] : low;
        high = highs[lane] > high ? highs[lane] : high;
        check += checks[lane];
    }
    *least = low;
    *greatest = high;
    return check == 0;
}

// Words of levels of one row, `count` rounded up to whole ones; returns the sum of the levels.
MINDTORCH_INLINE int pack_part(uint32_t* to, const uint8_t* levels, size_t count) {
    int sum = 0;
    for (size_t at = 0; at < count; at++) sum += levels[at];
    for (size_t at = 0; at < count; at += INT8_WORD) memcpy(to + at / INT8_WORD * ROWS, levels + at, INT8_WORD);
    return sum;
}

MINDTORCH_INLINE void clear_row(uint32_t* to, size_t words) {
    for (size_t k = 0; k < words; k++) to[k * ROWS] = 0;
}

void pack_rows(uint32_t* to, int* sums, const float* from, size_t rows, size_t depth, const Levels& given) {
    constexpr size_t AT_ONCE = 256;
    const float inverse = given.inverse_scale, zero_point = (float)given.zero_point;
    const size_t words = (depth + INT8_WORD - 1) / INT8_WORD;
    for (size_t i = 0; i < ROWS; i++) {
        int sum = 0;
        for (size_t k = 0; i < rows && k < depth; k += AT_ONCE) {
            const size_t count = depth - k < AT_ONCE ? depth - k : AT_ONCE;
            const float* x = from + i * depth + k;
            uint8_t levels[AT_ONCE];
            for (size_t at = 0; at < count; at++) {
                const float level = __builtin_rintf(fused(x[at], inverse, zero_point));
                levels[at] = (uint8_t)(int)(level < 0 ? 0 : level > MOST_LEVEL ? MOST_LEVEL : level);
            }
            for (size_t at = count; at % INT8_WORD != 0; at++) levels[at] = 0;
            sum += pack_part(to + k / INT8_WORD * ROWS + i, levels, count);
        }
        if (i >= rows) clear_row(to + i, words);
        sums[i] = sum;
    }
}

void pack_levels(uint32_t* to, int* sums, const uint8_t* from, size_t rows, size_t depth) {
    const size_t words = (depth + INT8_WORD - 1) / INT8_WORD, whole = depth / INT8_WORD * INT8_WORD;
    for (size_t i = 0; i < ROWS; i++) {
        if (i >= rows) {
            clear_row(to + i, words);
            sums[i] = 0;
            continue;
        }
        const uint8_t* row = from + i * depth;
        sums[i] = pack_part(to + i, row, whole);
        uint8_t rest[INT8_WORD] = {};
        for (size_t k = whole; k < depth; k++) rest[k - whole] = row[k];
        if (whole < depth) sums[i] += pack_part(to + whole / INT8_WORD * ROWS + i, rest, INT8_WORD);
    }
}

// Where the tile's sums go: `rows` and `columns` of them.
struct Int8Tile {
    size_t row, rows, column, columns;
};

// The sums of one row, less what zero points add to them.
void write_row(const Int8Product& p, const Int8Tile& t, size_t row, const int* sums) {
    float* out = p.out + (t.row + row) * p.columns + t.column;
    const int* right_sums = p.right_sums + t.column;
    const int base = (int)p.depth * p.left_zero * p.right_zero - p.right_zero * p.left_sums[t.row + row];
    if (p.bias == nullptr) {
        for (size_t j = 0; j < t.columns; j++) out[j] = (float)(sums[j] + base - p.left_zero * right_sums[j]) * p.step;
    } else {
        const float* bias = p.bias + t.column;
        for (size_t j = 0; j < t.columns; j++)
            out[j] = fused((float)(sums[j] + base - p.left_zero * right_sums[j]), p.step, bias[j]);
    }
}

// Few rows are summed up in several sums, so that one does not wait for the one before.
#define MINDTORCH_INT8_TILE(Way, attribute)                                                                          \
    template <size_t TILE, size_t VECTORS_OF_IT>                                                                     \
    attribute MINDTORCH_OWN_CODE void tile_of(const Int8Product& p, const Int8Tile& t, const Way&) {                 \
        constexpr size_t SUMS = TILE * VECTORS_OF_IT, APART = SUMS >= 8 ? 1 : SUMS >= 4 ? 2 : 4;                     \
        const size_t words = (p.depth + INT8_WORD - 1) / INT8_WORD;                                                  \
        const uint32_t* left = p.left + t.row * words;                                                               \
        const int8_t* right[VECTORS_OF_IT];                                                                          \
        for (size_t v = 0; v < VECTORS_OF_IT; v++) {                                                                 \
            const size_t column = t.column + v * WIDTH;                                                              \
            right[v] = p.right + (column / INT8_PANEL * words * INT8_PANEL + column % INT8_PANEL) * INT8_WORD;       \
        }                                                                                                            \
        Sums sums[APART][TILE][VECTORS_OF_IT] = {};                                                                  \
        size_t k = 0;                                                                                                \
        for (; k + APART <= words; k += APART) {                                                                     \
            _Pragma("GCC unroll 4") for (size_t apart = 0; apart < APART; apart++) {                                 \
                Sums weights[VECTORS_OF_IT];                                                                         \
                _Pragma("GCC unroll 4") for (size_t v = 0; v < VECTORS_OF_IT; v++) weights[v] =                      \
                    read_sums(right[v] + (k + apart) * INT8_PANEL * INT8_WORD);                                      \
                _Pragma("GCC unroll 16") for (size_t i = 0; i < TILE; i++) {                                         \
                    const Sums levels = Sums{} + (int)left[(k + apart) * ROWS + i];                                  \
                    _Pragma("GCC unroll 4") for (size_t v = 0; v < VECTORS_OF_IT; v++) sums[apart][i][v] =           \
                        Way::dot(sums[apart][i][v], levels, weights[v]);                                             \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        for (; k < words; k++)                                                                                       \
            _Pragma("GCC unroll 16") for (size_t i = 0; i < TILE; i++)                                               \
                _Pragma("GCC unroll 4") for (size_t v = 0; v < VECTORS_OF_IT; v++) sums[0][i][v] =                   \
                    Way::dot(sums[0][i][v], Sums{} + (int)left[k * ROWS + i],                                        \
                             read_sums(right[v] + k * INT8_PANEL * INT8_WORD));                                      \
        Sums total[TILE][VECTORS_OF_IT] = {};                                                                        \
        _Pragma("GCC unroll 4") for (size_t apart = 0; apart < APART; apart++)                                       \
            _Pragma("GCC unroll 16") for (size_t i = 0; i < TILE; i++)                                               \
                _Pragma("GCC unroll 4") for (size_t v = 0; v < VECTORS_OF_IT; v++) total[i][v] += sums[apart][i][v]; \
        int lanes[TILE][VECTORS_OF_IT * WIDTH];                                                                      \
        memcpy(lanes, total, sizeof lanes);                                                                          \
        for (size_t i = 0; i < t.rows; i++) write_row(p, t, i, lanes[i]);                                            \
    }

MINDTORCH_INT8_TILE(Pairs, )
MINDTORCH_INT8_TILE(WidePairs, )
#ifdef MINDTORCH_DOT
MINDTORCH_INT8_TILE(Quads, MINDTORCH_DOT)
#endif

template <size_t TILE, typename Way>
MINDTORCH_INLINE void tile_of_columns(const Int8Product& p, const Int8Tile& t) {
    if (WIDTH == INT8_PANEL && t.columns <= WIDTH)
        tile_of<TILE, VECTORS * INT8_PANEL / COLUMNS>(p, t, Way());
    else
        tile_of<TILE, VECTORS>(p, t, Way());
}

template <typename Way>
void multiply(const Int8Product& p, size_t column, size_t end) {
    for (; column < end; column += COLUMNS) {
        const size_t columns = end - column < COLUMNS ? end - column : COLUMNS;
        for (size_t row = 0; row < p.rows; row += ROWS) {
            const Int8Tile t = {row, p.rows - row < ROWS ? p.rows - row : ROWS, column, columns};
            if (t.rows == 1)
                tile_of_columns<1, Way>(p, t);
            else if (t.rows == 2)
                tile_of_columns<2, Way>(p, t);
            else if (t.rows <= (ROWS + 2) / 3)
                tile_of_columns<(ROWS + 2) / 3, Way>(p, t);
            else if (t.rows <= (2 * ROWS + 2) / 3)
                tile_of_columns<(2 * ROWS + 2) / 3, Way>(p, t);
            else
                tile_of_columns<ROWS, Way>(p, t);
        }
    }
}

}  // namespace

#define MINDTORCH_INT8_LOOPS(Way, WideWay) \
    {ROWS, COLUMNS, range, pack_rows, pack_levels, multiply<Way>, multiply<WideWay>}

extern const Int8GemmLoops MINDTORCH_LOOPS(int8_gemm_loops) = MINDTORCH_INT8_LOOPS(Pairs, WidePairs);
#ifdef MINDTORCH_DOT
extern const Int8GemmLoops MINDTORCH_LOOPS(int8_dot_loops) = MINDTORCH_INT8_LOOPS(Quads, Quads);
#else
extern const Int8GemmLoops MINDTORCH_LOOPS(int8_dot_loops) = MINDTORCH_INT8_LOOPS(Pairs, WidePairs);
#endif

}  // namespace mindtorch
