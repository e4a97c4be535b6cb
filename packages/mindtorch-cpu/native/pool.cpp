// Maxima of the windows of dense float32 planes, and their gradients; everything else is numpy's.
#include "pool.h"

#include <initializer_list>

#include "operand.h"
#include "parallel.h"

namespace mindtorch {

namespace {

bool pair(PyObject* values, ptrdiff_t least, ptrdiff_t* to) {
    const bool tuple = PyTuple_CheckExact(values);
    if (!tuple && !PyList_CheckExact(values)) return false;
    if ((tuple ? PyTuple_GET_SIZE(values) : PyList_GET_SIZE(values)) != 2) return false;
    for (int at = 0; at < 2; at++) {
        PyObject* item = tuple ? PyTuple_GET_ITEM(values, at) : PyList_GET_ITEM(values, at);
        if (!PyLong_CheckExact(item)) return false;
        to[at] = PyLong_AsSsize_t(item);
        if (to[at] == -1 && PyErr_Occurred()) PyErr_Clear();
        if (to[at] < least) return false;
    }
    return true;
}

PyArrayObject* array_of(PyObject* value) { return reinterpret_cast<PyArrayObject*>(value); }

// Planes and options (kernel, stride, padding, dilation); `planes` is how many there are.
bool describe(PyObject* large, PyObject* small, PyObject* index, PyObject* const* options, Pooling& p, size_t& planes) {
    for (PyObject* value : {large, small, index})
        if (!PyArray_CheckExact(value) || !PyArray_ISCARRAY_RO(array_of(value))) return false;
    const int ndim = PyArray_NDIM(array_of(large));
    if (ndim < 2 || PyArray_NDIM(array_of(small)) != ndim || PyArray_NDIM(array_of(index)) != ndim) return false;
    if (PyArray_TYPE(array_of(large)) != NPY_FLOAT || PyArray_TYPE(array_of(small)) != NPY_FLOAT ||
        PyArray_TYPE(array_of(index)) != NPY_INT64 || PyArray_SIZE(array_of(small)) != PyArray_SIZE(array_of(index)))
        return false;
    p.height = PyArray_DIM(array_of(large), ndim - 2);
    p.width = PyArray_DIM(array_of(large), ndim - 1);
    p.out_height = PyArray_DIM(array_of(small), ndim - 2);
    p.out_width = PyArray_DIM(array_of(small), ndim - 1);
    if (p.height * p.width == 0 || p.out_height * p.out_width == 0) return false;
    planes = static_cast<size_t>(PyArray_SIZE(array_of(large)) / (p.height * p.width));
    if (planes != static_cast<size_t>(PyArray_SIZE(array_of(small)) / (p.out_height * p.out_width))) return false;
    return pair(options[0], 1, p.kernel) && pair(options[1], 1, p.stride) && pair(options[2], 0, p.padding) &&
           pair(options[3], 1, p.dilation);
}

size_t grain(ptrdiff_t plane) { return GRAIN / static_cast<size_t>(plane) + 1; }

// Outputs are (out, indices); values (input, kernel, stride, padding, dilation, ceil_mode).
int largest(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Pooling p;
    size_t planes;
    if (count != 6 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2) return 0;
    PyObject *out = PyTuple_GET_ITEM(outs, 0), *index = PyTuple_GET_ITEM(outs, 1);
    if (!describe(values[0], out, index, values + 1, p, planes) || !PyArray_ISWRITEABLE(array_of(out)) ||
        !PyArray_ISWRITEABLE(array_of(index)) || !apart(array_of(out), PyArray_DATA(array_of(values[0])), 0))
        return 0;
    auto *to = static_cast<float*>(PyArray_DATA(array_of(out))),
         *in = static_cast<float*>(PyArray_DATA(array_of(values[0])));
    auto* places = static_cast<int64_t*>(PyArray_DATA(array_of(index)));
    const ptrdiff_t large = p.height * p.width, small = p.out_height * p.out_width;
    parallel(planes, grain(small * p.kernel[0] * p.kernel[1]), [&](size_t from, size_t end) {
        for (ptrdiff_t at = static_cast<ptrdiff_t>(from); at < static_cast<ptrdiff_t>(end); at++)
            pool_loops().largest(p, to + at * small, places + at * small, in + at * large);
    });
    return 1;
}

// Values are (grad, input, kernel, stride, padding, dilation, ceil_mode, indices).
int largest_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Pooling p;
    size_t planes;
    if (count != 8 || !describe(out, values[0], values[7], values + 2, p, planes) ||
        !PyArray_ISWRITEABLE(array_of(out)))
        return 0;
    auto *to = static_cast<float*>(PyArray_DATA(array_of(out))),
         *grad = static_cast<float*>(PyArray_DATA(array_of(values[0])));
    auto* places = static_cast<int64_t*>(PyArray_DATA(array_of(values[7])));
    const ptrdiff_t large = p.height * p.width, small = p.out_height * p.out_width,
                    all = PyArray_SIZE(array_of(values[7]));
    for (ptrdiff_t at = 0; at < all; at++)  // indices may be a caller's
        if (places[at] < 0 || places[at] >= large) return 0;
    parallel(planes, grain(small), [&](size_t from, size_t end) {
        for (ptrdiff_t at = static_cast<ptrdiff_t>(from); at < static_cast<ptrdiff_t>(end); at++)
            pool_loops().largest_backward(p, to + at * large, grad + at * small, places + at * small);
    });
    return 1;
}

}  // namespace

const NamedKernel pool_kernels[] = {
    {"largest_of_windows", largest},
    {"largest_of_windows_backward", largest_backward},
    {nullptr, nullptr},
};

}  // namespace mindtorch
