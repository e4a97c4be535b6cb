// Fourier transforms of one dense line whose vectors hold neighbouring elements, real and imaginary parts apart: all
// of it stays in the nearest cache. The extent is a multiple of eight, so that after a first pass of radix eight whole
// vectors share a factor. Included by fft_loops.cpp alone.
#pragma once

#include "kernels/fft_butterfly.h"

namespace mindtorch {

namespace {

// Results of the first pass are turned in vectors of eight elements at most, as many as it puts side by side.
template <typename Real>
constexpr size_t TURNED_BYTES = VECTOR_BYTES < 8 * sizeof(Real) ? VECTOR_BYTES : 8 * sizeof(Real);

// The real and the imaginary parts of a line.
template <typename Real>
struct Split {
    Real *re, *im;

    template <typename V>
    INLINE Point<V> read(size_t at) const {
        Point<V> value;
        memcpy(&value.re, re + at, sizeof(V));
        memcpy(&value.im, im + at, sizeof(V));
        return value;
    }
    template <typename V>
    INLINE void write(size_t at, const Point<V>& value) const {
        memcpy(re + at, &value.re, sizeof(V));
        memcpy(im + at, &value.im, sizeof(V));
    }
};

// Eight vectors, those of one lane side by side.
template <typename Real, typename V>
INLINE void write_turned(const Split<Real>& to, const Point<V>* x, size_t p) {
    using T = typename Lanes<Real, TURNED_BYTES<Real>>::V;
    constexpr size_t W = sizeof(T) / sizeof(Real), PARTS = sizeof(V) / sizeof(T);
    for (size_t row = 0; row < 8; row += W) {
        T re[PARTS][W], im[PARTS][W];
        for (size_t k = 0; k < W; k++) {
            T parts[PARTS];
            memcpy(parts, &x[row + k].re, sizeof parts);
            for (size_t part = 0; part < PARTS; part++) re[part][k] = parts[part];
            memcpy(parts, &x[row + k].im, sizeof parts);
            for (size_t part = 0; part < PARTS; part++) im[part][k] = parts[part];
        }
        for (size_t part = 0; part < PARTS; part++) {
            transpose<Real>(re[part]);
            transpose<Real>(im[part]);
            for (size_t k = 0; k < W; k++) to.write(8 * (p + part * W + k) + row, Point<T>{re[part][k], im[part][k]});
        }
    }
}

// Butterflies p.. of the first pass, as many as V has lanes; their results lie side by side.
template <typename V, typename Real>
INLINE void first_butterflies(const FftPlan<Real>& plan, const Split<Real>& to, const Split<Real>& from, size_t p) {
    constexpr size_t W = sizeof(V) / sizeof(Real);
    const size_t rest = plan.count / 8;
    Point<V> x[8];
    for (size_t k = 0; k < 8; k++) x[k] = from.template read<V>(p + rest * k);
    butterfly<V, Real, 8>(x);
    for (size_t k = 1; k < 8; k++) {
        V re, im;
        memcpy(&re, plan.first + 2 * (k - 1) * rest + p, sizeof(V));
        memcpy(&im, plan.first + (2 * k - 1) * rest + p, sizeof(V));
        x[k] = times(x[k], re, im);
    }
    if constexpr (W == 1)
        for (size_t k = 0; k < 8; k++) to.write(8 * p + k, x[k]);
    else
        write_turned<Real>(to, x, p);
}

template <typename V, typename Real>
INLINE void run_first_pass(const FftPlan<Real>& plan, const Split<Real>& to, const Split<Real>& from) {
    constexpr size_t W = sizeof(V) / sizeof(Real);
    const size_t rest = plan.count / 8;
    size_t p = 0;
    for (; p + W <= rest; p += W) first_butterflies<V>(plan, to, from, p);
    if constexpr (sizeof(V) > TURNED_BYTES<Real>) {
        using T = typename Lanes<Real, TURNED_BYTES<Real>>::V;
        for (; p + W / 2 <= rest; p += W / 2) first_butterflies<T>(plan, to, from, p);
    }
    for (; p < rest; p++) first_butterflies<Real>(plan, to, from, p);
}

// Butterflies p of a later pass, whose `done` is a multiple of eight; the first ones' factors are one.
template <typename V, typename Real, size_t radix, bool turned>
INLINE void line_butterflies(const FftPass& pass, const Real* factors, const Split<Real>& to, const Split<Real>& from,
                             size_t p) {
    for (size_t q = 0; q < pass.done; q += sizeof(V) / sizeof(Real)) {
        Point<V> x[radix];
        for (size_t k = 0; k < radix; k++) x[k] = from.template read<V>(q + pass.done * (p + pass.rest * k));
        butterfly<V, Real, radix>(x);
        const size_t at = q + pass.done * radix * p;
        to.write(at, x[0]);
        for (size_t k = 1; k < radix; k++)
            to.write(at + pass.done * k, turned ? times(x[k], factors[2 * k - 2], factors[2 * k - 1]) : x[k]);
    }
}

template <typename V, typename Real, size_t radix>
INLINE void run_line_pass(const FftPass& pass, const Real* twiddles, const Split<Real>& to, const Split<Real>& from) {
    const Real* factors = twiddles + pass.twiddles;
    line_butterflies<V, Real, radix, false>(pass, factors, to, from, 0);
    for (size_t p = 1; p < pass.rest; p++)
        line_butterflies<V, Real, radix, true>(pass, factors + 2 * (radix - 1) * p, to, from, p);
}

// Numbers of a line apart, `count` pairs.
template <typename V, typename Real>
INLINE void split_line(const Split<Real>& to, const Real* from, size_t count) {
    constexpr size_t W = sizeof(V) / sizeof(Real);
    size_t i = 0;
    for (; i + W <= count; i += W) {
        V pair[2];
        memcpy(pair, from + 2 * i, sizeof pair);
        part<Real>(pair);
        to.write(i, Point<V>{pair[0], pair[1]});
    }
    for (; i < count; i++) to.write(i, Point<Real>{from[2 * i], from[2 * i + 1]});
}

template <typename V, typename Real>
INLINE void join_line(Real* to, const Split<Real>& from, size_t count, Real scale) {
    constexpr size_t W = sizeof(V) / sizeof(Real);
    size_t i = 0;
    for (; i + W <= count; i += W) {
        const Point<V> value = scaled(from.template read<V>(i), scale);
        V pair[2] = {value.re, value.im};
        join<Real>(pair);
        memcpy(to + 2 * i, pair, sizeof pair);
    }
    for (; i < count; i++) {
        to[2 * i] = from.re[i] * scale;
        to[2 * i + 1] = from.im[i] * scale;
    }
}

// The transform of a real line from that of its pairs, from the second number on; the factors' imaginary parts lie
// `count` + 1 behind the real ones. A function of its own, whose pointers the compiler knows apart.
template <typename Real>
__attribute__((noinline)) void part_line(size_t count, const Real* __restrict turn, const Real* __restrict re,
                                         const Real* __restrict im, Real* __restrict to_re, Real* __restrict to_im) {
    const Real half = (Real)0.5;
    for (size_t k = 1; k < count; k++) {
        const Real sum_re = re[k] + re[count - k], difference_re = re[k] - re[count - k];
        const Real sum_im = im[k] + im[count - k], difference_im = im[k] - im[count - k];
        to_re[k] = half * (sum_re + (sum_im * turn[k] + difference_re * turn[count + 1 + k]));
        to_im[k] = half * (difference_im + (sum_im * turn[count + 1 + k] - difference_re * turn[k]));
    }
}

// The pairs' transform from that of a real line, from the second number on.
template <typename Real>
__attribute__((noinline)) void pair_line(size_t count, const Real* __restrict turn, const Real* __restrict re,
                                         const Real* __restrict im, Real* __restrict to_re, Real* __restrict to_im) {
    for (size_t k = 1; k < count; k++) {
        const Real sum_re = re[k] + re[count - k], difference_re = re[k] - re[count - k];
        const Real sum_im = im[k] + im[count - k], difference_im = im[k] - im[count - k];
        to_re[k] = sum_re + (difference_re * turn[count + 1 + k] - sum_im * turn[k]);
        to_im[k] = difference_im + (difference_re * turn[k] + sum_im * turn[count + 1 + k]);
    }
}

// Numbers of a line, apart, that a transform begins with.
template <typename V, typename Real>
INLINE void read_line(const FftLines<Real>& lines, const Split<Real>& data, const Split<Real>& spare,
                      const Real* from) {
    const size_t count = lines.plan->count;
    if (lines.kind != FFT_TO_REAL) return split_line<V>(data, from, count);
    // What is imaginary of the first and of the last does not count.
    split_line<V>(spare, from, count + 1);
    pair_line(count, lines.plan->halves, spare.re, spare.im, data.re, data.im);
    data.re[0] = spare.re[0] + spare.re[count];
    data.im[0] = spare.re[0] - spare.re[count];
}

// The result, from what the passes left in `data`.
template <typename V, typename Real>
INLINE void write_line(const FftLines<Real>& lines, const Split<Real>& data, const Split<Real>& spare, Real* to) {
    const size_t count = lines.plan->count;
    if (lines.kind == FFT_COMPLEX || lines.kind == FFT_TO_REAL) return join_line<V>(to, data, count, lines.scale);
    part_line(count, lines.plan->halves, data.re, data.im, spare.re, spare.im);
    spare.re[0] = data.re[0] + data.im[0];
    spare.re[count] = data.re[0] - data.im[0];
    spare.im[0] = spare.im[count] = Real(0);
    join_line<V>(to, spare, count + 1, lines.scale);
    if (lines.kind == FFT_TO_ALL)  // the negative frequencies
        for (size_t k = 1; k < count; k++) {
            to[2 * (2 * count - k)] = spare.re[k] * lines.scale;
            to[2 * (2 * count - k) + 1] = -spare.im[k] * lines.scale;
        }
}

template <typename V, typename Real>
INLINE void run_line_pass(const FftPass& pass, const Real* twiddles, const Split<Real>& to, const Split<Real>& from) {
    if constexpr (sizeof(V) > TURNED_BYTES<Real>) {
        if (pass.done % (sizeof(V) / sizeof(Real)) != 0) {
            using T = typename Lanes<Real, TURNED_BYTES<Real>>::V;
            return run_line_pass<T, Real>(pass, twiddles, to, from);
        }
    }
    if (pass.radix == 8)
        run_line_pass<V, Real, 8>(pass, twiddles, to, from);
    else if (pass.radix == 4)
        run_line_pass<V, Real, 4>(pass, twiddles, to, from);
    else if (pass.radix == 2)
        run_line_pass<V, Real, 2>(pass, twiddles, to, from);
    else if (pass.radix == 3)
        run_line_pass<V, Real, 3>(pass, twiddles, to, from);
    else
        run_line_pass<V, Real, 5>(pass, twiddles, to, from);
}

// A dense line; `memory` has 4 * (count + 16) elements.
template <typename Real>
void transform_line(const FftLines<Real>& lines, const char* from, char* to, Real* memory) {
    using V = typename Lanes<Real>::V;
    const FftPlan<Real>& plan = *lines.plan;
    const size_t room = (plan.count + 16) / 16 * 16;
    // The transform back is the one forth of numbers whose parts are exchanged.
    const bool back = lines.kind == FFT_TO_REAL || (lines.kind == FFT_COMPLEX && lines.inverse);
    Split<Real> data = {memory, memory + room}, spare = {memory + 2 * room, memory + 3 * room};
    read_line<V>(lines, data, spare, reinterpret_cast<const Real*>(from));
    if (back) data = {data.im, data.re};
    for (size_t at = 0; at < plan.passes; at++) {
        if (at == 0)
            run_first_pass<V>(plan, spare, data);
        else
            run_line_pass<V>(plan.pass[at], plan.twiddles, spare, data);
        const Split<Real> other = data;
        data = spare;
        spare = other;
    }
    if (back) data = {data.im, data.re};
    write_line<V>(lines, data, spare, reinterpret_cast<Real*>(to));
}

}  // namespace

}  // namespace mindtorch
