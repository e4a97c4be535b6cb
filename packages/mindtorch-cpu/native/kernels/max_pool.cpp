// Maxima of the windows of float32 planes and volumes, dense or with their channels last, and their gradients;
// everything else is numpy's.
#include "kernels/max_pool.h"

#include "kernels/channels_last.h"
#include "kernels/pooling.h"

#include <algorithm>

namespace mindtorch {

namespace {

// A large float array, and a small one with places of as many volumes; `count` is how many there are.
bool describe(PyObject* large, PyObject* small, PyObject* index, int dims, Pooling& p, size_t& count) {
    if (!dense(large, NPY_FLOAT) || !dense(small, NPY_FLOAT) || !dense(index, NPY_INT64)) return false;
    const int ndim = PyArray_NDIM(array_of(large));
    if (ndim < dims || PyArray_NDIM(array_of(small)) != ndim || PyArray_NDIM(array_of(index)) != ndim) return false;
    set_ones(p);
    count = volumes(large, dims, p.extent);
    if (count != volumes(small, dims, p.out) || PyArray_SIZE(array_of(small)) != PyArray_SIZE(array_of(index)))
        return false;
    return p.area() > 0 && p.places() > 0 && p.area() <= MOST_ELEMENTS;
}

using MaxPool = void (*)(const Pooling&, ptrdiff_t, float*, int64_t*, const float*);

// Outputs are (out, indices).
int run(PyObject* outs, PyObject* input, const Pooling& p, size_t count, ptrdiff_t window, MaxPool loop) {
    PyObject *out = PyTuple_GET_ITEM(outs, 0), *index = PyTuple_GET_ITEM(outs, 1);
    if (!PyArray_ISWRITEABLE(array_of(out)) || !PyArray_ISWRITEABLE(array_of(index)) ||
        !apart(array_of(out), PyArray_DATA(array_of(input)), 0))
        return 0;
    auto *to = static_cast<float*>(PyArray_DATA(array_of(out))),
         *in = static_cast<float*>(PyArray_DATA(array_of(input)));
    auto* places = static_cast<int64_t*>(PyArray_DATA(array_of(index)));
    const ptrdiff_t large = p.area(), small = p.places();
    parallel(count, grain(small * window), [&](size_t from, size_t end) {
        const auto first = static_cast<ptrdiff_t>(from);
        loop(p, static_cast<ptrdiff_t>(end) - first, to + first * small, places + first * small, in + first * large);
    });
    return 1;
}

bool two(PyObject* outs) { return PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == 2; }

bool take_windows(PyObject* const* values, int dims, Pooling& p) {
    return numbers(values[1], dims, 1, p.kernel) && numbers(values[2], dims, 1, p.stride) &&
           numbers(values[3], dims, 0, p.padding) && numbers(values[4], dims, 1, p.dilation);
}

// The same of arrays whose channels are last, with windows or, where none are given, cells; 0 for others.
int max_pool_last(PyObject* outs, PyObject* const* values, int dims, bool cells) {
    PyObject *input = values[0], *out = PyTuple_GET_ITEM(outs, 0), *index = PyTuple_GET_ITEM(outs, 1);
    if (!is_channels_last(input, NPY_FLOAT) || PyArray_NDIM(array_of(input)) != dims + 2 ||
        !is_channels_last_output(out, NPY_FLOAT) || PyArray_NDIM(array_of(out)) != dims + 2 ||
        !is_channels_last_output(index, NPY_INT64) || PyArray_NDIM(array_of(index)) != dims + 2 ||
        !PyArray_CompareLists(PyArray_DIMS(array_of(out)), PyArray_DIMS(array_of(index)), dims + 2) ||
        !PyArray_CompareLists(PyArray_DIMS(array_of(out)), PyArray_DIMS(array_of(input)), 2))
        return 0;
    Pooling p;
    set_ones(p);
    volumes(input, dims, p.extent);
    volumes(out, dims, p.out);
    if ((!cells && !take_windows(values, dims, p)) || p.area() > MOST_ELEMENTS) return 0;
    p.cells = cells;
    const ptrdiff_t channels = PyArray_DIM(array_of(input), 1), rows = p.out[0] * p.out[1];
    auto *to = static_cast<float*>(PyArray_DATA(array_of(out))),
         *in = static_cast<float*>(PyArray_DATA(array_of(input)));
    auto* places = static_cast<int64_t*>(PyArray_DATA(array_of(index)));
    const ptrdiff_t window = cells ? p.area() / p.places() + 1 : p.kernel[0] * p.kernel[1] * p.kernel[2];
    const auto count = static_cast<size_t>(PyArray_DIM(array_of(input), 0) * rows);
    parallel(count, grain(p.out[2] * window * channels), [&](size_t from, size_t end) {
        for (auto at = static_cast<ptrdiff_t>(from); at < static_cast<ptrdiff_t>(end);) {
            const ptrdiff_t image = at / rows, row = at % rows;
            const ptrdiff_t stop = std::min(rows, static_cast<ptrdiff_t>(end) - image * rows);
            const ptrdiff_t small = image * p.places() * channels;
            max_pool_loops().max_pool_last(p, channels, to + small, places + small, in + image * p.area() * channels,
                                           row, stop);
            at += stop - row;
        }
    });
    return 1;
}

// Values are (input, kernel, stride, padding, dilation, ceil_mode).
int max_pool(PyObject* outs, PyObject* const* values, Py_ssize_t given) {
    Pooling p;
    size_t count;
    if (given != 6 || !two(outs)) return 0;
    const int dims = static_cast<int>(length(values[1]));
    if (dims != 2 && dims != 3) return 0;
    if (!describe(values[0], PyTuple_GET_ITEM(outs, 0), PyTuple_GET_ITEM(outs, 1), dims, p, count))
        return max_pool_last(outs, values, dims, false);
    if (!take_windows(values, dims, p)) return 0;
    return run(outs, values[0], p, count, p.kernel[0] * p.kernel[1] * p.kernel[2], max_pool_loops().max_pool);
}

// Values are (input, output_size).
int adaptive_max_pool(PyObject* outs, PyObject* const* values, Py_ssize_t given) {
    Pooling p;
    size_t count;
    if (given != 2 || !two(outs)) return 0;
    const int dims = static_cast<int>(length(values[1]));
    if (dims != 2 && dims != 3) return 0;
    if (!describe(values[0], PyTuple_GET_ITEM(outs, 0), PyTuple_GET_ITEM(outs, 1), dims, p, count))
        return max_pool_last(outs, values, dims, true);
    bool even = true;
    for (int at = 0; at < 3; at++) {
        even &= p.extent[at] % p.out[at] == 0;
        p.kernel[at] = p.stride[at] = p.extent[at] / p.out[at];
    }
    return run(outs, values[0], p, count, p.area() / p.places() + 1,
               even ? max_pool_loops().max_pool : max_pool_loops().adaptive_max_pool);
}

// Values begin with (grad, input) and end with the indices.
template <int DIMS>
int max_pool_backward(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    Pooling p;
    size_t count;
    if (given < 3 || !describe(out, values[0], values[given - 1], DIMS, p, count) ||
        !PyArray_ISWRITEABLE(array_of(out)))
        return 0;
    auto *to = static_cast<float*>(PyArray_DATA(array_of(out))),
         *grad = static_cast<float*>(PyArray_DATA(array_of(values[0])));
    auto* places = static_cast<int64_t*>(PyArray_DATA(array_of(values[given - 1])));
    const size_t large = static_cast<size_t>(p.area()), small = static_cast<size_t>(p.places());
    bool inside = true;
    for (size_t at = 0; at < count * small; at++)  // indices may be a caller's
        inside &= static_cast<uint64_t>(places[at]) < large;
    if (!inside) return 0;
    parallel(count, grain(p.places()), [&](size_t from, size_t end) {
        for (size_t at = from; at < end; at++)
            max_pool_loops().max_pool_backward(to + at * large, large, grad + at * small, places + at * small, small);
    });
    return 1;
}

}  // namespace

const NamedKernel max_pool_kernels[] = {
    {"max_pool2d_with_indices max_pool3d_with_indices", max_pool, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"adaptive_max_pool2d adaptive_max_pool3d", adaptive_max_pool, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"max_pool2d_with_indices_backward adaptive_max_pool2d_backward fractional_max_pool2d_backward",
     max_pool_backward<2>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"max_pool3d_with_indices_backward adaptive_max_pool3d_backward fractional_max_pool3d_backward",
     max_pool_backward<3>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
