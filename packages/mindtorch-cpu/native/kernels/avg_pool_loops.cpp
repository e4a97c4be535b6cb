// Means of windows: those of a row are summed together, one element of all windows after the other.
#include "kernels/avg_pool.h"

#include <string.h>

#include "simd/loop.h"

namespace mindtorch {

namespace {

// A row of the result: its layer and its place there.
struct Row {
    ptrdiff_t layer, line;
};

struct Span {
    ptrdiff_t from, to;
};

constexpr ptrdiff_t CHUNK = 256;  // windows or channels whose gradients are divided at once

// A window's value divided by how many elements it has: that of a cell by one length after the other, as in torch.
template <typename Real>
inline Real divided(const Averages& a, Row row, ptrdiff_t at, Real value) {
    const ptrdiff_t depth = a.length[0][row.layer], height = a.length[1][row.line], width = a.length[2][at];
    if (a.divisor != 0) return value / static_cast<Real>(a.divisor);
    if (a.cells == 0) return value / static_cast<Real>(depth * height * width);
    if (a.cells == 3) value = value / static_cast<Real>(depth);
    return value / static_cast<Real>(height) / static_cast<Real>(width);
}

// The same of some windows of a row; `out` and `in`, which may be one, begin with the first of them.
template <typename Real>
void divide(const Averages& a, Row row, Span windows, Real* out, const Real* in) {
    for (ptrdiff_t at = windows.from; at < windows.to; at++)
        out[at - windows.from] = divided(a, row, at, in[at - windows.from]);
}

// Which windows of a row have an element at `offset` from their begin.
Span seen(const Pooling& p, ptrdiff_t offset) {
    const ptrdiff_t step = p.stride[2], first = offset - p.padding[2], last = p.extent[2] - 1 - first;
    Span s = {first >= 0 ? 0 : (-first + step - 1) / step, last < 0 ? 0 : last / step + 1};
    if (s.to > p.out[2]) s.to = p.out[2];
    return s;
}

// Calls `one(line)` for each line of the volume that the windows of a row see.
template <typename One>
void lines(const Averages& a, Row row, const One& one) {
    for (ptrdiff_t z = a.begin[0][row.layer]; z < a.end[0][row.layer]; z++)
        for (ptrdiff_t y = a.begin[1][row.line]; y < a.end[1][row.line]; y++) one(z * a.p.extent[1] + y);
}

template <typename Real>
void add_apart(Real* __restrict out, const Real* __restrict in, Span s, ptrdiff_t step) {
    if (step == 1)
        for (ptrdiff_t at = s.from; at < s.to; at++) out[at] += in[at];
    else if (step == 2)
        for (ptrdiff_t at = s.from; at < s.to; at++) out[at] += in[2 * at];
    else
        for (ptrdiff_t at = s.from; at < s.to; at++) out[at] += in[step * at];
}

template <typename Real>
void spread_apart(Real* __restrict out, const Real* __restrict in, Span s, ptrdiff_t step) {
    if (step == 1)
        for (ptrdiff_t at = s.from; at < s.to; at++) out[at] += in[at];
    else
        for (ptrdiff_t at = s.from; at < s.to; at++) out[step * at] += in[at];
}

template <typename Real>
void sum_row(const Averages& a, Row row, Real* out, const Real* in) {
    const Pooling& p = a.p;
    memset(out, 0, static_cast<size_t>(p.out[2]) * sizeof(Real));
    lines(a, row, [&](ptrdiff_t line) {
        const Real* from = in + line * p.extent[2];
        if (a.cells != 0) {
            for (ptrdiff_t at = 0; at < p.out[2]; at++) {
                Real sum = out[at];
                for (ptrdiff_t x = a.begin[2][at]; x < a.end[2][at]; x++) sum += from[x];
                out[at] = sum;
            }
            return;
        }
        for (ptrdiff_t offset = 0; offset < p.kernel[2]; offset++)
            add_apart(out, from + offset - p.padding[2], seen(p, offset), p.stride[2]);
    });
}

// What `shares` says of some windows of a row is added to their elements.
template <typename Real>
void spread_row(const Averages& a, Row row, Span windows, Real* in_grad, const Real* shares) {
    const Pooling& p = a.p;
    lines(a, row, [&](ptrdiff_t line) {
        Real* to = in_grad + line * p.extent[2];
        if (a.cells != 0) {
            for (ptrdiff_t at = windows.from; at < windows.to; at++)
                for (ptrdiff_t x = a.begin[2][at]; x < a.end[2][at]; x++) to[x] += shares[at - windows.from];
            return;
        }
        // The windows of an element in their order have it at offsets that become less.
        for (ptrdiff_t offset = p.kernel[2] - 1; offset >= 0; offset--) {
            Span s = seen(p, offset);
            if (s.from < windows.from) s.from = windows.from;
            if (s.to > windows.to) s.to = windows.to;
            spread_apart(to + offset - p.padding[2], shares - windows.from, s, p.stride[2]);
        }
    });
}

template <typename Real>
void forward(const Averages& a, ptrdiff_t count, Real* out, const Real* in) {
    const Pooling& p = a.p;
    for (ptrdiff_t volume = 0; volume < count; volume++, in += p.area())
        for (ptrdiff_t layer = 0; layer < p.out[0]; layer++)
            for (ptrdiff_t line = 0; line < p.out[1]; line++, out += p.out[2]) {
                sum_row(a, {layer, line}, out, in);
                divide(a, {layer, line}, {0, p.out[2]}, out, out);
            }
}

template <typename Real>
void backward(const Averages& a, ptrdiff_t count, Real* in_grad, const Real* grad) {
    const Pooling& p = a.p;
    Real shares[CHUNK];
    memset(in_grad, 0, static_cast<size_t>(count * p.area()) * sizeof(Real));
    for (ptrdiff_t volume = 0; volume < count; volume++, in_grad += p.area())
        for (ptrdiff_t layer = 0; layer < p.out[0]; layer++)
            for (ptrdiff_t line = 0; line < p.out[1]; line++, grad += p.out[2])
                for (Span windows = {0, 0}; windows.from < p.out[2]; windows.from = windows.to) {
                    windows.to = windows.from + CHUNK < p.out[2] ? windows.from + CHUNK : p.out[2];
                    divide(a, {layer, line}, windows, shares, grad + windows.from);
                    spread_row(a, {layer, line}, windows, in_grad, shares);
                }
}

// Calls `one(element)` for each element of a window.
template <typename One>
void elements(const Averages& a, Row row, ptrdiff_t at, const One& one) {
    lines(a, row, [&](ptrdiff_t line) {
        for (ptrdiff_t x = a.begin[2][at]; x < a.end[2][at]; x++) one(line * a.p.extent[2] + x);
    });
}

template <typename Real>
void add(Real* __restrict out, const Real* __restrict in, ptrdiff_t count) {
    for (ptrdiff_t at = 0; at < count; at++) out[at] += in[at];
}

template <typename Real>
void forward_last(const Averages& a, ptrdiff_t channels, Real* out, const Real* in, ptrdiff_t from, ptrdiff_t to) {
    const Pooling& p = a.p;
    out += from * p.out[2] * channels;
    for (ptrdiff_t number = from; number < to; number++)
        for (ptrdiff_t at = 0; at < p.out[2]; at++, out += channels) {
            const Row row = {number / p.out[1], number % p.out[1]};
            memset(out, 0, static_cast<size_t>(channels) * sizeof(Real));
            elements(a, row, at, [&](ptrdiff_t element) { add(out, in + element * channels, channels); });
            for (ptrdiff_t channel = 0; channel < channels; channel++) out[channel] = divided(a, row, at, out[channel]);
        }
}

template <typename Real>
void backward_last(const Averages& a, ptrdiff_t channels, Real* in_grad, const Real* grad) {
    const Pooling& p = a.p;
    Real shares[CHUNK];
    memset(in_grad, 0, static_cast<size_t>(p.area() * channels) * sizeof(Real));
    for (ptrdiff_t number = 0; number < p.out[0] * p.out[1]; number++)
        for (ptrdiff_t at = 0; at < p.out[2]; at++, grad += channels) {
            const Row row = {number / p.out[1], number % p.out[1]};
            for (ptrdiff_t from = 0; from < channels; from += CHUNK) {
                const ptrdiff_t count = channels - from < CHUNK ? channels - from : CHUNK;
                for (ptrdiff_t channel = 0; channel < count; channel++)
                    shares[channel] = divided(a, row, at, grad[from + channel]);
                elements(a, row, at,
                         [&](ptrdiff_t element) { add(in_grad + element * channels + from, shares, count); });
            }
        }
}

}  // namespace

extern const AvgPoolLoops<float> MINDTORCH_LOOPS(avg_pool_loops) = {forward, forward_last, backward, backward_last};
extern const AvgPoolLoops<double> MINDTORCH_LOOPS(avg_pool_double_loops) = {forward, forward_last, backward,
                                                                            backward_last};

}  // namespace mindtorch
