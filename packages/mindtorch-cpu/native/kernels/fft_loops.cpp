// Fourier transforms by passes that leave the elements in order (Stockham's), of as many lines as a vector has lanes.
#include "kernels/fft.h"

#include "simd/shuffle.h"
#include "simd/vector.h"

namespace mindtorch {

namespace {

typedef double Doubles __attribute__((vector_size(64)));

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
template <typename V, typename Real>
INLINE Point<V> times(const Point<V>& a, Real re, Real im) {
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

template <typename V, typename Real, size_t radix>
INLINE void run_pass(const FftPass& pass, const Real* twiddles, Point<V>* to, const Point<V>* from) {
    const Real* factors = twiddles + pass.twiddles;
    for (size_t p = 0; p < pass.rest; p++, factors += 2 * (radix - 1)) {
        for (size_t q = 0; q < pass.done; q++) {
            Point<V> x[radix];
            for (size_t k = 0; k < radix; k++) x[k] = from[q + pass.done * (p + pass.rest * k)];
            butterfly<V, Real, radix>(x);
            Point<V>* out = to + q + pass.done * radix * p;
            out[0] = x[0];
            for (size_t k = 1; k < radix; k++)
                out[pass.done * k] = p == 0 ? x[k] : times(x[k], factors[2 * k - 2], factors[2 * k - 1]);
        }
    }
}

// Where the transform ends: one of the two buffers, which the passes go back and forth between.
template <typename V, typename Real>
INLINE Point<V>* run_passes(const FftPlan<Real>& plan, Point<V>* data, Point<V>* spare) {
    for (size_t at = 0; at < plan.passes; at++) {
        const FftPass& pass = plan.pass[at];
        if (pass.radix == 4)
            run_pass<V, Real, 4>(pass, plan.twiddles, spare, data);
        else if (pass.radix == 2)
            run_pass<V, Real, 2>(pass, plan.twiddles, spare, data);
        else if (pass.radix == 3)
            run_pass<V, Real, 3>(pass, plan.twiddles, spare, data);
        else
            run_pass<V, Real, 5>(pass, plan.twiddles, spare, data);
        Point<V>* other = data;
        data = spare;
        spare = other;
    }
    return data;
}

// The transform of a real line from that of its pairs: count + 1 numbers in the place of count.
template <typename V, typename Real>
INLINE void part_pairs(const FftPlan<Real>& plan, Point<V>* z) {
    const size_t count = plan.count;
    const Point<V> first = z[0];
    z[0] = {first.re + first.im, V{}};
    z[count] = {first.re - first.im, V{}};
    const Real half = (Real)0.5;
    for (size_t k = 1; 2 * k <= count; k++) {
        const Point<V> a = z[k], b = {z[count - k].re, -z[count - k].im};
        const Point<V> even = scaled(a + b, half);
        const Point<V> odd = times(scaled(turned(a - b), half), plan.halves[2 * k], plan.halves[2 * k + 1]);
        z[k] = even + odd;
        const Point<V> other = even - odd;
        if (2 * k != count) z[count - k] = {other.re, -other.im};
    }
}

// The pairs' transform from that of a real line; what is imaginary of the first and of the last does not count.
template <typename V, typename Real>
INLINE void join_pairs(const FftPlan<Real>& plan, Point<V>* z) {
    const size_t count = plan.count;
    const V first = z[0].re, last = z[count].re;
    z[0] = {first + last, first - last};
    for (size_t k = 1; 2 * k <= count; k++) {
        const Point<V> a = z[k], b = {z[count - k].re, -z[count - k].im};
        const Point<V> even = a + b, d = times(a - b, plan.halves[2 * k], -plan.halves[2 * k + 1]);
        const Point<V> odd = {-d.im, d.re};
        z[k] = even + odd;
        const Point<V> other = even - odd;
        if (2 * k != count) z[count - k] = {other.re, -other.im};
    }
}

template <typename Real>
struct Lanes;
template <>
struct Lanes<float> {
    using V = Floats;
    static constexpr size_t COUNT = 16;
    static INLINE V low(const V& a, const V& b) {
        return shuffle<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b);
    }
    static INLINE V high(const V& a, const V& b) {
        return shuffle<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b);
    }
    static INLINE V even(const V& a, const V& b) {
        return shuffle<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(a, b);
    }
    static INLINE V odd(const V& a, const V& b) {
        return shuffle<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(a, b);
    }
};
template <>
struct Lanes<double> {
    using V = Doubles;
    static constexpr size_t COUNT = 8;
    static INLINE V low(const V& a, const V& b) { return shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, b); }
    static INLINE V high(const V& a, const V& b) { return shuffle<4, 12, 5, 13, 6, 14, 7, 15>(a, b); }
    static INLINE V even(const V& a, const V& b) { return shuffle<0, 2, 4, 6, 8, 10, 12, 14>(a, b); }
    static INLINE V odd(const V& a, const V& b) { return shuffle<1, 3, 5, 7, 9, 11, 13, 15>(a, b); }
};

// Pairs of real and imaginary parts, apart and together.
template <typename Real, typename V>
INLINE void part(V* pair) {
    const V a = pair[0], b = pair[1];
    pair[0] = Lanes<Real>::even(a, b);
    pair[1] = Lanes<Real>::odd(a, b);
}
template <typename Real, typename V>
INLINE void join(V* pair) {
    const V a = pair[0], b = pair[1];
    pair[0] = Lanes<Real>::low(a, b);
    pair[1] = Lanes<Real>::high(a, b);
}

// As many vectors as they have lanes, rows for columns: riffling their halves does it.
template <typename Real, typename V = typename Lanes<Real>::V>
INLINE void transpose(V* rows) {
    constexpr size_t N = Lanes<Real>::COUNT;
    for (size_t round = 1; round < N; round *= 2) {
        V next[N];
        for (size_t i = 0; i < N / 2; i++) {
            next[2 * i] = Lanes<Real>::low(rows[i], rows[i + N / 2]);
            next[2 * i + 1] = Lanes<Real>::high(rows[i], rows[i + N / 2]);
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

// Lines that lie side by side, so that an element of all of them is one piece of memory.
INLINE bool side_by_side(const char* const* lines, size_t many, size_t lanes, size_t bytes) {
    if (many < lanes) return false;
    for (size_t lane = 1; lane < lanes; lane++)
        if (lines[lane] != lines[0] + lane * bytes) return false;
    return true;
}

// `count` elements of each line, of `reals` numbers: one line of vectors, whose place is changed by `swapped`.
template <typename Real>
void read_lines(Real* to, const char* const* from, size_t many, size_t count, size_t reals, ptrdiff_t step,
                size_t swapped) {
    using V = typename Lanes<Real>::V;
    constexpr size_t N = Lanes<Real>::COUNT;
    const size_t length = count * reals;
    size_t done = 0;
    if (step == (ptrdiff_t)(reals * sizeof(Real))) {
        for (; done + N <= length; done += N) {
            V rows[N];
            for (size_t lane = 0; lane < N; lane++)
                memcpy(&rows[lane], from[lane < many ? lane : 0] + done * sizeof(Real), sizeof(V));
            transpose<Real>(rows);
            for (size_t i = 0; i < N; i++) memcpy(to + ((done + i) ^ swapped) * N, &rows[i], sizeof(V));
        }
    } else if (side_by_side(from, many, N, reals * sizeof(Real))) {
        for (; done < length; done += reals) {
            const char* element = from[0] + (ptrdiff_t)(done / reals) * step;
            V pair[2];
            memcpy(pair, element, reals * sizeof(V));
            if (reals == 2) part<Real>(pair);
            for (size_t k = 0; k < reals; k++) memcpy(to + ((done + k) ^ swapped) * N, &pair[k], sizeof(V));
        }
    }
    for (; done < length; done++)
        for (size_t lane = 0; lane < N; lane++)
            to[(done ^ swapped) * N + lane] =
                read_one<Real>(from[lane < many ? lane : 0] + (ptrdiff_t)(done / reals) * step +
                               (ptrdiff_t)(done % reals * sizeof(Real)));
}

template <typename Real>
void write_lines(char* const* to, const Real* from, size_t many, size_t count, size_t reals, ptrdiff_t step,
                 size_t swapped, Real scale) {
    using V = typename Lanes<Real>::V;
    constexpr size_t N = Lanes<Real>::COUNT;
    const size_t length = count * reals;
    size_t done = 0;
    if (step == (ptrdiff_t)(reals * sizeof(Real))) {
        for (; done + N <= length; done += N) {
            V rows[N];
            for (size_t i = 0; i < N; i++) {
                memcpy(&rows[i], from + ((done + i) ^ swapped) * N, sizeof(V));
                rows[i] *= scale;
            }
            transpose<Real>(rows);
            for (size_t lane = 0; lane < many; lane++) memcpy(to[lane] + done * sizeof(Real), &rows[lane], sizeof(V));
        }
    } else if (side_by_side(to, many, N, reals * sizeof(Real))) {
        for (; done < length; done += reals) {
            V pair[2];
            for (size_t k = 0; k < reals; k++) {
                memcpy(&pair[k], from + ((done + k) ^ swapped) * N, sizeof(V));
                pair[k] *= scale;
            }
            if (reals == 2) join<Real>(pair);
            memcpy(to[0] + (ptrdiff_t)(done / reals) * step, pair, reals * sizeof(V));
        }
    }
    for (; done < length; done++) {
        for (size_t lane = 0; lane < many; lane++) {
            const Real value = from[(done ^ swapped) * N + lane] * scale;
            memcpy(to[lane] + (ptrdiff_t)(done / reals) * step + (ptrdiff_t)(done % reals * sizeof(Real)), &value,
                   sizeof value);
        }
    }
}

// What a line is read and written as.
template <typename Real>
struct Shape {
    bool real_in, real_out;
    size_t in_count, out_count, swapped;
    explicit Shape(const FftLines<Real>& lines)
        : real_in(lines.kind == FFT_TO_COMPLEX || lines.kind == FFT_TO_ALL),
          real_out(lines.kind == FFT_TO_REAL),
          in_count(lines.plan->count * (real_in ? 2 : 1) + (real_out ? 1 : 0)),
          out_count(lines.plan->count * (real_out || lines.kind == FFT_TO_ALL ? 2 : 1) +
                    (lines.kind == FFT_TO_COMPLEX ? 1 : 0)),
          swapped(lines.kind == FFT_COMPLEX && lines.inverse ? 1 : 0) {}
};

// Both parts exchanged: the transform back is the one forth of numbers whose parts are exchanged.
template <typename V>
INLINE void swap_parts(Point<V>* z, size_t count) {
    for (size_t i = 0; i < count; i++) z[i] = {z[i].im, z[i].re};
}

// The negative frequencies of a real line.
template <typename V>
INLINE void mirror(Point<V>* z, size_t count) {
    for (size_t k = 1; k < count; k++) z[2 * count - k] = {z[k].re, -z[k].im};
}

template <typename V, typename Real>
INLINE Point<V>* transform(const FftLines<Real>& lines, Point<V>* data, Point<V>* spare) {
    const FftPlan<Real>& plan = *lines.plan;
    if (lines.kind == FFT_TO_REAL) {
        join_pairs<V, Real>(plan, data);
        swap_parts(data, plan.count);
    }
    Point<V>* found = run_passes<V, Real>(plan, data, spare);
    if (lines.kind == FFT_TO_REAL) swap_parts(found, plan.count);
    if (lines.kind == FFT_TO_COMPLEX || lines.kind == FFT_TO_ALL) part_pairs<V, Real>(plan, found);
    if (lines.kind == FFT_TO_ALL) mirror(found, plan.count);
    return found;
}

template <typename Real>
void wide(const FftLines<Real>& lines, const char* const* from, char* const* to, size_t many, Real* memory) {
    using V = typename Lanes<Real>::V;
    const Shape<Real> shape(lines);
    const size_t room = 2 * lines.plan->count + 1;
    auto* data = reinterpret_cast<Point<V>*>(memory);
    read_lines(memory, from, many, shape.in_count, shape.real_in ? 1 : 2, lines.from_step, shape.swapped);
    const Point<V>* found = transform<V, Real>(lines, data, data + room);
    write_lines(to, reinterpret_cast<const Real*>(found), many, shape.out_count, shape.real_out ? 1 : 2, lines.to_step,
                shape.swapped, lines.scale);
}

template <typename Real>
void single(const FftLines<Real>& lines, const char* from, char* to, Real* memory) {
    const Shape<Real> shape(lines);
    const size_t in_reals = shape.real_in ? 1 : 2, out_reals = shape.real_out ? 1 : 2;
    const size_t room = 2 * lines.plan->count + 1;
    for (size_t i = 0; i < shape.in_count; i++)
        for (size_t part = 0; part < in_reals; part++)
            memory[(i * in_reals + part) ^ shape.swapped] =
                read_one<Real>(from + (ptrdiff_t)i * lines.from_step + (ptrdiff_t)(part * sizeof(Real)));
    auto* data = reinterpret_cast<Point<Real>*>(memory);
    const auto* found = reinterpret_cast<const Real*>(transform<Real, Real>(lines, data, data + room));
    for (size_t i = 0; i < shape.out_count; i++)
        for (size_t part = 0; part < out_reals; part++) {
            const Real value = found[(i * out_reals + part) ^ shape.swapped] * lines.scale;
            memcpy(to + (ptrdiff_t)i * lines.to_step + (ptrdiff_t)(part * sizeof(Real)), &value, sizeof value);
        }
}

}  // namespace

extern const FftLoops<float> MINDTORCH_LOOPS(fft_loops) = {Lanes<float>::COUNT, wide<float>, single<float>};
extern const FftLoops<double> MINDTORCH_LOOPS(fft_double_loops) = {Lanes<double>::COUNT, wide<double>, single<double>};

}  // namespace mindtorch
