// Depthwise convolutions, a vector of channels at a time.
#include "kernels/conv_last_loops.h"

#include "simd/vector.h"

namespace mindtorch {

namespace {

constexpr ptrdiff_t TOGETHER = 4;  // positions that use a weight while it is in a register

struct Span {
    ptrdiff_t from, to;
};

// The elements of a window, which begins at `begin`, that lie within the extent.
INLINE Span within(ptrdiff_t begin, ptrdiff_t kernel, ptrdiff_t dilation, ptrdiff_t extent) {
    Span s = {begin < 0 ? (-begin + dilation - 1) / dilation : 0, kernel};
    if (begin + (kernel - 1) * dilation >= extent) s.to = extent <= begin ? 0 : (extent - begin - 1) / dilation + 1;
    return s;
}

// COUNT positions of a row, whose windows see the elements of `rows` and `columns`; `in` is where the first one begins.
template <ptrdiff_t COUNT>
INLINE void sum_windows(const Convolution& c, float* out, const float* in, const float* weight, const Floats& bias,
                        Span rows, Span columns) {
    const auto channels = (ptrdiff_t)c.groups;
    Floats sums[COUNT];
    for (ptrdiff_t i = 0; i < COUNT; i++) sums[i] = bias;
    for (ptrdiff_t y = rows.from; y < rows.to; y++)
        for (ptrdiff_t x = columns.from; x < columns.to; x++) {
            const Floats factor = load(weight + (y * c.kernel[1] + x) * channels);
            const float* from = in + (y * c.dilation[0] * c.width + x * c.dilation[1]) * channels;
            for (ptrdiff_t i = 0; i < COUNT; i++) sums[i] += load(from + i * c.stride[1] * channels) * factor;
        }
    for (ptrdiff_t i = 0; i < COUNT; i++) store(out + i * channels, sums[i]);
}

// LANES channels of a row of the result.
void row_of(const Convolution& c, float* out, const float* in, const float* weight, const Floats& bias, ptrdiff_t row) {
    const auto channels = (ptrdiff_t)c.groups;
    const ptrdiff_t y = row * c.stride[0] - c.padding[0];
    const Span rows = within(y, c.kernel[0], c.dilation[0], c.height);
    for (ptrdiff_t at = 0; at < c.out_width;) {
        const ptrdiff_t x = at * c.stride[1] - c.padding[1], last = x + (TOGETHER - 1) * c.stride[1];
        const Span columns = within(x, c.kernel[1], c.dilation[1], c.width);
        const float* from = in + (y * c.width + x) * channels;
        const bool inside = x >= 0 && last + (c.kernel[1] - 1) * c.dilation[1] < c.width;
        if (inside && at + TOGETHER <= c.out_width) {
            sum_windows<TOGETHER>(c, out + at * channels, from, weight, bias, rows, columns);
            at += TOGETHER;
        } else {
            sum_windows<1>(c, out + at * channels, from, weight, bias, rows, columns);
            at++;
        }
    }
}

void depthwise(const Convolution& c, float* out, const float* in, const float* weight, const float* bias,
               ptrdiff_t from, ptrdiff_t to) {
    constexpr ptrdiff_t N = LANES;
    const auto channels = (ptrdiff_t)c.groups;
    for (ptrdiff_t row = from; row < to; row++)
        for (ptrdiff_t at = 0; at < channels; at += N) {
            const ptrdiff_t first = at + N <= channels ? at : channels - N;  // the last may do some again
            const Floats addend = bias == nullptr ? Floats{} : load(bias + first);
            row_of(c, out + row * c.out_width * channels + first, in + first, weight + first, addend, row);
        }
}

}  // namespace

extern const ConvLastLoops MINDTORCH_LOOPS(conv_last_loops) = {LANES, depthwise};

}  // namespace mindtorch
