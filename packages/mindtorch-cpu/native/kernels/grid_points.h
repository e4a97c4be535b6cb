// Where the points of a grid lie in planes; for files of loops.
#pragma once

#include <math.h>
#include <stdint.h>

#include "kernels/interpolate.h"

namespace mindtorch {

namespace {

// Where a coordinate lies along one dimension, and how fast it moves there.
struct Place {
    float at, speed;
};

// A place mirrored at the borders as often as it takes.
inline Place reflected(Place place, ptrdiff_t extent, const Points& p) {
    const float span = static_cast<float>(p.align ? extent - 1 : extent), begin = p.align ? 0.0f : -0.5f;
    if (span == 0.0f) return {0.0f, 0.0f};
    const float away = place.at - begin, size = fabsf(away);
    const float extra = fmodf(size, span), flips = __builtin_floorf(size / span);
    const bool even = fmodf(flips, 2.0f) == 0.0f;
    return {(even ? extra : span - extra) + begin, (away < 0.0f) == even ? -place.speed : place.speed};
}

// A place brought into the plane, where something other than zeros lies outside.
inline Place padded(Place place, ptrdiff_t extent, const Points& p) {
    if (p.padding == ZEROS) return place;
    const float last = static_cast<float>(extent - 1);
    if (p.padding == REFLECTION) place = reflected(place, extent, p);
    if (!(place.at > 0.0f && place.at < last)) place.speed = 0.0f;
    place.at = place.at > 0.0f ? (place.at < last ? place.at : last) : 0.0f;  // a nan goes to the first element
    return place;
}

inline Place place_of(float coordinate, ptrdiff_t extent, const Points& p) {
    const float size = static_cast<float>(extent), last = static_cast<float>(extent - 1);
    Place place = p.align ? Place{(coordinate + 1.0f) / 2.0f * last, last / 2.0f}
                          : Place{((coordinate + 1.0f) * size - 1.0f) / 2.0f, size / 2.0f};
    return p.mode == BICUBIC ? place : padded(place, extent, p);  // bicubic's elements are padded, each for itself
}

// Points of which some element may be seen; the others, and nans, have none.
inline bool within(const Place& y, const Place& x, const Points& p) {
    return y.at > -1.0f && y.at < static_cast<float>(p.height) && x.at > -1.0f && x.at < static_cast<float>(p.width);
}

// An element that a point is made of: where it is, its weight, and the weight's derivatives down and across.
struct Part {
    int64_t at;
    float weight, down, across;
};

// Four elements along one dimension: which they are, -1 outside, their weights and the weights' derivatives.
struct Cubic {
    int64_t at[4];
    float weight[4], derivative[4];
};

inline Cubic cubic_of(const Place& place, ptrdiff_t extent, const Points& p) {
    constexpr float A = -0.75f;
    const auto far = [](float x) { return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A; };
    const auto near = [](float x) { return ((A + 2) * x - (A + 3)) * x * x + 1; };
    const auto far_derivative = [](float x) { return (3 * A * x - 10 * A) * x + 8 * A; };
    const auto near_derivative = [](float x) { return (3 * (A + 2) * x - 2 * (A + 3)) * x; };
    const float base = place.at == place.at ? __builtin_floorf(place.at) : 0.0f, share = place.at - base;
    Cubic found = {
        {-1, -1, -1, -1},
        {far(share + 1), near(share), near(1 - share), far(2 - share)},
        {far_derivative(share + 1), near_derivative(share), -near_derivative(1 - share), -far_derivative(2 - share)}};
    for (int each = 0; each < 4; each++) {
        const float at = __builtin_rintf(padded({base + static_cast<float>(each - 1), 0.0f}, extent, p).at);
        if (at >= 0.0f && at < static_cast<float>(extent)) found.at[each] = static_cast<int64_t>(at);
    }
    return found;
}

template <typename One>
inline void parts_of_square(const Points& p, const Place& y, const Place& x, const One& one) {
    const Cubic down = cubic_of(y, p.height, p), across = cubic_of(x, p.width, p);
    for (int corner = 0; corner < MOST_CORNERS; corner++) {
        const int row = corner / 4, column = corner % 4;
        if (down.at[row] < 0 || across.at[column] < 0) continue;
        one(corner, Part{down.at[row] * p.width + across.at[column], down.weight[row] * across.weight[column],
                         down.derivative[row] * across.weight[column] * y.speed,
                         down.weight[row] * across.derivative[column] * x.speed});
    }
}

// Calls `one(corner, part)` for those of a point's elements that lie within the plane.
template <typename One>
inline void parts_of(const Points& p, const Place& y, const Place& x, const One& one) {
    if (p.mode == BICUBIC) return parts_of_square(p, y, x, one);
    if (!within(y, x, p)) return;
    if (p.mode == NEAREST) {
        const auto row = static_cast<int64_t>(__builtin_rintf(y.at)),
                   column = static_cast<int64_t>(__builtin_rintf(x.at));
        if (row >= 0 && row < p.height && column >= 0 && column < p.width)
            one(0, Part{row * p.width + column, 1.0f, 0.0f, 0.0f});
        return;
    }
    const float top = __builtin_floorf(y.at), left = __builtin_floorf(x.at);
    const float low = y.at - top, right = x.at - left;
    const float down[] = {1.0f - low, low}, across[] = {1.0f - right, right}, sign[] = {-1.0f, 1.0f};
    const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
    for (int corner = 0; corner < 4; corner++) {
        const int below = corner / 2, beside = corner % 2;
        const int64_t at = row + below, by = column + beside;
        if (at < 0 || at >= p.height || by < 0 || by >= p.width) continue;
        one(corner, Part{at * p.width + by, down[below] * across[beside], sign[below] * across[beside] * y.speed,
                         sign[beside] * down[below] * x.speed});
    }
}

}  // namespace

}  // namespace mindtorch
