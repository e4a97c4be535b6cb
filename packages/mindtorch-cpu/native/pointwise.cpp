// Elementwise kernels over dense float32 and float64 operands: equal shapes, numbers, and a right operand that repeats
// along leading dimensions. Everything else is numpy's.
#include "pointwise.h"

#include "operand.h"

namespace mindtorch {

namespace {

struct Operand {
    const void* data = nullptr;
    npy_intp count = 0;  // elements; 1 for a number
    union {
        float single;
        double wide;
    } number;
};

// Take an operand: an array whose shape is the last dimensions of the output's, or a number. False when no loop fits.
bool take(PyObject* value, PyArrayObject* out, int kind, Operand& operand) {
    if (PyFloat_CheckExact(value)) {
        const double number = PyFloat_AS_DOUBLE(value);
        if (kind == 0) {
            operand.number.single = static_cast<float>(number);
        } else {
            operand.number.wide = number;
        }
        operand.data = &operand.number;
        operand.count = 1;
        return true;
    }
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int ndim = PyArray_NDIM(array), more = PyArray_NDIM(out) - ndim;
    if (kind_of(array) != kind || more < 0) return false;
    operand.data = PyArray_DATA(array);
    operand.count = PyArray_SIZE(array);
    if (operand.count != 1) {
        for (int dim = 0; dim < ndim; dim++)
            if (PyArray_DIM(array, dim) != PyArray_DIM(out, dim + more)) return false;
    }
    return apart(out, operand.data, operand.count * PyArray_ITEMSIZE(out));
}

int run_binary(Binary op, PyObject* given, PyObject* left, PyObject* right) {
    PyArrayObject* out = output(given);
    if (out == nullptr) return 0;
    const int kind = kind_of(out);
    Operand a, b;
    if (!take(left, out, kind, a) || !take(right, out, kind, b)) return 0;
    const npy_intp count = PyArray_SIZE(out);
    if (count == 0) return 1;
    const auto& loop = pointwise_loops().binary[op];
    void* to = PyArray_DATA(out);
    const auto size = static_cast<size_t>(count);
    if (a.count == count && b.count == count) {
        loop[BOTH][kind](to, a.data, b.data, size);
    } else if (a.count == count && b.count == 1) {
        loop[RIGHT_NUMBER][kind](to, a.data, b.data, size);
    } else if (a.count == 1 && b.count == count) {
        loop[LEFT_NUMBER][kind](to, a.data, b.data, size);
    } else if (a.count == count && b.count >= 8) {
        const npy_intp row = b.count * PyArray_ITEMSIZE(out);
        for (npy_intp at = 0; at < count; at += b.count) {
            const npy_intp bytes = at / b.count * row;
            loop[BOTH][kind](static_cast<char*>(to) + bytes, static_cast<const char*>(a.data) + bytes, b.data,
                             static_cast<size_t>(b.count));
        }
    } else {
        return 0;
    }
    return 1;
}

bool is_one(PyObject* value) { return PyLong_CheckExact(value) && PyLong_AsLong(value) == 1; }

template <Binary op>
int binary(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 2 ? run_binary(op, out, values[0], values[1]) : 0;
}

// With torch's `alpha`, which is 1 here.
template <Binary op>
int scaled(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 3 && is_one(values[2]) ? run_binary(op, out, values[0], values[1]) : 0;
}

template <Unary op>
int unary(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = output(given);
    if (count != 1 || out == nullptr || !PyArray_CheckExact(values[0])) return 0;
    const int kind = kind_of(out);
    Operand operand;
    if (!take(values[0], out, kind, operand) || operand.count != PyArray_SIZE(out)) return 0;
    pointwise_loops().unary[op][kind](PyArray_DATA(out), operand.data, static_cast<size_t>(operand.count));
    return 1;
}

}  // namespace

const NamedKernel pointwise_kernels[] = {
    {"add", scaled<ADD>},
    {"subtract", scaled<SUBTRACT>},
    {"multiply", binary<MULTIPLY>},
    {"divide", binary<DIVIDE>},
    {"negative", unary<NEGATIVE>},
    {"square_root", unary<SQUARE_ROOT>},
    {"absolute", unary<ABSOLUTE>},
    {"rectify", unary<RECTIFY>},
    {nullptr, nullptr},
};

}  // namespace mindtorch
