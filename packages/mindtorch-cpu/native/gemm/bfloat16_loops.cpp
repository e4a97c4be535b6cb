// Products of bfloat16: panels are packed as floats, or as pairs for processors that multiply and add pairs at once.
#include "gemm/microkernel.h"

#if defined(__AVX512F__) && __has_include(<avx512bf16intrin.h>)
#define MINDTORCH_PAIRS __attribute__((target("avx512bf16")))
#include <immintrin.h>
#endif

namespace mindtorch {

namespace {

using Vector = Simd<float>::Vector;
constexpr size_t WIDTH = Simd<float>::WIDTH, NR = 2 * WIDTH;
typedef uint32_t Words __attribute__((vector_size(VECTOR_BYTES)));
constexpr size_t MC_SUMS = 4 * MC;  // rows whose sums are kept between blocks of the depth

MINDTORCH_INLINE float widened(uint16_t x) { return __builtin_bit_cast(float, (uint32_t)x << 16); }
MINDTORCH_INLINE uint16_t rounded(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const uint32_t even = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)(x != x ? (bits >> 16) | 0x40 : even);
}

MINDTORCH_INLINE Words read_words(const void* from) {
    Words value;
    memcpy(&value, from, sizeof value);
    return value;
}
MINDTORCH_INLINE Vector lower(const Words& pairs) { return (Vector)(pairs << 16); }
MINDTORCH_INLINE Vector upper(const Words& pairs) { return (Vector)(pairs & 0xffff0000u); }

// Four lines of four pairs each as four times four lines' pairs.
MINDTORCH_INLINE void transpose_pairs(uint32_t* to, size_t to_step, const uint16_t* from, ptrdiff_t line) {
    QuadIndex a, b, c, d;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + line, sizeof b);
    memcpy(&c, from + 2 * line, sizeof c);
    memcpy(&d, from + 3 * line, sizeof d);
    const QuadIndex ab = shuffle<0, 4, 1, 5>(a, b), cd = shuffle<0, 4, 1, 5>(c, d);
    const QuadIndex ba = shuffle<2, 6, 3, 7>(a, b), dc = shuffle<2, 6, 3, 7>(c, d);
    const QuadIndex each[] = {shuffle<0, 1, 4, 5>(ab, cd), shuffle<2, 3, 6, 7>(ab, cd), shuffle<0, 1, 4, 5>(ba, dc),
                              shuffle<2, 3, 6, 7>(ba, dc)};
    for (size_t k = 0; k < 4; k++) memcpy(to + k * to_step, &each[k], sizeof each[k]);
}

// How operands are packed and summed up: `DEPTH` elements of the depth are one word of a panel.
struct Widened {
    using Word = float;
    static constexpr size_t DEPTH = 1;

    template <size_t LINES>
    static void pack_panel(Word* to, const uint16_t* from, ptrdiff_t line, ptrdiff_t along, size_t lines,
                           size_t depth) {
        for (size_t k = 0; k < depth; k++, to += LINES) {
            const uint16_t* at = from + static_cast<ptrdiff_t>(k) * along;
            if (lines == LINES && line == 1) {
                for (size_t i = 0; i < LINES; i++) to[i] = widened(at[i]);
            } else {
                for (size_t i = 0; i < LINES; i++)
                    to[i] = i < lines ? widened(at[static_cast<ptrdiff_t>(i) * line]) : 0.0f;
            }
        }
    }
    template <size_t ROWS>
    static MINDTORCH_INLINE void sum(Vector (&sums)[ROWS][2], const Word* left, const Word* right, size_t words) {
        sum_tile<ROWS>(sums, left, right, words);
    }
    static MINDTORCH_INLINE Vector dot(const Vector& sum, const Words& a, const Words& b) {
        return sum + lower(a) * lower(b) + upper(a) * upper(b);
    }
};

#ifdef MINDTORCH_PAIRS
struct Paired {
    using Word = uint32_t;
    static constexpr size_t DEPTH = 2;

    template <size_t LINES>
    static void pack_panel(Word* to, const uint16_t* from, ptrdiff_t line, ptrdiff_t along, size_t lines,
                           size_t depth) {
        size_t k = 0;
        if (lines == LINES && line == 1) {
            for (; k + 2 <= depth; k += 2, to += LINES) {
                const uint16_t *even = from + static_cast<ptrdiff_t>(k) * along, *odd = even + along;
                for (size_t i = 0; i < LINES; i++) to[i] = even[i] | (uint32_t)odd[i] << 16;
            }
        } else if (along == 1) {
            for (; k + 8 <= depth; k += 8, to += 4 * LINES) {
                size_t i = 0;
                for (; i + 4 <= lines; i += 4)
                    transpose_pairs(to + i, LINES, from + static_cast<ptrdiff_t>(i) * line + k, line);
                for (; i < LINES; i++)
                    for (size_t at = 0; at < 4; at++) {
                        const uint16_t* pair = from + static_cast<ptrdiff_t>(i) * line + k + 2 * at;
                        to[at * LINES + i] = i < lines ? pair[0] | (uint32_t)pair[1] << 16 : 0;
                    }
            }
        }
        for (; k < depth; k += 2, to += LINES)
            for (size_t i = 0; i < LINES; i++) {
                const uint16_t* at = from + static_cast<ptrdiff_t>(i) * line + static_cast<ptrdiff_t>(k) * along;
                to[i] = i >= lines ? 0 : k + 1 < depth ? at[0] | (uint32_t)at[along] << 16 : at[0];
            }
    }
    static inline __attribute__((always_inline)) MINDTORCH_PAIRS Vector dot(const Vector& sum, const Words& a,
                                                                            const Words& b) {
#if defined(__clang__)  // of which version 16 does not survive vectors of its type of bfloat16 here
        Vector result = sum;
        __asm__("vdpbf16ps %2, %1, %0" : "+v"(result) : "v"(a), "v"(b));
        return result;
#else
        return (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#endif
    }
    template <size_t ROWS>
    static inline __attribute__((always_inline)) MINDTORCH_PAIRS void sum(Vector (&sums)[ROWS][2], const Word* left,
                                                                          const Word* right, size_t words) {
        Vector accumulators[ROWS][2] = {};
        for (size_t k = 0; k < words; k++, left += MR, right += NR) {
            const Words first = read_words(right), second = read_words(right + WIDTH);
#pragma GCC unroll 16
            for (size_t i = 0; i < ROWS; i++) {
                const Words pair = Words{} + left[i];
                accumulators[i][0] = dot(accumulators[i][0], first, pair);
                accumulators[i][1] = dot(accumulators[i][1], second, pair);
            }
        }
#pragma GCC unroll 16
        for (size_t i = 0; i < ROWS; i++) {
            sums[i][0] += accumulators[i][0];
            sums[i][1] += accumulators[i][1];
        }
    }
};
#endif

template <size_t LINES, typename Way>
void pack_lines(typename Way::Word* to, const Matrix<uint16_t>& from, size_t count, size_t depth) {
    const size_t words = (depth + Way::DEPTH - 1) / Way::DEPTH;
    for (size_t first = 0; first < count; first += LINES, to += LINES * words)
        Way::template pack_panel<LINES>(to, from.data + static_cast<ptrdiff_t>(first) * from.row, from.row, from.column,
                                        least(LINES, count - first), depth);
}

// Where a tile's sums go: to `partial`, after those of earlier blocks, or, of the last block, to the result.
struct BFloat16Tile {
    float* partial;
    size_t partial_row;
    bool accumulate_out, last;
    uint16_t* out;
    const uint16_t* addend;
    size_t rows, columns;
};

// True where the sums alone are the result.
MINDTORCH_INLINE bool plain(const Product<uint16_t>& p, const BFloat16Tile& t) {
    return t.last && !t.accumulate_out && p.alpha == 1.0f && t.addend == nullptr && t.columns == NR;
}

MINDTORCH_INLINE Words rounded_words(const Vector& x) {
    const Words bits = (Words)x, even = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return x != x ? (bits >> 16) | 0x40 : even;
}

MINDTORCH_INLINE void write_rounded(uint16_t* to, const Vector& first, const Vector& second) {
    typedef uint16_t Halves __attribute__((vector_size(VECTOR_BYTES / 2)));
    const Halves left = __builtin_convertvector(rounded_words(first), Halves);
    const Halves right = __builtin_convertvector(rounded_words(second), Halves);
    memcpy(to, &left, sizeof left);
    memcpy(to + WIDTH, &right, sizeof right);
}

void epilogue(const Product<uint16_t>& p, const BFloat16Tile& t, const float* sums) {
    if (plain(p, t)) {
        for (size_t i = 0; i < t.rows; i++, sums += NR) {
            uint16_t* out = t.out + static_cast<ptrdiff_t>(i) * p.out_row;
            for (size_t j = 0; j < NR; j++) out[j] = rounded(sums[j]);
        }
        return;
    }
    for (size_t i = 0; i < t.rows; i++, sums += NR) {
        float* partial = t.partial + i * t.partial_row;
        float values[NR];
        for (size_t j = 0; j < NR; j++) values[j] = sums[j];
        if (t.accumulate_out)
            for (size_t j = 0; j < t.columns; j++) values[j] += partial[j];
        if (!t.last) {
            for (size_t j = 0; j < t.columns; j++) partial[j] = values[j];
            continue;
        }
        for (size_t j = 0; j < NR; j++) values[j] *= p.alpha;
        if (t.addend != nullptr) {
            const uint16_t* addend = t.addend + static_cast<ptrdiff_t>(i) * p.addend.row;
            for (size_t j = 0; j < t.columns; j++)
                values[j] += p.beta * widened(addend[static_cast<ptrdiff_t>(j) * p.addend.column]);
        }
        uint16_t* out = t.out + static_cast<ptrdiff_t>(i) * p.out_row;
        if (t.columns == NR)
            for (size_t j = 0; j < NR; j++) out[j] = rounded(values[j]);
        else
            for (size_t j = 0; j < t.columns; j++) out[j] = rounded(values[j]);
    }
}

#define MINDTORCH_TILE(Way, attribute)                                                                      \
    template <size_t ROWS>                                                                                  \
    attribute void tile_of(const Product<uint16_t>& p, const BFloat16Tile& t, const Way::Word* left,        \
                           const Way::Word* right, size_t words) {                                          \
        Vector sums[ROWS][2] = {};                                                                          \
        for (size_t k = 0; k < words; k += SUM_DEPTH)                                                       \
            Way::sum<ROWS>(sums, left + k * MR, right + k * NR, least(SUM_DEPTH, words - k));               \
        if (plain(p, t) && t.rows == ROWS) {                                                                \
            _Pragma("GCC unroll 16") for (size_t i = 0; i < ROWS; i++)                                      \
                write_rounded(t.out + static_cast<ptrdiff_t>(i) * p.out_row, sums[i][0], sums[i][1]);       \
            return;                                                                                         \
        }                                                                                                   \
        float lanes[ROWS][NR];                                                                              \
        memcpy(lanes, sums, sizeof lanes);                                                                  \
        epilogue(p, t, lanes[0]);                                                                           \
    }                                                                                                       \
    template <size_t COLUMNS>                                                                               \
    attribute void inner_products(float* sums, const uint16_t* left, const uint16_t* right, ptrdiff_t step, \
                                  size_t depth, const Way&) {                                               \
        Vector accumulators[COLUMNS] = {};                                                                  \
        size_t k = 0;                                                                                       \
        for (; k + NR <= depth; k += NR) {                                                                  \
            const Words x = read_words(left + k);                                                           \
            _Pragma("GCC unroll 8") for (size_t j = 0; j < COLUMNS; j++) accumulators[j] =                  \
                Way::dot(accumulators[j], x, read_words(right + static_cast<ptrdiff_t>(j) * step + k));     \
        }                                                                                                   \
        for (size_t j = 0; j < COLUMNS; j++) {                                                              \
            float sum = 0;                                                                                  \
            for (size_t lane = 0; lane < WIDTH; lane++) sum += accumulators[j][lane];                       \
            const uint16_t* y = right + static_cast<ptrdiff_t>(j) * step;                                   \
            for (size_t at = k; at < depth; at++) sum += widened(left[at]) * widened(y[at]);                \
            sums[j] = sum;                                                                                  \
        }                                                                                                   \
    }

MINDTORCH_TILE(Widened, )
#ifdef MINDTORCH_PAIRS
MINDTORCH_TILE(Paired, MINDTORCH_PAIRS)
#endif

template <typename Way>
struct Blocks {
    static constexpr size_t DEPTH = KC * Way::DEPTH;

    static size_t words(size_t depth) { return (least(depth, DEPTH) + Way::DEPTH - 1) / Way::DEPTH; }
    static size_t rows_size(size_t rows, size_t depth) {
        return round_up(round_up(least(rows, MC), MR) * words(depth), 16);
    }
    static size_t columns_size(size_t columns, size_t depth) {
        return round_up(round_up(least(columns, NC), NR) * words(depth), 16);
    }
    static size_t scratch(size_t rows, size_t columns, size_t depth) {
        const size_t partial = depth > DEPTH ? least(rows, MC_SUMS) * least(columns, NC) : 0;
        return rows_size(rows, depth) + columns_size(columns, depth) + partial;
    }

    // Packed rows from `row` on times packed columns from `column` on.
    static void block(const Product<uint16_t>& p, BFloat16Tile t, const typename Way::Word* left,
                      const typename Way::Word* right, size_t row, size_t rows, size_t column, size_t columns,
                      size_t words) {
        float* const partial = t.partial;
        for (size_t j = 0; j < columns; j += NR) {
            t.columns = least(NR, columns - j);
            for (size_t i = 0; i < rows; i += MR) {
                t.rows = least(MR, rows - i);
                const ptrdiff_t at = static_cast<ptrdiff_t>(row + i), beside = static_cast<ptrdiff_t>(column + j);
                t.partial = partial + i * t.partial_row + j;
                t.out = p.out + at * p.out_row + beside;
                if (p.addend.data != nullptr) t.addend = p.addend.data + at * p.addend.row + beside * p.addend.column;
                const auto *a = left + i * words, *b = right + j * words;
                if (t.rows <= (MR + 2) / 3)
                    tile_of<(MR + 2) / 3>(p, t, a, b, words);
                else if (t.rows <= (2 * MR + 2) / 3)
                    tile_of<(2 * MR + 2) / 3>(p, t, a, b, words);
                else
                    tile_of<MR>(p, t, a, b, words);
            }
        }
    }

    static void multiply(const Product<uint16_t>& p, float* scratch) {
        auto* rows_packed = reinterpret_cast<typename Way::Word*>(scratch);
        auto* columns_packed = rows_packed + rows_size(p.rows, p.depth);
        auto* partial = reinterpret_cast<float*>(columns_packed + columns_size(p.columns, p.depth));
        for (size_t column = 0; column < p.columns; column += NC) {
            const size_t columns = least(NC, p.columns - column);
            for (size_t super = 0; super < p.rows; super += MC_SUMS) {
                const size_t end = least(super + MC_SUMS, p.rows);
                size_t k = 0;
                do {
                    const size_t depth = least(DEPTH, p.depth - k);
                    pack_lines<NR, Way>(columns_packed,
                                        {p.right.data + static_cast<ptrdiff_t>(k) * p.right.row +
                                             static_cast<ptrdiff_t>(column) * p.right.column,
                                         p.right.column, p.right.row},
                                        columns, depth);
                    for (size_t row = super; row < end; row += MC) {
                        const size_t rows = least(MC, end - row);
                        pack_lines<MR, Way>(rows_packed,
                                            {p.left.data + static_cast<ptrdiff_t>(row) * p.left.row +
                                                 static_cast<ptrdiff_t>(k) * p.left.column,
                                             p.left.row, p.left.column},
                                            rows, depth);
                        const BFloat16Tile t = {partial + (row - super) * columns,
                                                columns,
                                                k > 0,
                                                k + DEPTH >= p.depth,
                                                nullptr,
                                                nullptr,
                                                0,
                                                0};
                        block(p, t, rows_packed, columns_packed, row, rows, column, columns, words(depth));
                    }
                    k += DEPTH;
                } while (k < p.depth);
            }
        }
    }

    static void multiply_skinny(const Product<uint16_t>& p, float*) {
        constexpr size_t TOGETHER = 8;
        for (size_t column = 0; column < p.columns; column += TOGETHER) {
            const size_t columns = least(TOGETHER, p.columns - column);
            for (size_t row = 0; row < p.rows; row++) {
                float lanes[NR < TOGETHER ? TOGETHER : NR] = {};
                const uint16_t* left = p.left.data + static_cast<ptrdiff_t>(row) * p.left.row;
                const ptrdiff_t step = p.right.column, beside = static_cast<ptrdiff_t>(column);
                const uint16_t* right = p.right.data + beside * step;
                if (columns == TOGETHER)
                    inner_products<TOGETHER>(lanes, left, right, step, p.depth, Way());
                else
                    for (size_t j = 0; j < columns; j++)
                        inner_products<1>(lanes + j, left, right + static_cast<ptrdiff_t>(j) * step, step, p.depth,
                                          Way());
                const ptrdiff_t at = static_cast<ptrdiff_t>(row);
                for (size_t j = 0; j < columns; j++) {
                    float value = p.alpha * lanes[j];
                    if (p.addend.data != nullptr)
                        value +=
                            p.beta * widened(p.addend.data[at * p.addend.row +
                                                           (beside + static_cast<ptrdiff_t>(j)) * p.addend.column]);
                    p.out[at * p.out_row + beside + static_cast<ptrdiff_t>(j)] = rounded(value);
                }
            }
        }
    }
};

}  // namespace

#define MINDTORCH_BFLOAT16_LOOPS(Way) \
    {MR, NR, Blocks<Way>::scratch, Blocks<Way>::multiply, Blocks<Way>::multiply_skinny, 0, nullptr}

extern const GemmLoops<uint16_t> MINDTORCH_LOOPS(bfloat16_gemm_loops) = MINDTORCH_BFLOAT16_LOOPS(Widened);
#ifdef MINDTORCH_PAIRS
extern const GemmLoops<uint16_t> MINDTORCH_LOOPS(bfloat16_dot_loops) = MINDTORCH_BFLOAT16_LOOPS(Paired);
#else
extern const GemmLoops<uint16_t> MINDTORCH_LOOPS(bfloat16_dot_loops) = MINDTORCH_BFLOAT16_LOOPS(Widened);
#endif

}  // namespace mindtorch
