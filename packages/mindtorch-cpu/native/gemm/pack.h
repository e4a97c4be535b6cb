// Vectors of floats, and panels of matrices' lines packed for them. Included by what multiplies; all of it is local to
// the file that includes it.
#pragma once

#include <string.h>

#include "gemm/gemm.h"
#include "simd/shuffle.h"
#include "simd/vector_width.h"

#define MINDTORCH_INLINE inline __attribute__((always_inline))
#define MINDTORCH_OWN_CODE __attribute__((noinline))

namespace mindtorch {
namespace {

#if defined(__AVX512F__)
constexpr size_t MR = 12;
#elif defined(__AVX__)
constexpr size_t MR = 6;
#elif defined(__aarch64__)
constexpr size_t MR = 8;
#else
constexpr size_t MR = 4;
#endif

// Rows packed at a time, of at most `ROW_BYTES` per element of the depth: they stay in the third cache while one panel
// of columns after the other, which stays in the second, goes past them. The result is read and written once per
// `DEPTH`.
constexpr size_t PACKED_KC = 768, PACKED_MC_BYTES = 3072;
// Blocks of loops that pack for themselves.
constexpr size_t KC = 384, MC = 16 * MR, NC = 1024;
constexpr size_t SUM_DEPTH =
    192;  // what is summed up in one accumulator: sums of short sums are more exact than a long one

template <typename Real>
struct Simd {
    typedef Real Vector __attribute__((vector_size(VECTOR_BYTES)));
    static constexpr size_t WIDTH = VECTOR_BYTES / sizeof(Real), NR = 2 * WIDTH;
};

template <typename Real>
MINDTORCH_INLINE typename Simd<Real>::Vector read(const Real* from) {
    typename Simd<Real>::Vector value;
    memcpy(&value, from, sizeof value);
    return value;
}

template <typename Real>
MINDTORCH_INLINE void write(Real* to, const typename Simd<Real>::Vector& value) {
    memcpy(to, &value, sizeof value);
}

// Keep a value in a register: the compiler else reads it anew for every use, which is slow where it crosses cache
// lines.
template <typename Vector>
MINDTORCH_INLINE void keep(Vector& value) {
#if defined(__x86_64__)
    __asm__("" : "+v"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#endif
}

constexpr size_t least(size_t a, size_t b) { return a < b ? a : b; }
constexpr size_t round_up(size_t count, size_t step) { return (count + step - 1) / step * step; }

typedef float Quad __attribute__((vector_size(16)));
typedef int QuadIndex __attribute__((vector_size(16)));
typedef float TwoQuads __attribute__((vector_size(32)));
typedef float FourQuads __attribute__((vector_size(64)));

MINDTORCH_INLINE Quad quad(const float* from) {
    Quad value;
    memcpy(&value, from, sizeof value);
    return value;
}

// Transposing four by four floats in every quad of vectors: which elements of two vectors make one, twice two times.
struct Quads1 {
    using Lines = Quad;
    static MINDTORCH_INLINE Lines low(const Lines& a, const Lines& b) { return shuffle<0, 4, 1, 5>(a, b); }
    static MINDTORCH_INLINE Lines high(const Lines& a, const Lines& b) { return shuffle<2, 6, 3, 7>(a, b); }
    static MINDTORCH_INLINE Lines first(const Lines& a, const Lines& b) { return shuffle<0, 1, 4, 5>(a, b); }
    static MINDTORCH_INLINE Lines last(const Lines& a, const Lines& b) { return shuffle<2, 3, 6, 7>(a, b); }
};
struct Quads2 {
    using Lines = TwoQuads;
    static MINDTORCH_INLINE Lines low(const Lines& a, const Lines& b) {
        return shuffle<0, 8, 1, 9, 4, 12, 5, 13>(a, b);
    }
    static MINDTORCH_INLINE Lines high(const Lines& a, const Lines& b) {
        return shuffle<2, 10, 3, 11, 6, 14, 7, 15>(a, b);
    }
    static MINDTORCH_INLINE Lines first(const Lines& a, const Lines& b) {
        return shuffle<0, 1, 8, 9, 4, 5, 12, 13>(a, b);
    }
    static MINDTORCH_INLINE Lines last(const Lines& a, const Lines& b) {
        return shuffle<2, 3, 10, 11, 6, 7, 14, 15>(a, b);
    }
};
struct Quads4 {
    using Lines = FourQuads;
    static MINDTORCH_INLINE Lines low(const Lines& a, const Lines& b) {
        return shuffle<0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29>(a, b);
    }
    static MINDTORCH_INLINE Lines high(const Lines& a, const Lines& b) {
        return shuffle<2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31>(a, b);
    }
    static MINDTORCH_INLINE Lines first(const Lines& a, const Lines& b) {
        return shuffle<0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29>(a, b);
    }
    static MINDTORCH_INLINE Lines last(const Lines& a, const Lines& b) {
        return shuffle<2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31>(a, b);
    }
};

template <typename Quads, typename Lines>
MINDTORCH_INLINE void transpose(float* to, size_t to_step, const Lines& a, const Lines& b, const Lines& c,
                                const Lines& d) {
    const Lines ab = Quads::low(a, b), cd = Quads::low(c, d), ba = Quads::high(a, b), dc = Quads::high(c, d);
    const Lines first = Quads::first(ab, cd), second = Quads::last(ab, cd);
    const Lines third = Quads::first(ba, dc), fourth = Quads::last(ba, dc);
    memcpy(to, &first, sizeof first);
    memcpy(to + to_step, &second, sizeof first);
    memcpy(to + 2 * to_step, &third, sizeof first);
    memcpy(to + 3 * to_step, &fourth, sizeof first);
}

// Four by four floats, rows of `from` to columns of `to`.
MINDTORCH_INLINE void transpose(float* to, size_t to_step, const float* from, ptrdiff_t step) {
    transpose<Quads1>(to, to_step, quad(from), quad(from + step), quad(from + 2 * step), quad(from + 3 * step));
}

// Quads of lines that are four `step`s apart.
MINDTORCH_INLINE TwoQuads two_quads(const float* from, ptrdiff_t step) {
    return __builtin_shufflevector(quad(from), quad(from + 4 * step), 0, 1, 2, 3, 4, 5, 6, 7);
}
MINDTORCH_INLINE FourQuads four_quads(const float* from, ptrdiff_t step) {
    return __builtin_shufflevector(two_quads(from, step), two_quads(from + 8 * step, step), 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                   9, 10, 11, 12, 13, 14, 15);
}

// Eight or sixteen by four.
MINDTORCH_INLINE void transpose_eight(float* to, size_t to_step, const float* from, ptrdiff_t step) {
    transpose<Quads2>(to, to_step, two_quads(from, step), two_quads(from + step, step),
                      two_quads(from + 2 * step, step), two_quads(from + 3 * step, step));
}
MINDTORCH_INLINE void transpose_sixteen(float* to, size_t to_step, const float* from, ptrdiff_t step) {
    transpose<Quads4>(to, to_step, four_quads(from, step), four_quads(from + step, step),
                      four_quads(from + 2 * step, step), four_quads(from + 3 * step, step));
}

// A panel of lines that are dense along the depth; false where there is no quick way.
template <size_t WIDTH>
MINDTORCH_INLINE bool pack_across(double*, const double*, ptrdiff_t, size_t, size_t) {
    return false;
}

// A cache line of every line at a time: at large steps the lines share a few sets of the cache.
template <size_t WIDTH>
MINDTORCH_INLINE bool pack_across(float* to, const float* from, ptrdiff_t step, size_t lines, size_t depth) {
    const size_t whole = depth / 4 * 4;
    for (size_t k = 0; k < depth; k += 16) {
        const size_t end = least(k + 16, depth), quads = least(k + 16, whole);
        size_t i = 0;
        for (; VECTOR_BYTES >= 64 && i + 16 <= lines; i += 16)
            for (size_t at = k; at < quads; at += 4)
                transpose_sixteen(to + at * WIDTH + i, WIDTH, from + static_cast<ptrdiff_t>(i) * step + at, step);
        for (; VECTOR_BYTES >= 32 && i + 8 <= lines; i += 8)
            for (size_t at = k; at < quads; at += 4)
                transpose_eight(to + at * WIDTH + i, WIDTH, from + static_cast<ptrdiff_t>(i) * step + at, step);
        for (; i + 4 <= lines; i += 4)
            for (size_t at = k; at < quads; at += 4)
                transpose(to + at * WIDTH + i, WIDTH, from + static_cast<ptrdiff_t>(i) * step + at, step);
        for (size_t line = 0; line < i; line++)
            for (size_t at = quads; at < end; at++)
                to[at * WIDTH + line] = from[static_cast<ptrdiff_t>(line) * step + at];
        for (; i < WIDTH; i++)
            for (size_t at = k; at < end; at++)
                to[at * WIDTH + i] = i < lines ? from[static_cast<ptrdiff_t>(i) * step + at] : 0.0f;
    }
    return true;
}

// Pack `count` lines of `depth` elements as panels of WIDTH lines, element by element of the depth; the last panel is
// filled with zeros. `line` leads from line to line, `along` down the depth.
template <size_t WIDTH, typename Real>
void pack(Real* to, const Real* from, ptrdiff_t line, ptrdiff_t along, size_t count, size_t depth) {
    for (size_t first = 0; first < count; first += WIDTH, to += WIDTH * depth, from += WIDTH * line) {
        const size_t lines = least(WIDTH, count - first);
        if (lines == WIDTH && line == 1) {
            for (size_t k = 0; k < depth; k++)
                memcpy(to + k * WIDTH, from + static_cast<ptrdiff_t>(k) * along, WIDTH * sizeof(Real));
        } else if (along != 1 || !pack_across<WIDTH>(to, from, line, lines, depth)) {
            for (size_t k = 0; k < depth; k++) {
                const Real* at = from + static_cast<ptrdiff_t>(k) * along;
                for (size_t i = 0; i < lines; i++) to[k * WIDTH + i] = at[static_cast<ptrdiff_t>(i) * line];
                for (size_t i = lines; i < WIDTH; i++) to[k * WIDTH + i] = Real(0);
            }
        }
    }
}

}  // namespace
}  // namespace mindtorch
