// Maxima of windows.
#include "pool.h"

#include <math.h>
#include <string.h>

namespace mindtorch {

namespace {

// The elements of a window that lie on the plane: from the first, `step` apart, below `to`.
struct Reach {
    ptrdiff_t from, to;
};

inline Reach reach(ptrdiff_t begin, ptrdiff_t kernel, ptrdiff_t dilation, ptrdiff_t extent) {
    Reach r = {begin, begin + kernel * dilation};
    if (r.from < 0) r.from += (-r.from + dilation - 1) / dilation * dilation;
    if (r.to > extent) r.to = extent;
    return r;
}

void largest(const Pooling& p, float* out, int64_t* index, const float* in) {
    for (ptrdiff_t y = 0; y < p.out_height; y++) {
        const Reach rows = reach(y * p.stride[0] - p.padding[0], p.kernel[0], p.dilation[0], p.height);
        for (ptrdiff_t x = 0; x < p.out_width; x++) {
            const Reach columns = reach(x * p.stride[1] - p.padding[1], p.kernel[1], p.dilation[1], p.width);
            float most = -INFINITY;
            ptrdiff_t place = rows.from * p.width + columns.from;
            for (ptrdiff_t row = rows.from; row < rows.to; row += p.dilation[0]) {
                const float* line = in + row * p.width;
                for (ptrdiff_t column = columns.from; column < columns.to; column += p.dilation[1]) {
                    const float value = line[column];
                    const bool better = !(value <= most);  // true for a nan
                    // After a nan only another one is better.
                    const bool taken = better && (most == most || value != value);
                    most = taken ? value : most;
                    place = taken ? row * p.width + column : place;
                }
            }
            *out++ = most;
            *index++ = place;
        }
    }
}

void largest_backward(const Pooling& p, float* in_grad, const float* grad, const int64_t* index) {
    memset(in_grad, 0, static_cast<size_t>(p.height * p.width) * sizeof(float));
    const ptrdiff_t count = p.out_height * p.out_width;
    for (ptrdiff_t i = 0; i < count; i++) in_grad[index[i]] += grad[i];
}

}  // namespace

extern const PoolLoops MINDTORCH_LOOPS(pool_loops) = {largest, largest_backward};

}  // namespace mindtorch
