// Elementary functions, activations and their backwards where elements are computed as float32 or double; the rest is
// numpy's.
#include "kernels/activation.h"

#include "kernels/elementwise.h"
#include "kernels/operand.h"
#include "kernels/integer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

namespace mindtorch {

namespace {

// What the 65536 values of elements of two bytes become, by functions of one operand and no number, made when it is
// first worth it and kept; null without memory.
const unsigned short* table_of(Map map, Stored format, const void*& kept) {
    constexpr size_t VALUES = 65536, PART = 1024;
    if (kept != nullptr) return static_cast<const unsigned short*>(kept);
    auto* table = static_cast<unsigned short*>(malloc(VALUES * sizeof(unsigned short)));
    if (table == nullptr) return nullptr;
    alignas(64) float values[PART], results[PART];
    unsigned short numbers[PART];
    for (size_t start = 0; start < VALUES; start += PART) {
        for (size_t i = 0; i < PART; i++) numbers[i] = static_cast<unsigned short>(start + i);
        transfer_loops().load[format](values, numbers, 2, PART);
        const void* const in[] = {values};
        map(results, in, PART, nullptr);
        transfer_loops().store[format](table + start, results, 2, PART);
    }
    kept = table;
    return table;
}

// True for an array of elements of two bytes that is large enough for a table.
bool is_reduced_and_large(PyObject* value, Stored& format) {
    constexpr npy_intp MANY = 65536;
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int type = PyArray_TYPE(array);
    if (type != NPY_HALF && type != bfloat16_type) return false;
    format = type == NPY_HALF ? FLOAT16 : BFLOAT16;
    return PyArray_SIZE(array) >= MANY;
}

// A function of one operand that costs more than looking it up, of elements of two bytes: 0 where they are others.
int run_table(Map map, PyObject* out, PyObject* value, const void** kept) {
    Stored format, other;
    if (!is_reduced_and_large(out, format) || !is_reduced_and_large(value, other) || format != other) return 0;
    const unsigned short* table = table_of(map, format, kept[format == BFLOAT16 ? BFLOAT16_FORMAT : FLOAT16_FORMAT]);
    Elementwise operation;
    if (table == nullptr || !operation.output(out) || !operation.source(value, FLOAT_KIND)) return 0;
    operation.table(table);
    const Forms* loops = &function_loops().lookup;
    return operation.run({loops, {loops, loops}});
}

// Those that cost less than looking up their results.
bool is_cheap(Function op) {
    switch (op) {
        case Function::exp:
        case Function::exp2:
        case Function::log:
        case Function::log2:
        case Function::log10:
        case Function::sin:
        case Function::cos:
        case Function::tanh:
        case Function::sigmoid: return function_loops().wide;
        default: return false;
    }
}
bool is_cheap(Activation op) {
    const bool simple = op == Activation::hardswish || op == Activation::hardsigmoid;
    return simple || ((op == Activation::silu || op == Activation::gelu) && function_loops().wide);
}

template <Function op, int arity = 1>
int function(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != arity) return 0;
    const Forms* forms = function_loops().of(op);
    if (arity == 1 && !is_cheap(op)) {
        static const void* tables[REDUCED_FORMATS];
        if (run_table(forms[FLOAT_KIND].form[0], out, values[0], tables) == 1) return 1;
    }
    return run_map({forms}, out, values, arity);
}

// False for finite numbers beyond the largest float, which the kernel in Python refuses.
bool fits_float(double number) { return !(fabs(number) > FLT_MAX) || fabs(number) == HUGE_VAL; }

// `arrays` operands and then `numbers` numbers.
template <Activation op, int arrays, int numbers = 0>
int activation(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != arrays + numbers) return 0;
    const Forms* forms = activation_loops().of(op);
    if (arrays == 1 && numbers == 0 && !is_cheap(op)) {
        static const void* tables[REDUCED_FORMATS];
        if (run_table(forms[FLOAT_KIND].form[0], out, values[0], tables) == 1) return 1;
    }
    double given[MOST_NUMBERS] = {};
    for (int each = 0; each < numbers; each++)
        if (!exact_number(values[arrays + each], given[each]) || !fits_float(given[each])) return 0;
    return run_map({forms}, out, values, arrays, given);
}

// Values are (self, min, max). All is nan where a bound is, and that is numpy's.
int hardtanh(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double low, high;
    if (count != 3 || !exact_number(values[1], low) || !exact_number(values[2], high) || low != low || high != high)
        return 0;
    return activation<Activation::hardtanh, 1, 2>(out, values, count);
}

// Values are (self, eps or None). Each step is rounded to the elements' type, which for halves is numpy's.
int logit(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2 || !PyArray_CheckExact(out) || PyArray_TYPE(reinterpret_cast<PyArrayObject*>(out)) != NPY_FLOAT)
        return 0;
    double bounds[MOST_NUMBERS] = {-HUGE_VAL, HUGE_VAL};
    if (values[1] != Py_None) {
        if (!exact_number(values[1], bounds[0]) || !fits_float(bounds[0])) return 0;
        bounds[1] = 1.0f - static_cast<float>(bounds[0]);
    }
    return run_map({activation_loops().of(Activation::logit)}, out, values, 1, bounds);
}

// gelu's `approximate`: "tanh" or "none".
bool is_tanh(PyObject* approximate) {
    return PyUnicode_Check(approximate) && PyUnicode_CompareWithASCIIString(approximate, "tanh") == 0;
}

int gelu(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    return is_tanh(values[1]) ? activation<Activation::gelu_tanh, 1>(out, values, 1)
                              : activation<Activation::gelu, 1>(out, values, 1);
}

int gelu_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    return is_tanh(values[2]) ? activation<Activation::gelu_tanh_backward, 2>(out, values, 2)
                              : activation<Activation::gelu_backward, 2>(out, values, 2);
}

int leaky_relu_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 4 ? activation<Activation::leaky_relu_backward, 2, 1>(out, values, 3)
                      : 0;  // without self_is_result
}

// Values are (grad, alpha, scale, input_scale, is_result, self_or_result).
int elu_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 6 || !PyBool_Check(values[4])) return 0;
    PyObject* const ordered[] = {values[0], values[5], values[1], values[2], values[3]};
    return values[4] == Py_True ? activation<Activation::elu_backward_of_result, 2, 3>(out, ordered, 5)
                                : activation<Activation::elu_backward, 2, 3>(out, ordered, 5);
}

// Outputs are the result and a buffer, which is not used.
int log_sigmoid(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (!PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2) return 0;
    return activation<Activation::log_sigmoid, 1>(PyTuple_GET_ITEM(outs, 0), values, count);
}

int log_sigmoid_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 3 ? activation<Activation::log_sigmoid_backward, 2>(out, values, 2) : 0;
}

// One half of an array along a dimension, as a view.
PyObject* half(PyObject* whole, long dim, bool second) {
    auto* array = reinterpret_cast<PyArrayObject*>(whole);
    const int ndim = PyArray_NDIM(array);
    npy_intp shape[MOST_DIMENSIONS];
    for (int each = 0; each < ndim; each++) shape[each] = PyArray_DIM(array, each);
    shape[dim] /= 2;
    char* data = PyArray_BYTES(array) + (second ? shape[dim] * PyArray_STRIDE(array, static_cast<int>(dim)) : 0);
    PyArray_Descr* type = PyArray_DESCR(array);
    Py_INCREF(type);
    Ref made(PyArray_NewFromDescr(&PyArray_Type, type, ndim, shape, PyArray_STRIDES(array), data,
                                  PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE, nullptr));
    if (!made || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(made.get()), Py_NewRef(whole)) < 0)
        return nullptr;
    return made.release();
}

// The dimension that is halved; false where it is none.
bool halved(PyObject* whole, PyObject* given, long& dim) {
    if (!PyArray_CheckExact(whole) || !PyLong_CheckExact(given)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(whole);
    dim = integer_of(given);
    if (dim < 0) dim += PyArray_NDIM(array);
    if (dim < 0 || dim >= PyArray_NDIM(array)) return PyErr_Clear(), false;
    return PyArray_DIM(array, static_cast<int>(dim)) % 2 == 0;
}

// Values are (self, dim): the first half by its gate, the second.
int glu(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    long dim;
    if (count != 2 || !halved(values[0], values[1], dim)) return 0;
    Ref value(half(values[0], dim, false)), gate(half(values[0], dim, true));
    if (!value || !gate) return -1;
    PyObject* const given[] = {value.get(), gate.get()};
    return activation<Activation::glu, 2>(out, given, 2);
}

// Values are (grad, self, dim); the output's halves are the gradients of the halves.
int glu_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    long dim;
    if (count != 3 || !halved(values[1], values[2], dim) || !PyArray_CheckExact(out) ||
        !PyArray_SAMESHAPE(reinterpret_cast<PyArrayObject*>(out), reinterpret_cast<PyArrayObject*>(values[1])))
        return 0;
    Ref value(half(values[1], dim, false)), gate(half(values[1], dim, true));
    Ref first(half(out, dim, false)), second(half(out, dim, true));
    if (!value || !gate || !first || !second) return -1;
    PyObject* const to_value[] = {values[0], gate.get()};
    PyObject* const to_gate[] = {values[0], value.get(), gate.get()};
    const int done = activation<Activation::glu, 2>(first.get(), to_value, 2);
    return done != 1 ? done : activation<Activation::glu_gate_backward, 3>(second.get(), to_gate, 3);
}

}  // namespace

#define FUNCTION(name, arity, single, wide, rows) {rows, function<Function::name, arity>, REDUCED_PRECISION},
#define ACTIVATION(name, arrays, numbers, Op, wide, rows) \
    {rows, activation<Activation::name, arrays, numbers>, REDUCED_PRECISION},

const NamedKernel activation_kernels[] = {
    {"gelu", gelu, REDUCED_PRECISION},
    {"gelu_backward", gelu_backward, REDUCED_PRECISION},
    {"hardtanh", hardtanh, REDUCED_PRECISION},
    {"logit", logit},
    {"log_sigmoid_forward", log_sigmoid},
    {"log_sigmoid_backward", log_sigmoid_backward},
    {"leaky_relu_backward", leaky_relu_backward, REDUCED_PRECISION},
    {"elu_backward", elu_backward, REDUCED_PRECISION},
    {"glu", glu, REDUCED_PRECISION},
    {"glu_backward", glu_backward, REDUCED_PRECISION},
    MINDTORCH_FUNCTIONS(FUNCTION) MINDTORCH_ACTIVATIONS(ACTIVATION){nullptr, nullptr},
};

}  // namespace mindtorch
