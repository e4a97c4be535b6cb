// Fourier transforms by passes that leave the elements in order (Stockham's), of as many lines as a vector has lanes.
#include "kernels/fft.h"
#include "kernels/fft_butterfly.h"
#include "kernels/fft_line.h"

namespace mindtorch {

namespace {

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
        if (pass.radix == 8)
            run_pass<V, Real, 8>(pass, plan.twiddles, spare, data);
        else if (pass.radix == 4)
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
        const Point<V> odd = times(scaled(turned(a - b), half), plan.halves[k], plan.halves[count + 1 + k]);
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
        const Point<V> even = a + b, d = times(a - b, plan.halves[k], -plan.halves[count + 1 + k]);
        const Point<V> odd = {-d.im, d.re};
        z[k] = even + odd;
        const Point<V> other = even - odd;
        if (2 * k != count) z[count - k] = {other.re, -other.im};
    }
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
            __builtin_prefetch(element + reals * sizeof(V), 0, 2);  // the next lines'
            V pair[2];
            if (reals == 1) {  // sizes that are known are no calls
                memcpy(pair, element, sizeof(V));
                memcpy(to + (done ^ swapped) * N, pair, sizeof(V));
                continue;
            }
            memcpy(pair, element, sizeof pair);
            part<Real>(pair);
            for (size_t k = 0; k < 2; k++) memcpy(to + ((done + k) ^ swapped) * N, &pair[k], sizeof(V));
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
            memcpy(&pair[0], from + (done ^ swapped) * N, sizeof(V));
            pair[0] *= scale;
            char* element = to[0] + (ptrdiff_t)(done / reals) * step;
            __builtin_prefetch(element + reals * sizeof(V), 1, 2);
            if (reals == 1) {
                memcpy(element, pair, sizeof(V));
                continue;
            }
            memcpy(&pair[1], from + ((done + 1) ^ swapped) * N, sizeof(V));
            pair[1] *= scale;
            join<Real>(pair);
            memcpy(element, pair, sizeof pair);
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

extern const FftLoops<float> MINDTORCH_LOOPS(fft_loops) = {Lanes<float>::COUNT, wide<float>, single<float>,
                                                           transform_line<float>};
extern const FftLoops<double> MINDTORCH_LOOPS(fft_double_loops) = {Lanes<double>::COUNT, wide<double>, single<double>,
                                                                   transform_line<double>};

}  // namespace mindtorch
