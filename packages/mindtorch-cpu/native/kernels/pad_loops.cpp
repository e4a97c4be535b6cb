// Gradients of frames.
#include "kernels/pad.h"

#include <string.h>

namespace mindtorch {

namespace {

template <typename Real>
void add(Real* __restrict to, const Real* __restrict from, ptrdiff_t count) {
    for (ptrdiff_t at = 0; at < count; at++) to[at] += from[at];
}

template <typename Real>
void add_line(const Frame& f, Real* to, const Real* grad) {
    const ptrdiff_t *source = f.source[2], inner = f.inner;
    const auto add_places = [&](ptrdiff_t from, ptrdiff_t end) {
        for (ptrdiff_t at = from; at < end; at++) add(to + source[at] * inner, grad + at * inner, inner);
    };
    add_places(0, f.first);
    if (f.last > f.first) add(to + source[f.first] * inner, grad + f.first * inner, (f.last - f.first) * inner);
    add_places(f.last, f.padded[2]);
}

template <typename Real>
void backward(const Frame& f, ptrdiff_t count, Real* in_grad, const Real* grad) {
    memset(in_grad, 0, static_cast<size_t>(count * f.area()) * sizeof(Real));
    for (ptrdiff_t volume = 0; volume < count; volume++, in_grad += f.area())
        for (ptrdiff_t z = 0; z < f.padded[0]; z++)
            for (ptrdiff_t y = 0; y < f.padded[1]; y++, grad += f.padded[2] * f.inner)
                add_line(f, in_grad + (f.source[0][z] * f.extent[1] + f.source[1][y]) * f.extent[2] * f.inner, grad);
}

}  // namespace

extern const PadLoops<float> MINDTORCH_LOOPS(pad_loops) = {backward};
extern const PadLoops<double> MINDTORCH_LOOPS(pad_double_loops) = {backward};

}  // namespace mindtorch
