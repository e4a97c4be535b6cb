// Maxima of windows: those of a row are found together, one element of all windows after the other.
#include "kernels/max_pool.h"

#include <math.h>
#include <string.h>

#include "simd/shuffle.h"
#include "simd/vector.h"

namespace mindtorch {

namespace {

constexpr ptrdiff_t CHUNK = 256;        // windows
constexpr ptrdiff_t MOST_WIDTH = 2048;  // elements of a line that is copied, to have room beside it

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

// One element of LANES windows, of which the first one's lies at `at`. After a nan only another one is better.
INLINE void compare(Floats& most, Ints& place, const Floats& value, const Ints& at) {
    const Ints taken = (value > most) | (value != value);
    place = taken ? at : place;
    most = taken ? value : most;
}

// LANES elements of a line, `stride` apart.
template <ptrdiff_t STRIDE>
INLINE Floats load_apart(const float* from, ptrdiff_t given) {
    if constexpr (STRIDE == 1) {
        return load(from);
    } else if constexpr (STRIDE == 2 && LANES == 16) {
        return shuffle<0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(load(from), load(from + LANES));
    } else if constexpr (STRIDE == 2) {
        return shuffle<0, 2, 4, 6, 8, 10, 12, 14>(load(from), load(from + LANES));
    } else {
        const ptrdiff_t stride = STRIDE > 0 ? STRIDE : given;
        float lanes[LANES];
        for (size_t lane = 0; lane < LANES; lane++) lanes[lane] = from[(ptrdiff_t)lane * stride];
        return load(lanes);
    }
}

INLINE Ints places_apart(ptrdiff_t stride) {
    int lanes[LANES];
    for (size_t lane = 0; lane < LANES; lane++) lanes[lane] = (int)lane * (int)stride;
    Ints places;
    memcpy(&places, lanes, sizeof places);
    return places;
}

// One line of the windows; `at` is the place of the first element of window 0.
template <ptrdiff_t STRIDE>
void compare_lines(const Pooling& p, Row& row, ptrdiff_t count, const float* line, ptrdiff_t at) {
    const ptrdiff_t stride = STRIDE > 0 ? STRIDE : p.stride[2];
    const Ints steps = places_apart(stride);
    for (ptrdiff_t x = 0; x < count; x += (ptrdiff_t)LANES) {
        Floats most = load(row.most + x);
        Ints place;
        memcpy(&place, row.place + x, sizeof place);
        for (ptrdiff_t k = 0; k < p.kernel[2]; k++) {
            const ptrdiff_t offset = x * stride + k * p.dilation[2];
            compare(most, place, load_apart<STRIDE>(line + offset, stride), steps + (int)(at + offset));
        }
        store(row.most + x, most);
        memcpy(row.place + x, &place, sizeof place);
    }
}

// One element of the windows where lines are long; `at` is the place of window 0's.
void compare_element(Row& row, const float* line, int32_t at, Span s, ptrdiff_t stride) {
    for (ptrdiff_t x = s.from; x < s.to; x++) {
        const float value = line[x * stride], most = row.most[x];
        const bool taken = (value > most) | (value != value);
        row.most[x] = taken ? value : most;
        row.place[x] = taken ? at + static_cast<int32_t>(x * stride) : row.place[x];
    }
}

class Windows {
public:
    Windows(const Pooling& p, ptrdiff_t first, ptrdiff_t count)
        : p_(p),
          first_(first),
          count_(count),
          whole_((count + (ptrdiff_t)LANES - 1) / (ptrdiff_t)LANES * (ptrdiff_t)LANES),
          width_((whole_ + 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2]) {
        for (ptrdiff_t x = 0; x < count; x++)
            begins_[x] = static_cast<int32_t>(
                reach((first + x) * p.stride[2] - p.padding[2], p.kernel[2], p.dilation[2], p.extent[2]).from);
        // What lies beside the line is in no window's way.
        for (ptrdiff_t x = 0; x < width_ && width_ <= MOST_WIDTH; x++) line_[x] = -INFINITY;
    }

    // The windows of one row of the result, in `layers` and `rows` of the volume.
    void run(float* out, int64_t* index, const float* in, Span layers, Span rows) {
        const ptrdiff_t begin = (layers.from * p_.extent[1] + rows.from) * p_.extent[2];
        for (ptrdiff_t x = 0; x < whole_; x++) row_.most[x] = -INFINITY;
        for (ptrdiff_t x = 0; x < whole_; x++) row_.place[x] = static_cast<int32_t>(begin) + begins_[x];
        for (ptrdiff_t layer = layers.from; layer < layers.to; layer += p_.dilation[0])
            for (ptrdiff_t y = rows.from; y < rows.to; y += p_.dilation[1])
                compare_line(in, (layer * p_.extent[1] + y) * p_.extent[2]);
        for (ptrdiff_t x = 0; x < count_; x++) out[x] = row_.most[x];
        for (ptrdiff_t x = 0; x < count_; x++) index[x] = row_.place[x];
    }

private:
    void compare_line(const float* in, ptrdiff_t line) {
        const ptrdiff_t before = first_ * p_.stride[2] - p_.padding[2], begin = line + before;
        if (width_ > MOST_WIDTH) {
            for (ptrdiff_t k = 0; k < p_.kernel[2]; k++) {
                const ptrdiff_t offset = k * p_.dilation[2];
                compare_element(row_, in + begin + offset, static_cast<int32_t>(begin + offset),
                                seen(p_, first_, count_, offset), p_.stride[2]);
            }
            return;
        }
        const ptrdiff_t from = before < 0 ? 0 : before;
        const ptrdiff_t to = before + width_ < p_.extent[2] ? before + width_ : p_.extent[2];
        if (from < to)
            memcpy(line_ + (from - before), in + line + from, static_cast<size_t>(to - from) * sizeof(float));
        if (p_.stride[2] == 1)
            compare_lines<1>(p_, row_, count_, line_, begin);
        else if (p_.stride[2] == 2)
            compare_lines<2>(p_, row_, count_, line_, begin);
        else if (p_.stride[2] == 3)
            compare_lines<3>(p_, row_, count_, line_, begin);
        else
            compare_lines<0>(p_, row_, count_, line_, begin);
    }

    const Pooling& p_;
    ptrdiff_t first_, count_, whole_, width_;  // `whole_` windows fill vectors
    int32_t begins_[CHUNK] = {};
    Row row_;
    float line_[MOST_WIDTH];
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

// Where the elements of a window lie.
struct Window {
    Span layers, rows, columns;
};

// LANES channels of one window, of which `in` has the first; the volume's other ones lie `channels` further each.
INLINE void largest(const Pooling& p, const Window& w, ptrdiff_t channels, const float* in, Floats& most, Ints& place) {
    most = all(-INFINITY);
    place = Ints{} + (int)((w.layers.from * p.extent[1] + w.rows.from) * p.extent[2] + w.columns.from);
    for (ptrdiff_t z = w.layers.from; z < w.layers.to; z += p.dilation[0])
        for (ptrdiff_t y = w.rows.from; y < w.rows.to; y += p.dilation[1])
            for (ptrdiff_t x = w.columns.from; x < w.columns.to; x += p.dilation[2]) {
                const ptrdiff_t at = (z * p.extent[1] + y) * p.extent[2] + x;
                compare(most, place, load(in + at * channels), Ints{} + (int)at);
            }
}

INLINE void store_places(int64_t* index, const Ints& places) {
    int lanes[LANES];
    memcpy(lanes, &places, sizeof lanes);
    for (size_t lane = 0; lane < LANES; lane++) index[lane] = lanes[lane];
}

// All channels of one window. The last vector may do some of those before it again.
void window_of_channels(const Pooling& p, const Window& w, ptrdiff_t channels, float* out, int64_t* index,
                        const float* in) {
    constexpr ptrdiff_t N = LANES;
    Floats most;
    Ints place;
    for (ptrdiff_t c = 0; c < channels; c += N) {
        const ptrdiff_t from = c + N <= channels ? c : channels - N;
        largest(p, w, channels, in + from, most, place);
        store(out + from, most);
        store_places(index + from, place);
    }
}

// The same of fewer channels than a vector has lanes.
void window_of_few(const Pooling& p, const Window& w, ptrdiff_t channels, float* out, int64_t* index, const float* in) {
    const auto first = (int64_t)((w.layers.from * p.extent[1] + w.rows.from) * p.extent[2] + w.columns.from);
    for (ptrdiff_t c = 0; c < channels; c++) out[c] = -INFINITY, index[c] = first;
    for (ptrdiff_t z = w.layers.from; z < w.layers.to; z += p.dilation[0])
        for (ptrdiff_t y = w.rows.from; y < w.rows.to; y += p.dilation[1])
            for (ptrdiff_t x = w.columns.from; x < w.columns.to; x += p.dilation[2]) {
                const ptrdiff_t at = (z * p.extent[1] + y) * p.extent[2] + x;
                for (ptrdiff_t c = 0; c < channels; c++) {
                    const float value = in[at * channels + c];
                    const bool taken = (value > out[c]) | (value != value);
                    out[c] = taken ? value : out[c];
                    index[c] = taken ? at : index[c];
                }
            }
}

// Cell `at` of `count` over `extent` elements.
inline Span cell(ptrdiff_t at, ptrdiff_t extent, ptrdiff_t count) {
    return {at * extent / count, ((at + 1) * extent + count - 1) / count};
}

// What window `at` sees of dimension `dim`.
inline Span seen_of(const Pooling& p, int dim, ptrdiff_t at) {
    if (p.cells) return cell(at, p.extent[dim], p.out[dim]);
    return reach(at * p.stride[dim] - p.padding[dim], p.kernel[dim], p.dilation[dim], p.extent[dim]);
}

void max_pool_last(const Pooling& p, ptrdiff_t channels, float* out, int64_t* index, const float* in, ptrdiff_t from,
                   ptrdiff_t to) {
    const auto window_of = channels >= (ptrdiff_t)LANES ? window_of_channels : window_of_few;
    for (ptrdiff_t row = from; row < to; row++) {
        const ptrdiff_t z = row / p.out[1], y = row % p.out[1];
        Window w;
        w.layers = seen_of(p, 0, z);
        w.rows = seen_of(p, 1, y);
        for (ptrdiff_t x = 0; x < p.out[2]; x++) {
            w.columns = seen_of(p, 2, x);
            const ptrdiff_t at = (row * p.out[2] + x) * channels;
            window_of(p, w, channels, out + at, index + at, in);
        }
    }
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

extern const MaxPoolLoops MINDTORCH_LOOPS(max_pool_loops) = {max_pool, max_pool_last, adaptive_max_pool,
                                                             max_pool_backward};

}  // namespace mindtorch
