// Weighted sums of elements of lines.
#include "kernels/interpolate.h"

#include <string.h>

namespace mindtorch {

namespace {

constexpr size_t TOGETHER = 4;  // lines whose places and weights are read once

// Places of ROWS lines, each made of TAPS elements, or of as many as `begins` says where TAPS is 0.
template <size_t ROWS, size_t TAPS, bool WEIGHTED, typename Real>
void gather_lines(const Taps<Real>& taps, Real* out, const Real* in) {
    for (ptrdiff_t i = 0; i < taps.count; i++) {
        const int64_t begin = TAPS > 0 ? i * static_cast<int64_t>(TAPS) : taps.begins[i];
        const int64_t end = TAPS > 0 ? begin + static_cast<int64_t>(TAPS) : taps.begins[i + 1];
        Real sums[ROWS] = {};
        for (int64_t tap = begin; tap < end; tap++) {
            const Real weight = WEIGHTED ? taps.weights[tap] : Real(1);
            const Real* from = in + taps.index[tap];
            for (size_t row = 0; row < ROWS; row++) {
                const Real value = from[static_cast<ptrdiff_t>(row) * taps.extent] * weight;
                sums[row] = tap == begin ? value : sums[row] + value;
            }
        }
        for (size_t row = 0; row < ROWS; row++) out[static_cast<ptrdiff_t>(row) * taps.count + i] = sums[row];
    }
}

template <size_t TAPS, bool WEIGHTED, typename Real>
void gather_all(const Taps<Real>& taps, Real* out, const Real* in, size_t count) {
    for (; count >= TOGETHER; count -= TOGETHER) {
        gather_lines<TOGETHER, TAPS, WEIGHTED>(taps, out, in);
        out += static_cast<ptrdiff_t>(TOGETHER) * taps.count;
        in += static_cast<ptrdiff_t>(TOGETHER) * taps.extent;
    }
    for (; count > 0; count--, out += taps.count, in += taps.extent) gather_lines<1, TAPS, WEIGHTED>(taps, out, in);
}

// How many elements every place is made of, 0 where that differs.
template <typename Real>
int64_t common(const Taps<Real>& taps) {
    const int64_t each = taps.count > 0 ? taps.begins[1] - taps.begins[0] : 0;
    for (ptrdiff_t i = 1; i < taps.count; i++)
        if (taps.begins[i + 1] - taps.begins[i] != each) return 0;
    return each;
}

template <typename Real>
void gather_dense(const Taps<Real>& taps, Real* out, const Real* in, size_t count) {
    const int64_t each = common(taps);
    if (taps.weights == nullptr)
        each == 1 ? gather_all<1, false>(taps, out, in, count) : gather_all<0, false>(taps, out, in, count);
    else if (each == 2)
        gather_all<2, true>(taps, out, in, count);
    else if (each == 4)
        gather_all<4, true>(taps, out, in, count);
    else
        gather_all<0, true>(taps, out, in, count);
}

// One place of `inner` elements; the loops over elements are plain and dense.
template <typename Real>
void gather_place(Real* __restrict out, const Taps<Real>& taps, const Real* in, ptrdiff_t inner, int64_t begin,
                  int64_t end) {
    const auto at = [&](int64_t tap) { return in + taps.index[tap] * inner; };
    const auto weight = [&](int64_t tap) { return taps.weights == nullptr ? Real(1) : taps.weights[tap]; };
    if (begin == end) {
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = Real(0);
    } else if (end - begin == 1 && taps.weights == nullptr) {
        memcpy(out, at(begin), static_cast<size_t>(inner) * sizeof(Real));
    } else if (end - begin == 1) {
        const Real *x = at(begin), a = weight(begin);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = x[j] * a;
    } else {
        const Real *x = at(begin), *y = at(begin + 1), a = weight(begin), b = weight(begin + 1);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = x[j] * a + y[j] * b;
    }
    int64_t tap = begin + 2;
    for (; tap + 1 < end; tap += 2) {
        const Real *x = at(tap), *y = at(tap + 1), a = weight(tap), b = weight(tap + 1);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] = (out[j] + x[j] * a) + y[j] * b;
    }
    if (tap < end) {
        const Real *x = at(tap), a = weight(tap);
        for (ptrdiff_t j = 0; j < inner; j++) out[j] += x[j] * a;
    }
}

template <typename Real>
void gather(const Taps<Real>& taps, Real* out, const Real* in, ptrdiff_t inner, size_t from, size_t to) {
    out += static_cast<ptrdiff_t>(from) * taps.count * inner;
    in += static_cast<ptrdiff_t>(from) * taps.extent * inner;
    if (inner == 1) return gather_dense(taps, out, in, to - from);
    for (size_t line = from; line < to; line++, in += taps.extent * inner)
        for (ptrdiff_t i = 0; i < taps.count; i++, out += inner)
            gather_place(out, taps, in, inner, taps.begins[i], taps.begins[i + 1]);
}

template <size_t ROWS, typename Real>
void spread_lines(const Taps<Real>& taps, Real* out, const Real* in) {
    memset(out, 0, ROWS * static_cast<size_t>(taps.extent) * sizeof(Real));
    for (ptrdiff_t i = 0; i < taps.count; i++)
        for (int64_t tap = taps.begins[i]; tap < taps.begins[i + 1]; tap++) {
            const Real weight = taps.weights == nullptr ? Real(1) : taps.weights[tap];
            Real* to = out + taps.index[tap];
            for (size_t row = 0; row < ROWS; row++)
                to[static_cast<ptrdiff_t>(row) * taps.extent] +=
                    in[static_cast<ptrdiff_t>(row) * taps.count + i] * weight;
        }
}

template <typename Real>
void spread(const Taps<Real>& taps, Real* out, const Real* in, size_t from, size_t to) {
    out += static_cast<ptrdiff_t>(from) * taps.extent;
    in += static_cast<ptrdiff_t>(from) * taps.count;
    for (; from + TOGETHER <= to; from += TOGETHER) {
        spread_lines<TOGETHER>(taps, out, in);
        out += static_cast<ptrdiff_t>(TOGETHER) * taps.extent;
        in += static_cast<ptrdiff_t>(TOGETHER) * taps.count;
    }
    for (; from < to; from++, out += taps.extent, in += taps.count) spread_lines<1>(taps, out, in);
}

template <size_t ROWS, typename Real>
void add_products(const Taps<Real>& taps, Real* out, const Real* places, const Real* in) {
    for (ptrdiff_t i = 0; i < taps.count; i++) {
        Real values[ROWS];
        for (size_t row = 0; row < ROWS; row++) values[row] = places[static_cast<ptrdiff_t>(row) * taps.count + i];
        for (int64_t tap = taps.begins[i]; tap < taps.begins[i + 1]; tap++) {
            const Real* from = in + taps.index[tap];
            Real sum = out[tap];
            for (size_t row = 0; row < ROWS; row++)
                sum += values[row] * from[static_cast<ptrdiff_t>(row) * taps.extent];
            out[tap] = sum;
        }
    }
}

template <typename Real>
void products(const Taps<Real>& taps, Real* out, const Real* places, const Real* in, size_t outer) {
    memset(out, 0, static_cast<size_t>(taps.begins[taps.count]) * sizeof(Real));
    for (; outer >= TOGETHER; outer -= TOGETHER) {
        add_products<TOGETHER>(taps, out, places, in);
        places += static_cast<ptrdiff_t>(TOGETHER) * taps.count;
        in += static_cast<ptrdiff_t>(TOGETHER) * taps.extent;
    }
    for (; outer > 0; outer--, places += taps.count, in += taps.extent) add_products<1>(taps, out, places, in);
}

// Where a coordinate lies along one dimension, and how fast it moves there.
struct Place {
    float at, speed;
};

inline Place place_of(float coordinate, ptrdiff_t extent, const Points& p) {
    const float size = static_cast<float>(extent), last = static_cast<float>(extent - 1);
    Place place = p.align ? Place{(coordinate + 1.0f) / 2.0f * last, last / 2.0f}
                          : Place{((coordinate + 1.0f) * size - 1.0f) / 2.0f, size / 2.0f};
    if (!p.border) return place;
    if (!(place.at > 0.0f && place.at < last)) place.speed = 0.0f;
    place.at = place.at > 0.0f ? (place.at < last ? place.at : last) : 0.0f;  // a nan goes to the first element
    return place;
}

// Points of which some element may be seen; the others, and nans, have none.
inline bool within(const Place& y, const Place& x, const Points& p) {
    return y.at > -1.0f && y.at < static_cast<float>(p.height) && x.at > -1.0f && x.at < static_cast<float>(p.width);
}

void points_of(const Points& p, const PointTaps& taps) {
    int64_t tap = 0;
    for (size_t i = 0; i < p.count; i++) {
        taps.begins[i] = tap;
        const Place x = place_of(p.grid[2 * i], p.width, p), y = place_of(p.grid[2 * i + 1], p.height, p);
        if (!within(y, x, p)) continue;
        if (p.nearest) {
            const auto row = static_cast<int64_t>(__builtin_rintf(y.at)),
                       column = static_cast<int64_t>(__builtin_rintf(x.at));
            if (row >= 0 && row < p.height && column >= 0 && column < p.width)
                taps.index[tap++] = row * p.width + column;
            continue;
        }
        const float top = __builtin_floorf(y.at), left = __builtin_floorf(x.at);
        const float low = y.at - top, right = x.at - left;
        const float down[] = {1.0f - low, low}, across[] = {1.0f - right, right}, sign[] = {-1.0f, 1.0f};
        const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
        for (int corner = 0; corner < 4; corner++) {
            const int below = corner / 2, beside = corner % 2;
            const int64_t at = row + below, by = column + beside;
            if (at < 0 || at >= p.height || by < 0 || by >= p.width) continue;
            taps.index[tap] = at * p.width + by;
            taps.weights[tap] = down[below] * across[beside];
            if (taps.down != nullptr) {
                taps.down[tap] = sign[below] * across[beside] * y.speed;
                taps.across[tap] = sign[beside] * down[below] * x.speed;
            }
            tap++;
        }
    }
    taps.begins[p.count] = tap;
}

}  // namespace

extern const PointLoop MINDTORCH_LOOPS(point_loop) = points_of;
extern const TapLoops<float> MINDTORCH_LOOPS(tap_loops) = {gather<float>, spread<float>, products<float>};
extern const TapLoops<double> MINDTORCH_LOOPS(tap_double_loops) = {gather<double>, spread<double>, products<double>};

}  // namespace mindtorch
