// Means of the windows of planes and volumes of float32 and float64, dense or with their channels last, and their
// gradients; everything else is numpy's.
#include "kernels/avg_pool.h"

#include <algorithm>
#include <vector>

#include "kernels/channels_last.h"
#include "kernels/integer.h"
#include "kernels/pooling.h"

namespace mindtorch {

namespace {

template <typename Real>
const AvgPoolLoops<Real>& loops();
template <>
const AvgPoolLoops<float>& loops() {
    return avg_pool_loops();
}
template <>
const AvgPoolLoops<double>& loops() {
    return avg_pool_double_loops();
}

// The windows of a dimension, and what `Averages` points to.
struct Windows {
    std::vector<ptrdiff_t> begin[3], end[3], length[3];

    // What the lengths of windows are depends on whether the padding counts.
    void lie(const Pooling& p, bool padding_counts) {
        for (int dim = 0; dim < 3; dim++)
            for (ptrdiff_t at = 0; at < p.out[dim]; at++) {
                const ptrdiff_t from = at * p.stride[dim] - p.padding[dim];
                const ptrdiff_t to = std::min(from + p.kernel[dim], p.extent[dim] + p.padding[dim]);
                add(dim, std::max(from, ptrdiff_t{0}), std::min(to, p.extent[dim]));
                if (padding_counts) length[dim].back() = to - from;
            }
    }

    void share_out(const Pooling& p) {
        for (int dim = 0; dim < 3; dim++)
            for (ptrdiff_t at = 0; at < p.out[dim]; at++)
                add(dim, at * p.extent[dim] / p.out[dim], ((at + 1) * p.extent[dim] + p.out[dim] - 1) / p.out[dim]);
    }

    void add(int dim, ptrdiff_t from, ptrdiff_t to) {
        begin[dim].push_back(from);
        end[dim].push_back(to);
        length[dim].push_back(to - from);
    }

    Averages of(const Pooling& p, ptrdiff_t divisor, int cells) const {
        Averages a = {p, {}, {}, {}, divisor, cells};
        for (int dim = 0; dim < 3; dim++)
            a.begin[dim] = begin[dim].data(), a.end[dim] = end[dim].data(), a.length[dim] = length[dim].data();
        return a;
    }
};

// A large array and a small one of as many volumes, or of as many images of as many channels.
bool describe(PyObject* large, PyObject* small, int dims, Pooling& p, size_t& count) {
    const int ndim = PyArray_NDIM(array_of(large));
    if (ndim < dims || PyArray_NDIM(array_of(small)) != ndim ||
        !PyArray_CompareLists(PyArray_DIMS(array_of(large)), PyArray_DIMS(array_of(small)), ndim - dims))
        return false;
    set_ones(p);
    count = volumes(large, dims, p.extent);
    volumes(small, dims, p.out);
    return count > 0 && p.area() > 0 && p.places() > 0;
}

template <typename Real>
Real* data(PyObject* array) {
    return static_cast<Real*>(PyArray_DATA(array_of(array)));
}

ptrdiff_t elements_of(const Pooling& p, int cells) {
    return cells != 0 ? p.area() : p.places() * p.kernel[0] * p.kernel[1] * p.kernel[2];
}

template <typename Real>
int dense_forward(PyObject* out, PyObject* in, const Averages& a, size_t count) {
    auto *to = data<Real>(out), *from = data<Real>(in);
    parallel(count, grain(elements_of(a.p, a.cells)), [&](size_t first, size_t end) {
        const auto at = static_cast<ptrdiff_t>(first);
        loops<Real>().forward(a, static_cast<ptrdiff_t>(end) - at, to + at * a.p.places(), from + at * a.p.area());
    });
    return 1;
}

template <typename Real>
int dense_backward(PyObject* out, PyObject* in, const Averages& a, size_t count) {
    auto *to = data<Real>(out), *from = data<Real>(in);
    parallel(count, grain(elements_of(a.p, a.cells)), [&](size_t first, size_t end) {
        const auto at = static_cast<ptrdiff_t>(first);
        loops<Real>().backward(a, static_cast<ptrdiff_t>(end) - at, to + at * a.p.area(), from + at * a.p.places());
    });
    return 1;
}

template <typename Real>
int last_forward(PyObject* out, PyObject* in, const Averages& a) {
    auto *to = data<Real>(out), *from = data<Real>(in);
    const ptrdiff_t channels = PyArray_DIM(array_of(in), 1), rows = a.p.out[0] * a.p.out[1];
    const auto count = static_cast<size_t>(PyArray_DIM(array_of(in), 0) * rows);
    parallel(count, grain(elements_of(a.p, a.cells) / rows * channels), [&](size_t first, size_t end) {
        for (auto at = static_cast<ptrdiff_t>(first); at < static_cast<ptrdiff_t>(end);) {
            const ptrdiff_t image = at / rows, row = at % rows;
            const ptrdiff_t stop = std::min(rows, static_cast<ptrdiff_t>(end) - image * rows);
            loops<Real>().forward_last(a, channels, to + image * a.p.places() * channels,
                                       from + image * a.p.area() * channels, row, stop);
            at += stop - row;
        }
    });
    return 1;
}

template <typename Real>
int last_backward(PyObject* out, PyObject* in, const Averages& a) {
    auto *to = data<Real>(out), *from = data<Real>(in);
    const ptrdiff_t channels = PyArray_DIM(array_of(out), 1);
    const auto count = static_cast<size_t>(PyArray_DIM(array_of(out), 0));
    parallel(count, grain(elements_of(a.p, a.cells) * channels), [&](size_t first, size_t end) {
        for (auto image = static_cast<ptrdiff_t>(first); image < static_cast<ptrdiff_t>(end); image++)
            loops<Real>().backward_last(a, channels, to + image * a.p.area() * channels,
                                        from + image * a.p.places() * channels);
    });
    return 1;
}

// `values` are (kernel, stride, padding, ceil_mode, include_pad, divisor); null for cells.
bool take_windows(PyObject* const* values, int dims, Pooling& p, Windows& windows, ptrdiff_t& divisor) {
    divisor = 0;
    if (values == nullptr) {
        windows.share_out(p);
        return true;
    }
    if (!numbers(values[0], dims, 1, p.kernel) || !numbers(values[1], dims, 1, p.stride) ||
        !numbers(values[2], dims, 0, p.padding) || !PyBool_Check(values[4]))
        return false;
    if (values[5] != Py_None && (!index_of(values[5], divisor) || divisor == 0)) return false;
    windows.lie(p, values[4] == Py_True);
    for (const auto& lengths : windows.length)
        if (*std::min_element(lengths.begin(), lengths.end()) < 1) return false;
    return true;
}

// The larger array is the operand of the forward step, the result of the backward one.
template <typename Real>
int run(PyObject* out, PyObject* in, PyObject* const* values, int dims, bool back) {
    constexpr int TYPE = sizeof(Real) == sizeof(float) ? NPY_FLOAT : NPY_DOUBLE;
    PyObject *large = back ? out : in, *small = back ? in : out;
    const bool plain = dense(large, TYPE) && dense(small, TYPE);
    if (!plain &&
        (!is_channels_last(large, TYPE) || !is_channels_last(small, TYPE) || PyArray_NDIM(array_of(large)) != dims + 2))
        return 0;
    Pooling p;
    size_t count;
    Windows windows;
    ptrdiff_t divisor;
    if (!describe(large, small, dims, p, count) || !separate(out, in) ||
        !take_windows(values, dims, p, windows, divisor))
        return 0;
    const Averages a = windows.of(p, divisor, values == nullptr ? dims : 0);
    if (plain) return back ? dense_backward<Real>(out, in, a, count) : dense_forward<Real>(out, in, a, count);
    return back ? last_backward<Real>(out, in, a) : last_forward<Real>(out, in, a);
}

int either(PyObject* out, PyObject* in, PyObject* const* values, int dims, bool back) {
    if ((dims != 2 && dims != 3) || !PyArray_CheckExact(out) || !PyArray_CheckExact(in)) return 0;
    return PyArray_TYPE(array_of(out)) == NPY_FLOAT ? run<float>(out, in, values, dims, back)
                                                    : run<double>(out, in, values, dims, back);
}

// Values are (input, kernel, stride, padding, ceil_mode, include_pad, divisor).
int avg_pool(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    return given != 7 ? 0 : either(out, values[0], values + 1, static_cast<int>(length(values[1])), false);
}

// Values are (grad, input, kernel, ...) as above.
int avg_pool_backward(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    return given != 8 ? 0 : either(out, values[0], values + 2, static_cast<int>(length(values[2])), true);
}

// Values are (input, output_size).
int adaptive_avg_pool(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    return given != 2 ? 0 : either(out, values[0], nullptr, static_cast<int>(length(values[1])), false);
}

// Values are (grad, input).
template <int DIMS>
int adaptive_avg_pool_backward(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    return given != 2 ? 0 : either(out, values[0], nullptr, DIMS, true);
}

}  // namespace

const NamedKernel avg_pool_kernels[] = {
    {"avg_pool2d avg_pool3d", avg_pool, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"avg_pool2d_backward avg_pool3d_backward", avg_pool_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"_adaptive_avg_pool2d _adaptive_avg_pool3d", adaptive_avg_pool, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
