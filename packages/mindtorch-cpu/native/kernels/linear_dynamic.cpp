// Linear layers of packed weights of eight bits, whose inputs are quantized by their own range, or were before.
#include "kernels/linear_dynamic.h"

#include "gemm/int8.h"
#include "kernels/integer.h"
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

// A weight of `columns` rows by `depth`, and the sums of its rows, packed as the product reads it.
bool is_packed(PyArrayObject* weight, PyArrayObject* sums, size_t columns, size_t depth) {
    const size_t panels = (columns + INT8_PANEL - 1) / INT8_PANEL, words = (depth + INT8_WORD - 1) / INT8_WORD;
    const npy_intp* extents = PyArray_DIMS(weight);
    return static_cast<size_t>(extents[0]) == panels && static_cast<size_t>(extents[1]) == words &&
           extents[2] == static_cast<npy_intp>(INT8_PANEL) && extents[3] == static_cast<npy_intp>(INT8_WORD) &&
           static_cast<size_t>(PyArray_SIZE(sums)) == panels * INT8_PANEL;
}

bool is_byte(long number) { return number >= -128 && number <= 127; }

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
    const auto rows = static_cast<size_t>(PyArray_SIZE(input)) / depth;
    const long zero_point = PyLong_AsLong(values[6]);
    if (!is_packed(weight, sums, columns, depth) || static_cast<size_t>(PyArray_SIZE(out)) != rows * columns ||
        !is_byte(zero_point) || !apart(out, PyArray_DATA(input), PyArray_NBYTES(input)) ||
        PyArray_DATA(out) == PyArray_DATA(input))
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

// Values are (input, weight, sums, out_features, input_zero, weight_zero).
int linear_sums_kernel(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    constexpr npy_intp MOST_DEPTH = 1 << 16;  // sums of products of bytes fit into 32 bits
    if (count != 6) return 0;
    PyArrayObject *input = dense_array(values[0], NPY_UBYTE, 2), *weight = dense_array(values[1], NPY_BYTE, 4),
                  *sums = dense_array(values[2], NPY_INT, 1), *out = output(given);
    if (input == nullptr || weight == nullptr || sums == nullptr || out == nullptr || PyArray_TYPE(out) != NPY_FLOAT ||
        PyArray_SIZE(input) == 0 || PyArray_SIZE(out) == 0)
        return 0;
    const long features = integer_of(values[3]), zero = integer_of(values[4]), weight_zero = integer_of(values[5]);
    const npy_intp rows = PyArray_DIM(input, 0), depth = PyArray_DIM(input, 1);
    if (features < 1 || zero < 0 || zero > 255 || !is_byte(weight_zero) || depth >= MOST_DEPTH ||
        PyArray_SIZE(out) != rows * features ||
        !is_packed(weight, sums, static_cast<size_t>(features), static_cast<size_t>(depth)) ||
        !apart(out, PyArray_DATA(input), PyArray_NBYTES(input)))
        return 0;
    const Int8Sums linear = {static_cast<size_t>(rows),
                             static_cast<size_t>(features),
                             static_cast<size_t>(depth),
                             static_cast<const uint8_t*>(PyArray_DATA(input)),
                             static_cast<int>(zero),
                             static_cast<const int8_t*>(PyArray_DATA(weight)),
                             static_cast<const int*>(PyArray_DATA(sums)),
                             static_cast<int>(weight_zero),
                             static_cast<float*>(PyArray_DATA(out))};
    const Outcome outcome = linear_sums(linear);
    return outcome == NO_MEMORY ? no_memory(static_cast<size_t>(rows * depth)) : outcome == DONE;
}

}  // namespace mindtorch
