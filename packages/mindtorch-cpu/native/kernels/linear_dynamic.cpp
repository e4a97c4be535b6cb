// Linear layers of packed weights of eight bits, whose inputs are quantized by their own range.
#include "kernels/linear_dynamic.h"

#include "gemm/int8.h"
#include "kernels/operand.h"

namespace mindtorch {

namespace {

// The dense array of the type, with so many dimensions (-1: any), that `given` is; null for all else.
PyArrayObject* dense_array(PyObject* given, int type, int ndim) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    const bool takes = PyArray_TYPE(array) == type && PyArray_ISCARRAY_RO(array);
    return takes && (ndim < 0 || PyArray_NDIM(array) == ndim) ? array : nullptr;
}

}  // namespace

// Values are (input, weight, sums, bias, out_features, scale, zero_point); the weight is (panels, words, columns, 4).
int linear_dynamic_kernel(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 7) return 0;
    PyArrayObject *input = dense_array(values[0], NPY_FLOAT, -1), *weight = dense_array(values[1], NPY_BYTE, 4),
                  *sums = dense_array(values[2], NPY_INT, 1), *out = output(given);
    if (input == nullptr || weight == nullptr || sums == nullptr || out == nullptr || PyArray_NDIM(input) == 0 ||
        PyArray_TYPE(out) != NPY_FLOAT || PyArray_SIZE(input) == 0 || PyArray_SIZE(out) == 0 ||
        !PyLong_Check(values[4]) || !PyFloat_Check(values[5]) || !PyLong_Check(values[6]))
        return 0;
    const auto depth = static_cast<size_t>(PyArray_DIM(input, PyArray_NDIM(input) - 1));
    const auto columns = static_cast<size_t>(PyLong_AsSsize_t(values[4]));
    const size_t panels = (columns + INT8_PANEL - 1) / INT8_PANEL, words = (depth + INT8_WORD - 1) / INT8_WORD;
    const npy_intp* extents = PyArray_DIMS(weight);
    const auto rows = static_cast<size_t>(PyArray_SIZE(input)) / depth;
    const long zero_point = PyLong_AsLong(values[6]);
    if (static_cast<size_t>(extents[0]) != panels || static_cast<size_t>(extents[1]) != words ||
        extents[2] != static_cast<npy_intp>(INT8_PANEL) || extents[3] != static_cast<npy_intp>(INT8_WORD) ||
        static_cast<size_t>(PyArray_SIZE(sums)) != panels * INT8_PANEL ||
        static_cast<size_t>(PyArray_SIZE(out)) != rows * columns || zero_point < -128 || zero_point > 127 ||
        !apart(out, PyArray_DATA(input), PyArray_NBYTES(input)) || PyArray_DATA(out) == PyArray_DATA(input))
        return 0;
    const float* bias = nullptr;
    if (values[3] != Py_None && (bias = floats(values[3], static_cast<npy_intp>(columns), out)) == nullptr) return 0;
    const Int8Linear linear = {rows,
                               columns,
                               depth,
                               static_cast<const float*>(PyArray_DATA(input)),
                               static_cast<const int8_t*>(PyArray_DATA(weight)),
                               static_cast<const int*>(PyArray_DATA(sums)),
                               static_cast<float>(PyFloat_AS_DOUBLE(values[5])),
                               static_cast<int>(zero_point),
                               bias,
                               static_cast<float*>(PyArray_DATA(out))};
    const Outcome outcome = linear_dynamic(linear);
    return outcome == NO_MEMORY ? no_memory(rows * depth) : outcome == DONE;
}

}  // namespace mindtorch
