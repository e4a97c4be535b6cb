// What kernels look at in their operands.
#pragma once

#include "call/interface.h"

namespace mindtorch {

extern const NamedKernel pointwise_kernels[];
extern const NamedKernel activation_kernels[];
extern const NamedKernel normalization_kernels[];
extern const NamedKernel reduction_kernels[];
extern const NamedKernel running_kernels[];
extern const NamedKernel loss_kernels[];
extern const NamedKernel channel_norm_kernels[];
extern const NamedKernel matmul_kernels[];
extern const NamedKernel attention_kernels[];
extern const NamedKernel conv_kernels[];
extern const NamedKernel pool_kernels[];
extern const NamedKernel tap_kernels[];
extern const NamedKernel random_kernels[];
extern const NamedKernel copy_kernels[];
extern const NamedKernel join_kernels[];
extern const NamedKernel index_kernels[];
extern const NamedKernel scatter_kernels[];
extern const NamedKernel embedding_kernels[];
extern const NamedKernel selection_kernels[];
extern const NamedKernel sort_kernels[];
extern const NamedKernel rank_kernels[];

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
