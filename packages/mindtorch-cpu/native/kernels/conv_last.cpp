// Convolutions of planes whose channels lie side by side: windows of one element, and depthwise ones.
#include "kernels/conv_last.h"

#include <string.h>

#include "gemm/gemm.h"
#include "kernels/channels_last.h"
#include "kernels/conv_last_loops.h"
#include "kernels/conv_share.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

PyArrayObject* array_of(PyObject* value) { return reinterpret_cast<PyArrayObject*>(value); }

// Steps of the weights, in elements.
struct Weights {
    const float* data;
    ptrdiff_t feature, channel, row, column;

    explicit Weights(PyArrayObject* array)
        : data(static_cast<const float*>(PyArray_DATA(array))),
          feature(step(array, 0)),
          channel(step(array, 1)),
          row(step(array, 2)),
          column(step(array, 3)) {}

private:
    static ptrdiff_t step(PyArrayObject* array, int dim) {
        return PyArray_STRIDE(array, dim) / static_cast<ptrdiff_t>(sizeof(float));
    }
};

// The elements that windows of one element see, side by side.
void gather(const Convolution& c, float* to, const float* in) {
    const size_t channels = c.channels, rows = c.batch * static_cast<size_t>(c.out_height);
    const double work = static_cast<double>(rows * channels) * static_cast<double>(c.out_width);
    share_parts(rows, work, nullptr, 0, [&](size_t from, size_t end, float*) {
        for (size_t row = from; row < end; row++) {
            const auto image = static_cast<ptrdiff_t>(row) / c.out_height,
                       y = static_cast<ptrdiff_t>(row) % c.out_height;
            const float* line = in + (image * c.height + y * c.stride[0]) * c.width * static_cast<ptrdiff_t>(channels);
            float* out = to + row * static_cast<size_t>(c.out_width) * channels;
            for (ptrdiff_t x = 0; x < c.out_width; x++, out += channels)
                memcpy(out, line + x * c.stride[1] * static_cast<ptrdiff_t>(channels), channels * sizeof(float));
        }
    });
}

int pointwise(const Convolution& c, float* out, const float* in, const Weights& w, const float* bias) {
    const size_t rows = c.batch * static_cast<size_t>(c.out_height * c.out_width);
    if (c.stride[0] != 1 || c.stride[1] != 1) {
        auto* seen = static_cast<float*>(outer_scratch(rows * c.channels * sizeof(float)));
        if (seen == nullptr) return 0;
        gather(c, seen, in);
        in = seen;
    }
    const auto channels = static_cast<ptrdiff_t>(c.channels), features = static_cast<ptrdiff_t>(c.features);
    const Product<float> product = {rows,
                                    c.features,
                                    c.channels,
                                    {in, channels, 1},
                                    {w.data, w.channel, w.feature},
                                    out,
                                    features,
                                    1,
                                    1.0f,
                                    bias == nullptr ? 0.0f : 1.0f,
                                    {bias, 0, 1}};
    return multiply_all(Batch<float>{product, 1, 0, 0, 0, 0}) ? 1 : 0;
}

int depthwise(const Convolution& c, float* out, const float* in, const Weights& w, const float* bias) {
    const ConvLastLoops& loops = conv_last_loops();
    const size_t channels = c.groups, window = static_cast<size_t>(c.kernel[0] * c.kernel[1]);
    if (channels < loops.least_channels) return 0;
    auto* weights = static_cast<float*>(scratch(window * channels * sizeof(float)));
    if (weights == nullptr) return 0;
    float* to = weights;
    for (ptrdiff_t y = 0; y < c.kernel[0]; y++)
        for (ptrdiff_t x = 0; x < c.kernel[1]; x++)
            for (size_t channel = 0; channel < channels; channel++)
                *to++ = w.data[static_cast<ptrdiff_t>(channel) * w.feature + y * w.row + x * w.column];
    const auto rows = static_cast<size_t>(c.out_height);
    const ptrdiff_t small = c.out_height * c.out_width * static_cast<ptrdiff_t>(channels);
    const ptrdiff_t large = c.height * c.width * static_cast<ptrdiff_t>(channels);
    share(c.batch * rows, work_of(c), nullptr, 0, [&](size_t at, float*) {
        const auto image = static_cast<ptrdiff_t>(at / rows), row = static_cast<ptrdiff_t>(at % rows);
        loops.depthwise(c, out + image * small, in + image * large, weights, bias, row, row + 1);
    });
    return 1;
}

}  // namespace

int convolution_last(const Convolution& c, PyObject* out, PyObject* input, PyObject* weight, const float* bias) {
    if (!is_channels_last_output(out, NPY_FLOAT) || !is_channels_last(input, NPY_FLOAT) ||
        PyArray_NDIM(array_of(input)) != 4)
        return 0;
    auto* to = static_cast<float*>(PyArray_DATA(array_of(out)));
    const auto* in = static_cast<const float*>(PyArray_DATA(array_of(input)));
    const Weights weights(array_of(weight));
    const bool one = c.kernel[0] == 1 && c.kernel[1] == 1 && c.padding[0] == 0 && c.padding[1] == 0;
    if (one && c.groups == 1) return pointwise(c, to, in, weights, bias);
    if (c.groups > 1 && c.channels == 1 && c.features == 1) return depthwise(c, to, in, weights, bias);
    return 0;
}

}  // namespace mindtorch
