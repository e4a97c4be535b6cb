// Softmax and layer norm of rows, and their backwards, on dense float32 operands; everything else is numpy's.
#include "normalization.h"

#include "operand.h"

namespace mindtorch {

namespace {

// The extent of the last dimension when `dim` is it and there are rows; else 0.
npy_intp last_extent(PyArrayObject* array, PyObject* dim) {
    const int ndim = PyArray_NDIM(array);
    if (ndim == 0 || PyArray_SIZE(array) == 0 || !PyLong_CheckExact(dim)) return 0;
    const long number = PyLong_AsLong(dim);
    return number == ndim - 1 || number == -1 ? PyArray_DIM(array, ndim - 1) : 0;
}

// Values are (self, dim, half_to_float).
template <Share op>
int share(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = output(given);
    if (count != 3 || out == nullptr || kind_of(out) != 0) return 0;
    const npy_intp size = PyArray_SIZE(out), width = last_extent(out, values[1]);
    const float* in = width > 0 ? floats(values[0], size, out) : nullptr;
    if (in == nullptr) return 0;
    normalization_loops().share[op](static_cast<float*>(PyArray_DATA(out)), in, static_cast<size_t>(size / width),
                                  static_cast<size_t>(width));
    return 1;
}

// Values are (grad_output, output, dim, input_dtype).
template <Share op>
int share_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = output(given);
    if (count != 4 || out == nullptr || kind_of(out) != 0) return 0;
    const npy_intp size = PyArray_SIZE(out), width = last_extent(out, values[2]);
    if (width == 0) return 0;
    const float *grad = floats(values[0], size, out), *result = floats(values[1], size, out);
    if (grad == nullptr || result == nullptr) return 0;
    normalization_loops().share_backward[op](static_cast<float*>(PyArray_DATA(out)), grad, result,
                                           static_cast<size_t>(size / width), static_cast<size_t>(width));
    return 1;
}

bool is_triple(PyObject* outs) { return PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == 3; }

// How many rows and how wide, from the statistics' array and the whole; false when it is none or empty.
bool row_sizes(PyObject* whole, PyObject* statistics, npy_intp& rows, npy_intp& width) {
    if (!PyArray_CheckExact(whole) || !PyArray_CheckExact(statistics)) return false;
    const npy_intp size = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(whole));
    rows = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(statistics));
    if (rows == 0 || size == 0) return false;
    width = size / rows;
    return true;
}

// An operand that may be None: false when it is there but no loop takes it.
bool optional(PyObject* value, npy_intp count, const float*& data) {
    data = nullptr;
    if (value == Py_None) return true;
    data = floats(value, count, nullptr);
    return data != nullptr;
}

bool optional_output(PyObject* given, npy_intp count, float*& data) {
    data = nullptr;
    if (given == Py_None) return true;
    data = output_floats(given, count);
    return data != nullptr;
}

// Outputs are (out, mean, rstd); values (input, normalized_shape, weight, bias, eps).
int layer_norm(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    npy_intp rows, width;
    if (count != 5 || !is_triple(outs) || !PyFloat_CheckExact(values[4]) ||
        !row_sizes(PyTuple_GET_ITEM(outs, 0), PyTuple_GET_ITEM(outs, 1), rows, width))
        return 0;
    LayerNorm to;
    to.out = output_floats(PyTuple_GET_ITEM(outs, 0), rows * width);
    to.mean = output_floats(PyTuple_GET_ITEM(outs, 1), rows);
    to.scale = output_floats(PyTuple_GET_ITEM(outs, 2), rows);
    const float *in = floats(values[0], rows * width, nullptr), *weight, *bias;
    if (to.out == nullptr || to.mean == nullptr || to.scale == nullptr || in == nullptr ||
        !optional(values[2], width, weight) || !optional(values[3], width, bias))
        return 0;
    normalization_loops().layer_norm(to, in, weight, bias, static_cast<size_t>(rows), static_cast<size_t>(width),
                                   PyFloat_AS_DOUBLE(values[4]));
    return 1;
}

// Outputs are the gradients of (input, weight, bias); values (grad, input, normalized_shape, mean, rstd, weight, bias,
// mask).
int layer_norm_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    npy_intp rows, width;
    if (count != 8 || !is_triple(outs) || !row_sizes(values[1], values[3], rows, width)) return 0;
    LayerNormGradients to;
    const float *grad = floats(values[0], rows * width, nullptr), *in = floats(values[1], rows * width, nullptr);
    const float *mean = floats(values[3], rows, nullptr), *scale = floats(values[4], rows, nullptr), *weight;
    if (grad == nullptr || in == nullptr || mean == nullptr || scale == nullptr ||
        !optional(values[5], width, weight) || !optional_output(PyTuple_GET_ITEM(outs, 0), rows * width, to.input) ||
        !optional_output(PyTuple_GET_ITEM(outs, 1), width, to.weight) ||
        !optional_output(PyTuple_GET_ITEM(outs, 2), width, to.bias))
        return 0;
    normalization_loops().layer_norm_backward(to, grad, in, mean, scale, weight, static_cast<size_t>(rows),
                                            static_cast<size_t>(width));
    return 1;
}

}  // namespace

const NamedKernel normalization_kernels[] = {
    {"softmax", share<SOFTMAX>},
    {"log_softmax", share<LOG_SOFTMAX>},
    {"softmax_backward", share_backward<SOFTMAX>},
    {"log_softmax_backward", share_backward<LOG_SOFTMAX>},
    {"layer_norm", layer_norm},
    {"layer_norm_backward", layer_norm_backward},
    {nullptr, nullptr},
};

}  // namespace mindtorch
