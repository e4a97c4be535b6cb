// Maxima of windows: those of a row are found together, one element of all windows after the other.
#include "kernels/max_pool.h"

#include <math.h>
#include <string.h>

namespace mindtorch {

namespace {

constexpr ptrdiff_t CHUNK = 256;       // windows
constexpr ptrdiff_t MOST_KERNEL = 32;  // elements of a window's row whose reach is worked out once

struct Span {
    ptrdiff_t from, to;
};

// Which of `count` windows from `first` on see, at `offset` from their begin, an element of a line.
Span seen(const Pooling& p, ptrdiff_t first, ptrdiff_t count, ptrdiff_t offset) {
    const ptrdiff_t step = p.stride[2], at = first * step - p.padding[2] + offset, last = p.extent[2] - 1 - at;
    Span s = {at >= 0 ? 0 : (-at + step - 1) / step, last < 0 ? 0 : last / step + 1};
    if (s.to > count) s.to = count;
    return s;
}

// The elements of a window that lie within `extent`: from the first, `dilation` apart, below `to`.
inline Span reach(ptrdiff_t begin, ptrdiff_t kernel, ptrdiff_t dilation, ptrdiff_t extent) {
    Span r = {begin, begin + kernel * dilation};
    if (r.from < 0) r.from += (-r.from + dilation - 1) / dilation * dilation;
    if (r.to > extent) r.to = extent;
    return r;
}

// The windows of a row so far.
struct Row {
    float most[CHUNK];
    int32_t place[CHUNK];
};

// One element of the windows; `at` is the place of window 0's. After a nan only another one is better.
template <ptrdiff_t STRIDE>
inline void compare(Row& row, const float* line, int32_t at, Span s, ptrdiff_t given) {
    const ptrdiff_t stride = STRIDE > 0 ? STRIDE : given;
    for (ptrdiff_t x = s.from; x < s.to; x++) {
        const float value = line[x * stride], most = row.most[x];
        const bool better = !(value <= most), open = most == most, nan = value != value;
        const bool taken = better & (open | nan);
        row.most[x] = taken ? value : most;
        row.place[x] = taken ? at + static_cast<int32_t>(x * stride) : row.place[x];
    }
}

class Windows {
public:
    Windows(const Pooling& p, ptrdiff_t first, ptrdiff_t count) : p_(p), first_(first), count_(count) {
        for (ptrdiff_t k = 0; k < p.kernel[2] && k < MOST_KERNEL; k++)
            spans_[k] = seen(p, first, count, k * p.dilation[2]);
        for (ptrdiff_t x = 0; x < count; x++)
            begins_[x] = static_cast<int32_t>(
                reach((first + x) * p.stride[2] - p.padding[2], p.kernel[2], p.dilation[2], p.extent[2]).from);
    }

    // The windows of one row of the result, in `layers` and `rows` of the volume.
    void run(float* out, int64_t* index, const float* in, Span layers, Span rows) {
        const ptrdiff_t begin = (layers.from * p_.extent[1] + rows.from) * p_.extent[2];
        for (ptrdiff_t x = 0; x < count_; x++) {
            row_.most[x] = -INFINITY;
            row_.place[x] = static_cast<int32_t>(begin) + begins_[x];
        }
        for (ptrdiff_t layer = layers.from; layer < layers.to; layer += p_.dilation[0])
            for (ptrdiff_t y = rows.from; y < rows.to; y += p_.dilation[1])
                compare_line(in, (layer * p_.extent[1] + y) * p_.extent[2]);
        for (ptrdiff_t x = 0; x < count_; x++) out[x] = row_.most[x];
        for (ptrdiff_t x = 0; x < count_; x++) index[x] = row_.place[x];
    }

private:
    void compare_line(const float* in, ptrdiff_t line) {
        const ptrdiff_t begin = line + first_ * p_.stride[2] - p_.padding[2];
        for (ptrdiff_t k = 0; k < p_.kernel[2]; k++) {
            const ptrdiff_t offset = k * p_.dilation[2], at = begin + offset;
            const Span s = k < MOST_KERNEL ? spans_[k] : seen(p_, first_, count_, offset);
            if (p_.stride[2] == 1)
                compare<1>(row_, in + at, static_cast<int32_t>(at), s, 1);
            else if (p_.stride[2] == 2)
                compare<2>(row_, in + at, static_cast<int32_t>(at), s, 2);
            else if (p_.stride[2] == 3)
                compare<3>(row_, in + at, static_cast<int32_t>(at), s, 3);
            else if (p_.stride[2] == 4)
                compare<4>(row_, in + at, static_cast<int32_t>(at), s, 4);
            else
                compare<0>(row_, in + at, static_cast<int32_t>(at), s, p_.stride[2]);
        }
    }

    const Pooling& p_;
    ptrdiff_t first_, count_;
    Span spans_[MOST_KERNEL];
    int32_t begins_[CHUNK];
    Row row_;
};

void max_pool(const Pooling& p, ptrdiff_t count, float* out, int64_t* index, const float* in) {
    const ptrdiff_t area = p.area(), places = p.places();
    for (ptrdiff_t first = 0; first < p.out[2]; first += CHUNK) {
        Windows windows(p, first, p.out[2] - first < CHUNK ? p.out[2] - first : CHUNK);
        for (ptrdiff_t volume = 0; volume < count; volume++) {
            ptrdiff_t at = volume * places + first;
            for (ptrdiff_t z = 0; z < p.out[0]; z++) {
                const Span layers = reach(z * p.stride[0] - p.padding[0], p.kernel[0], p.dilation[0], p.extent[0]);
                for (ptrdiff_t y = 0; y < p.out[1]; y++, at += p.out[2])
                    windows.run(out + at, index + at, in + volume * area, layers,
                                reach(y * p.stride[1] - p.padding[1], p.kernel[1], p.dilation[1], p.extent[1]));
            }
        }
    }
}

// Cell `at` of `count` over `extent` elements.
inline Span cell(ptrdiff_t at, ptrdiff_t extent, ptrdiff_t count) {
    return {at * extent / count, ((at + 1) * extent + count - 1) / count};
}

void adaptive_max_pool_one(const Pooling& p, float* out, int64_t* index, const float* in) {
    for (ptrdiff_t z = 0; z < p.out[0]; z++) {
        const Span layers = cell(z, p.extent[0], p.out[0]);
        for (ptrdiff_t y = 0; y < p.out[1]; y++) {
            const Span rows = cell(y, p.extent[1], p.out[1]);
            for (ptrdiff_t x = 0; x < p.out[2]; x++) {
                const Span columns = cell(x, p.extent[2], p.out[2]);
                float most = -INFINITY;
                ptrdiff_t place = (layers.from * p.extent[1] + rows.from) * p.extent[2] + columns.from;
                for (ptrdiff_t layer = layers.from; layer < layers.to; layer++)
                    for (ptrdiff_t row = rows.from; row < rows.to; row++) {
                        const ptrdiff_t line = (layer * p.extent[1] + row) * p.extent[2];
                        for (ptrdiff_t column = columns.from; column < columns.to; column++) {
                            const float value = in[line + column];
                            const bool better = !(value <= most), open = most == most, nan = value != value;
                            const bool taken = better & (open | nan);
                            most = taken ? value : most;
                            place = taken ? line + column : place;
                        }
                    }
                *out++ = most;
                *index++ = place;
            }
        }
    }
}

void adaptive_max_pool(const Pooling& p, ptrdiff_t count, float* out, int64_t* index, const float* in) {
    const ptrdiff_t area = p.area(), places = p.places();
    for (ptrdiff_t volume = 0; volume < count; volume++)
        adaptive_max_pool_one(p, out + volume * places, index + volume * places, in + volume * area);
}

void max_pool_backward(float* in_grad, size_t area, const float* grad, const int64_t* index, size_t places) {
    memset(in_grad, 0, area * sizeof(float));
    for (size_t i = 0; i < places; i++) in_grad[index[i]] += grad[i];
}

}  // namespace

extern const MaxPoolLoops MINDTORCH_LOOPS(max_pool_loops) = {max_pool, adaptive_max_pool, max_pool_backward};

}  // namespace mindtorch
