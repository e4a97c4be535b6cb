// Complex numbers, the butterflies of Fourier transforms, and vectors of lanes. Included by fft_loops.cpp alone.
#pragma once

#include "kernels/fft.h"
#include "simd/shuffle.h"
#include "simd/vector.h"
#include "simd/vector_width.h"

namespace mindtorch {

namespace {

// Complex numbers of all lanes.
template <typename V>
struct Point {
    V re, im;
};

template <typename V>
INLINE Point<V> operator+(const Point<V>& a, const Point<V>& b) {
    return {a.re + b.re, a.im + b.im};
}
template <typename V>
INLINE Point<V> operator-(const Point<V>& a, const Point<V>& b) {
    return {a.re - b.re, a.im - b.im};
}
// Times -i.
template <typename V>
INLINE Point<V> turned(const Point<V>& a) {
    return {a.im, -a.re};
}
template <typename V, typename Factor>
INLINE Point<V> times(const Point<V>& a, Factor re, Factor im) {
    return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <typename V, typename Real>
INLINE Point<V> scaled(const Point<V>& a, Real by) {
    return {a.re * by, a.im * by};
}

template <typename V, typename Real, size_t radix>
INLINE void butterfly(Point<V>* x) {
    if constexpr (radix == 2) {
        const Point<V> a = x[0], b = x[1];
        x[0] = a + b;
        x[1] = a - b;
    } else if constexpr (radix == 3) {
        const Real half = (Real)-0.5, root = (Real)0.86602540378443864676;
        const Point<V> sum = x[1] + x[2], middle = x[0] + scaled(sum, half), side = scaled(turned(x[1] - x[2]), root);
        x[0] = x[0] + sum;
        x[1] = middle + side;
        x[2] = middle - side;
    } else if constexpr (radix == 4) {
        const Point<V> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
        x[0] = a + c;
        x[1] = b + d;
        x[2] = a - c;
        x[3] = b - d;
    } else if constexpr (radix == 8) {
        Point<V> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
        butterfly<V, Real, 4>(even);
        butterfly<V, Real, 4>(odd);
        const Real root = (Real)0.70710678118654752440;
        const Point<V> a = odd[1], b = turned(odd[3]);
        odd[1] = scaled(a + turned(a), root);
        odd[2] = turned(odd[2]);
        odd[3] = scaled(b + turned(b), root);
        for (size_t k = 0; k < 4; k++) {
            x[k] = even[k] + odd[k];
            x[k + 4] = even[k] - odd[k];
        }
    } else {
        const Real c1 = (Real)0.30901699437494742410, c2 = (Real)-0.80901699437494742410;
        const Real s1 = (Real)0.95105651629515357212, s2 = (Real)0.58778525229247312917;
        const Point<V> a = x[1] + x[4], b = x[2] + x[3], c = turned(x[1] - x[4]), d = turned(x[2] - x[3]);
        const Point<V> e = x[0] + scaled(a, c1) + scaled(b, c2), f = x[0] + scaled(a, c2) + scaled(b, c1);
        const Point<V> g = scaled(c, s1) + scaled(d, s2), h = scaled(c, s2) - scaled(d, s1);
        x[0] = x[0] + a + b;
        x[1] = e + g;
        x[2] = f + h;
        x[3] = f - h;
        x[4] = e - g;
    }
}

// Vectors of `bytes` bytes, by default as wide as the registers.
template <typename Real, size_t bytes = VECTOR_BYTES>
struct Lanes {
    typedef Real V __attribute__((vector_size(bytes)));
    static constexpr size_t COUNT = bytes / sizeof(Real);
    static constexpr int HALF = COUNT / 2;

    // The first halves of both with their elements in turn, the second halves, what has even and what has odd places.
    static INLINE V low(const V& a, const V& b) { return riffled<0>(a, b, Places()); }
    static INLINE V high(const V& a, const V& b) { return riffled<HALF>(a, b, Places()); }
    static INLINE V even(const V& a, const V& b) { return every_other<0>(a, b, Places()); }
    static INLINE V odd(const V& a, const V& b) { return every_other<1>(a, b, Places()); }

private:
    template <int... at>
    struct List {};
    template <int count, int... at>
    struct Counted : Counted<count - 1, count - 1, at...> {};
    template <int... at>
    struct Counted<0, at...> {
        using Type = List<at...>;
    };
    using Places = typename Counted<(int)COUNT>::Type;

    template <int first, int... at>
    static INLINE V riffled(const V& a, const V& b, List<at...>) {
        return shuffle<first + at / 2 + at % 2 * (int)COUNT...>(a, b);
    }
    template <int first, int... at>
    static INLINE V every_other(const V& a, const V& b, List<at...>) {
        return shuffle<2 * at + first...>(a, b);
    }
};

// Pairs of real and imaginary parts, apart and together.
template <typename Real, typename V>
INLINE void part(V* pair) {
    const V a = pair[0], b = pair[1];
    pair[0] = Lanes<Real, sizeof(V)>::even(a, b);
    pair[1] = Lanes<Real, sizeof(V)>::odd(a, b);
}
template <typename Real, typename V>
INLINE void join(V* pair) {
    const V a = pair[0], b = pair[1];
    pair[0] = Lanes<Real, sizeof(V)>::low(a, b);
    pair[1] = Lanes<Real, sizeof(V)>::high(a, b);
}

// As many vectors as they have lanes, rows for columns: riffling their halves does it.
template <typename Real, typename V>
INLINE void transpose(V* rows) {
    constexpr size_t N = sizeof(V) / sizeof(Real);
    for (size_t round = 1; round < N; round *= 2) {
        V next[N];
        for (size_t i = 0; i < N / 2; i++) {
            next[2 * i] = Lanes<Real, sizeof(V)>::low(rows[i], rows[i + N / 2]);
            next[2 * i + 1] = Lanes<Real, sizeof(V)>::high(rows[i], rows[i + N / 2]);
        }
        for (size_t i = 0; i < N; i++) rows[i] = next[i];
    }
}

template <typename Real>
INLINE Real read_one(const char* from) {
    Real value;
    memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

}  // namespace mindtorch
