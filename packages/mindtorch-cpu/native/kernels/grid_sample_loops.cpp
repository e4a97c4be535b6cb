// Planes at the points of a grid: what points are made of is found for some of them, and then taken from all planes.
#include "kernels/grid_sample.h"

#include <string.h>

#include "kernels/grid_points.h"

namespace mindtorch {

namespace {

// What some points are made of, one corner after the other; a corner outside counts as 0.
struct Corners {
    int32_t at[MOST_CORNERS][POINTS_TOGETHER], inside[MOST_CORNERS][POINTS_TOGETHER];
    float weight[MOST_CORNERS][POINTS_TOGETHER];

    void clear(int corners) {
        const size_t size = static_cast<size_t>(corners) * sizeof at[0];
        memset(at, 0, size);
        memset(inside, 0, size);
        memset(weight, 0, size);
    }
};

bool is_finite(float value) { return value - value == 0.0f; }

void find(const Points& p, ptrdiff_t first, ptrdiff_t count, Corners& c) {
    c.clear(CORNERS[p.mode]);
    for (ptrdiff_t i = 0; i < count; i++) {
        const float* point = p.grid + 2 * (first + i);
        const Place x = place_of(point[0], p.width, p), y = place_of(point[1], p.height, p);
        parts_of(p, y, x, [&](int corner, const Part& part) {
            c.at[corner][i] = static_cast<int32_t>(part.at);
            c.inside[corner][i] = -1;
            c.weight[corner][i] = part.weight;
        });
        // The share of something outside is no number where the point is none.
        if (p.mode != NEAREST && p.padding == ZEROS && !(is_finite(point[0]) && is_finite(point[1])))
            c.weight[0][i] = __builtin_nanf("");
    }
}

inline float seen(const Corners& c, int corner, ptrdiff_t i, const float* plane) {
    const float value = plane[c.at[corner][i]];
    return c.inside[corner][i] != 0 ? value : 0.0f;
}

template <int corners>
inline float weighted(const Corners& c, ptrdiff_t i, const float* plane) {
    float sum = seen(c, 0, i, plane) * c.weight[0][i];
#pragma GCC unroll 16
    for (int corner = 1; corner < corners; corner++) sum += seen(c, corner, i, plane) * c.weight[corner][i];
    return sum;
}

void forward(const Points& p, ptrdiff_t channels, float* out, const float* in, ptrdiff_t from, ptrdiff_t to) {
    const auto points = static_cast<ptrdiff_t>(p.count);
    for (; from < to; from += POINTS_TOGETHER) {
        const ptrdiff_t count = to - from < POINTS_TOGETHER ? to - from : POINTS_TOGETHER;
        Corners c;
        find(p, from, count, c);
        for (ptrdiff_t channel = 0; channel < channels; channel++) {
            const float* plane = in + channel * p.height * p.width;
            float* __restrict result = out + channel * points + from;
            if (p.mode == NEAREST)
                for (ptrdiff_t i = 0; i < count; i++) result[i] = seen(c, 0, i, plane);
            else if (p.mode == BILINEAR)
                for (ptrdiff_t i = 0; i < count; i++) result[i] = weighted<4>(c, i, plane);
            else
                for (ptrdiff_t i = 0; i < count; i++) result[i] = weighted<16>(c, i, plane);
        }
    }
}

void backward(const Points& p, ptrdiff_t channels, float* in_grad, float* grid_grad, const float* grad,
              const float* in) {
    const ptrdiff_t area = p.height * p.width;
    const auto points = static_cast<ptrdiff_t>(p.count);
    if (in_grad != nullptr) memset(in_grad, 0, static_cast<size_t>(channels * area) * sizeof(float));
    for (ptrdiff_t i = 0; i < points; i++) {
        const Place x = place_of(p.grid[2 * i], p.width, p), y = place_of(p.grid[2 * i + 1], p.height, p);
        float down = 0.0f, across = 0.0f;
        parts_of(p, y, x, [&](int, const Part& part) {
            const float* given = grad + i;
            if (in_grad != nullptr)
                for (ptrdiff_t c = 0; c < channels; c++) in_grad[c * area + part.at] += given[c * points] * part.weight;
            if (grid_grad == nullptr || p.mode == NEAREST) return;
            float sum = 0.0f;
            for (ptrdiff_t c = 0; c < channels; c++) sum += given[c * points] * in[c * area + part.at];
            down += sum * part.down;
            across += sum * part.across;
        });
        if (grid_grad != nullptr) grid_grad[2 * i] = across, grid_grad[2 * i + 1] = down;
    }
}

}  // namespace

extern const GridSampleLoops MINDTORCH_LOOPS(grid_sample_loops) = {forward, backward};

}  // namespace mindtorch
