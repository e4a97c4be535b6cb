// What kernels look at in their operands.
#pragma once

#include "kernels/kernel.h"

namespace mindtorch {

// The files of kernels: each has its table, of rows and what fills their outputs.
#define MINDTORCH_KERNEL_FAMILIES(X) \
    X(pointwise)                     \
    X(activation)                    \
    X(softmax_layer_norm)            \
    X(matmul)                        \
    X(quantized)                     \
    X(attention)                     \
    X(conv)                          \
    X(max_pool)                      \
    X(avg_pool)                      \
    X(interpolate)                   \
    X(grid_sample)                   \
    X(reduce)                        \
    X(cumulative)                    \
    X(loss)                          \
    X(batch_norm)                    \
    X(random)                        \
    X(copy)                          \
    X(cat)                           \
    X(pad)                           \
    X(index)                         \
    X(scatter)                       \
    X(embedding)                     \
    X(nonzero)                       \
    X(sort)                          \
    X(kthvalue)                      \
    X(topk)                          \
    X(rnn)                           \
    X(factory)                       \
    X(ctc)                           \
    X(lu)                            \
    X(triangular)                    \
    X(fft)

#define MINDTORCH_DECLARE_KERNELS(family) extern const NamedKernel family##_kernels[];
MINDTORCH_KERNEL_FAMILIES(MINDTORCH_DECLARE_KERNELS)
#undef MINDTORCH_DECLARE_KERNELS

// 0 for float32, 1 for float64, -1 for an array no loop takes.
inline int kind_of(PyArrayObject* array) {
    if (!PyArray_ISCARRAY_RO(array)) return -1;
    const int type = PyArray_TYPE(array);
    return type == NPY_FLOAT ? 0 : type == NPY_DOUBLE ? 1 : -1;
}

// The dense, writable float array that `given` is, else null.
inline PyArrayObject* output(PyObject* given) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return kind_of(array) >= 0 && PyArray_ISWRITEABLE(array) ? array : nullptr;
}

// True when the operand's memory is not the output's, or all of it in the same order.
inline bool apart(PyArrayObject* out, const void* data, npy_intp bytes) {
    const char* to = PyArray_BYTES(out);
    const char* from = static_cast<const char*>(data);
    return (from == to && bytes == PyArray_NBYTES(out)) || from + bytes <= to || to + PyArray_NBYTES(out) <= from;
}

// The elements of a dense float32 array of `count` elements apart from `out`; null for all else.
inline const float* floats(PyObject* value, npy_intp count, PyArrayObject* out) {
    if (!PyArray_CheckExact(value)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    if (kind_of(array) != 0 || PyArray_SIZE(array) != count) return nullptr;
    const void* data = PyArray_DATA(array);
    return out == nullptr || apart(out, data, PyArray_NBYTES(array)) ? static_cast<const float*>(data) : nullptr;
}

// The elements of a dense, writable float32 array of `count` elements, null for all else.
inline float* output_floats(PyObject* given, npy_intp count) {
    PyArrayObject* out = output(given);
    if (out == nullptr || kind_of(out) != 0 || PyArray_SIZE(out) != count) return nullptr;
    return static_cast<float*>(PyArray_DATA(out));
}

}  // namespace mindtorch
