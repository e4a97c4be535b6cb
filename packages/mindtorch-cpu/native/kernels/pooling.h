// What kernels of poolings read of their operands.
#pragma once

#include "kernels/max_pool.h"
#include "kernels/operand.h"
#include "parallel.h"

namespace mindtorch {

constexpr ptrdiff_t MOST_ELEMENTS = 1 << 30;  // of a volume: places are found as int32

inline PyArrayObject* array_of(PyObject* value) { return reinterpret_cast<PyArrayObject*>(value); }

// How many numbers the tuple or list has, 0 for something else.
inline Py_ssize_t length(PyObject* values) {
    return PyTuple_CheckExact(values)  ? PyTuple_GET_SIZE(values)
           : PyList_CheckExact(values) ? PyList_GET_SIZE(values)
                                       : 0;
}

// `dims` whole numbers, not below `least`, as the last of three.
inline bool numbers(PyObject* values, int dims, ptrdiff_t least, ptrdiff_t* to) {
    if (length(values) != dims) return false;
    for (int at = 0; at < dims; at++) {
        PyObject* item = PyTuple_CheckExact(values) ? PyTuple_GET_ITEM(values, at) : PyList_GET_ITEM(values, at);
        if (!PyLong_CheckExact(item)) return false;
        const Py_ssize_t value = PyLong_AsSsize_t(item);
        if (value == -1 && PyErr_Occurred()) PyErr_Clear();
        if (value < least) return false;
        to[3 - dims + at] = value;
    }
    return true;
}

inline bool dense(PyObject* value, int type) {
    return PyArray_CheckExact(value) && PyArray_ISCARRAY_RO(array_of(value)) && PyArray_TYPE(array_of(value)) == type;
}

// The last `dims` dimensions of an array as those of volumes; returns how many volumes there are.
inline size_t volumes(PyObject* value, int dims, ptrdiff_t* to) {
    const int ndim = PyArray_NDIM(array_of(value));
    size_t count = 1;
    for (int at = 0; at < ndim; at++) {
        const npy_intp extent = PyArray_DIM(array_of(value), at);
        if (at < ndim - dims)
            count *= static_cast<size_t>(extent);
        else
            to[3 - ndim + at] = extent;
    }
    return count;
}

inline void set_ones(Pooling& p) {
    p.cells = false;
    for (int at = 0; at < 3; at++)
        p.extent[at] = p.out[at] = p.kernel[at] = p.stride[at] = p.dilation[at] = 1, p.padding[at] = 0;
}

// A result that its operand does not share memory with.
inline bool separate(PyObject* out, PyObject* in) {
    return PyArray_ISWRITEABLE(array_of(out)) &&
           apart(array_of(out), PyArray_DATA(array_of(in)), PyArray_NBYTES(array_of(in))) &&
           PyArray_DATA(array_of(out)) != PyArray_DATA(array_of(in));
}

// How many volumes are not worth a second thread.
inline size_t grain(ptrdiff_t volume) { return GRAIN / static_cast<size_t>(volume > 0 ? volume : 1) + 1; }

}  // namespace mindtorch
