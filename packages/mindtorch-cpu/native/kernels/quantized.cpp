// Integers that stand for numbers: made of numbers and turned into them, added, multiplied, and made of sums.
#include "kernels/quantized.h"

#include <math.h>

#include "kernels/integer.h"
#include "kernels/linear_dynamic.h"
#include "kernels/pooling.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

// Of which of the three kinds a dense array of integers is; -1 for all else.
int kind_of_integers(PyObject* value) {
    return dense(value, NPY_UBYTE)  ? BYTES
           : dense(value, NPY_BYTE) ? SIGNED_BYTES
           : dense(value, NPY_INT)  ? INTEGERS
                                    : -1;
}

Range range_of(int kind) {
    return kind == BYTES ? Range{0, 255} : kind == SIGNED_BYTES ? Range{-128, 127} : Range{-0x1p31, 0x1p31 - 1};
}

bool integer_in(PyObject* value, Range range, int& number) {
    const long found = integer_of(value);
    number = static_cast<int>(found);
    return static_cast<double>(found) >= range.least && static_cast<double>(found) <= range.most;
}

bool float_of(PyObject* value, float& number) {
    double found;
    if (!double_of(value, found)) return false;
    number = static_cast<float>(found);
    return true;
}

bool same_size(PyObject* one, PyObject* other) { return PyArray_SIZE(array_of(one)) == PyArray_SIZE(array_of(other)); }

template <typename T>
T* data_of(PyObject* value) {
    return static_cast<T*>(PyArray_DATA(array_of(value)));
}

size_t size_of(PyObject* value) { return static_cast<size_t>(PyArray_SIZE(array_of(value))); }

// Values are (numbers, scale, zero_point).
int levels(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const int kind = kind_of_integers(out);
    float scale;
    int zero_point;
    if (count != 3 || kind < 0 || !dense(values[0], NPY_FLOAT) || !float_of(values[1], scale) ||
        !integer_in(values[2], range_of(kind), zero_point) || !same_size(out, values[0]) || !separate(out, values[0]))
        return 0;
    const float inverse = 1.0f / scale, *in = data_of<float>(values[0]);
    parallel(size_of(out), GRAIN, [&](size_t from, size_t to) {
        if (kind == INTEGERS)
            quantized_loops().wide_levels(data_of<int32_t>(out) + from, in + from, to - from, inverse, zero_point,
                                          range_of(kind));
        else
            quantized_loops().levels(data_of<uint8_t>(out) + from, in + from, to - from, inverse, zero_point,
                                     range_of(kind));
    });
    return 1;
}

// Values are (integers, scale, zero_point).
int numbers_of(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    const int kind = kind_of_integers(values[0]);
    float scale;
    int zero_point;
    if (kind < 0 || !dense(out, NPY_FLOAT) || !float_of(values[1], scale) ||
        !integer_in(values[2], range_of(INTEGERS), zero_point) || !same_size(out, values[0]) ||
        !separate(out, values[0]))
        return 0;
    const ptrdiff_t size = PyArray_ITEMSIZE(array_of(values[0]));
    parallel(size_of(out), GRAIN, [&](size_t from, size_t to) {
        quantized_loops().numbers[kind](data_of<float>(out) + from,
                                        data_of<char>(values[0]) + static_cast<ptrdiff_t>(from) * size, to - from,
                                        scale, zero_point);
    });
    return 1;
}

// Values are (integers, least, most).
int clamp(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const int kind = kind_of_integers(out);
    int least, most;
    if (count != 3 || kind < 0 || kind_of_integers(values[0]) != kind ||
        !integer_in(values[1], range_of(kind), least) || !integer_in(values[2], range_of(kind), most) ||
        !same_size(out, values[0]) || !separate(out, values[0]))
        return 0;
    const ptrdiff_t size = PyArray_ITEMSIZE(array_of(out));
    parallel(size_of(out), GRAIN, [&](size_t from, size_t to) {
        const ptrdiff_t at = static_cast<ptrdiff_t>(from) * size;
        quantized_loops().clamp[kind](data_of<char>(out) + at, data_of<char>(values[0]) + at, to - from, least, most);
    });
    return 1;
}

// Two operands and a result of bytes; its kind, -1 for all else.
int pair_of(PyObject* out, PyObject* const* values) {
    const int kind = kind_of_integers(out);
    if (kind != BYTES && kind != SIGNED_BYTES) return -1;
    for (int each = 0; each < 2; each++)
        if (kind_of_integers(values[each]) != kind || !PyArray_SAMESHAPE(array_of(values[each]), array_of(out)) ||
            !separate(out, values[each]))
            return -1;
    return kind;
}

// Values are (a, b, scale and zero point of a, those of b, those of the sum, relu, part). Torch's threads take `part`
// elements each, in vectors of 64; 0: all are in vectors.
int add(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    constexpr size_t VECTORS = 64;
    if (count != 10) return 0;
    const int kind = pair_of(out, values);
    if (kind < 0) return 0;
    const Range range = range_of(kind);
    BinaryScales p = {};
    Py_ssize_t part;
    if (!float_of(values[2], p.scales[0]) || !integer_in(values[3], range, p.zero_points[0]) ||
        !float_of(values[4], p.scales[1]) || !integer_in(values[5], range, p.zero_points[1]) ||
        !float_of(values[6], p.scale) || !integer_in(values[7], range, p.zero_point) || !PyBool_Check(values[8]) ||
        !index_of(values[9], part) || part < 0)
        return 0;
    p.relu = values[8] == Py_True;
    const size_t size = size_of(out), length = part == 0 ? size : static_cast<size_t>(part);
    const uint8_t *a = data_of<uint8_t>(values[0]), *b = data_of<uint8_t>(values[1]);
    if (size == 0) return 1;
    parallel((size + length - 1) / length, length < GRAIN ? GRAIN / length : 1, [&](size_t from, size_t to) {
        for (size_t at = from * length; at < to * length && at < size; at += length) {
            const size_t many = size - at < length ? size - at : length;
            quantized_loops().add[kind](data_of<uint8_t>(out) + at, a + at, b + at,
                                        part == 0 ? many : many / VECTORS * VECTORS, many, p, range);
        }
    });
    return 1;
}

// Values are (a, b, factor, the zero points of a, b and the product, relu).
int mul(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 7) return 0;
    const int kind = pair_of(out, values);
    if (kind < 0) return 0;
    const Range range = range_of(kind);
    BinaryScales p = {};
    if (!float_of(values[2], p.factor) || !integer_in(values[3], range, p.zero_points[0]) ||
        !integer_in(values[4], range, p.zero_points[1]) || !integer_in(values[5], range, p.zero_point) ||
        !PyBool_Check(values[6]))
        return 0;
    p.relu = values[6] == Py_True;
    const uint8_t *a = data_of<uint8_t>(values[0]), *b = data_of<uint8_t>(values[1]);
    parallel(size_of(out), GRAIN, [&](size_t from, size_t to) {
        quantized_loops().mul[kind](data_of<uint8_t>(out) + from, a + from, b + from, to - from, p, range);
    });
    return 1;
}

// Factors and addends of all columns, from one scale or one of each column; null without memory.
bool prepare(PyObject* const* values, float input_scale, float scale, size_t columns, Requantization& r) {
    auto* made = static_cast<float*>(scratch(2 * columns * sizeof(float)));
    if (made == nullptr) return false;
    const float *scales = data_of<float>(values[1]), *bias = values[2] == Py_None ? nullptr : data_of<float>(values[2]);
    const size_t step = size_of(values[1]) == 1 ? 0 : 1;
    for (size_t j = 0; j < columns; j++) {
        const float factor = input_scale * scales[j * step];
        made[j] = r.scaled_bias ? factor / scale : factor;
        made[columns + j] = bias == nullptr ? 0.0f : r.scaled_bias ? bias[j] / factor : bias[j];
    }
    r.factors = made;
    r.bias = made + columns;
    r.inverse_scale = 1.0f / scale;
    return true;
}

// Values are (sums, scales, bias, input_scale, scale, zero_point, scaled_bias, relu).
int requantize(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    const int kind = kind_of_integers(out);
    if (count != 8 || (kind != BYTES && kind != SIGNED_BYTES) || !dense(values[0], NPY_FLOAT) ||
        !dense(values[1], NPY_FLOAT) || PyArray_NDIM(array_of(values[0])) == 0 ||
        !PyArray_SAMESHAPE(array_of(values[0]), array_of(out)) || !separate(out, values[0]) ||
        !separate(out, values[1]) || !PyBool_Check(values[6]) || !PyBool_Check(values[7]))
        return 0;
    const size_t size = size_of(out);
    const auto columns = static_cast<size_t>(PyArray_DIM(array_of(out), PyArray_NDIM(array_of(out)) - 1));
    if (size == 0 || (size_of(values[1]) != 1 && size_of(values[1]) != columns)) return 0;
    if (values[2] != Py_None &&
        (!dense(values[2], NPY_FLOAT) || size_of(values[2]) != columns || !separate(out, values[2])))
        return 0;
    float input_scale, scale;
    Requantization r = {};
    r.scaled_bias = values[6] == Py_True, r.relu = values[7] == Py_True;
    if (!float_of(values[3], input_scale) || !float_of(values[4], scale) ||
        !integer_in(values[5], range_of(kind), r.zero_point))
        return 0;
    if (!prepare(values, input_scale, scale, columns, r)) return no_memory(columns);
    parallel(size / columns, GRAIN / columns + 1, [&](size_t from, size_t to) {
        for (size_t at = from * columns; at < to * columns; at += columns)
            quantized_loops().requantize(data_of<uint8_t>(out) + at, data_of<float>(values[0]) + at, columns, r,
                                         range_of(kind));
    });
    return 1;
}

}  // namespace

const NamedKernel quantized_kernels[] = {
    {"quantized::_levels", levels, FULL_PRECISION, nullptr, DENSE_LAYOUT, NO_DIMENSION},
    {"quantized::_numbers", numbers_of, FULL_PRECISION, nullptr, DENSE_LAYOUT, NO_DIMENSION},
    {"quantized::_clamp", clamp, FULL_PRECISION, nullptr, DENSE_LAYOUT, NO_DIMENSION},
    {"quantized::_add", add, FULL_PRECISION, nullptr, ANY_LAYOUT, NO_DIMENSION},
    {"quantized::_mul", mul, FULL_PRECISION, nullptr, DENSE_LAYOUT, NO_DIMENSION},
    {"quantized::_requantize", requantize, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"quantized::_linear_dynamic", linear_dynamic_kernel, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"quantized::_linear_sums", linear_sums_kernel, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
