// Where the points of a grid lie in planes; for files of loops.
#pragma once

#include <stdint.h>

#include "kernels/interpolate.h"

namespace mindtorch {

namespace {

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

// An element that a point is made of: where it is, its weight, and the weight's derivatives down and across.
struct Part {
    int64_t at;
    float weight, down, across;
};

// Calls `one(corner, part)` for those of a point's elements that lie within the plane.
template <typename One>
inline void parts_of(const Points& p, const Place& y, const Place& x, const One& one) {
    if (!within(y, x, p)) return;
    if (p.nearest) {
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
