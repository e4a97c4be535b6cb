// Activations and their backwards on dense float32 operands; everything else is numpy's.
#include "activation.h"

#include "operand.h"

namespace mindtorch {

namespace {

int run_activation(Activation op, PyObject* given, PyObject* operand) {
    PyArrayObject* out = output(given);
    if (out == nullptr || kind_of(out) != 0) return 0;
    const npy_intp count = PyArray_SIZE(out);
    const float* in = floats(operand, count, out);
    if (in == nullptr) return 0;
    activation_loops().activation[op](static_cast<float*>(PyArray_DATA(out)), in, static_cast<size_t>(count));
    return 1;
}

int run_slope(Slope op, PyObject* given, PyObject* gradient, PyObject* operand) {
    PyArrayObject* out = output(given);
    if (out == nullptr || kind_of(out) != 0) return 0;
    const npy_intp count = PyArray_SIZE(out);
    const float *grad = floats(gradient, count, out), *in = floats(operand, count, out);
    if (grad == nullptr || in == nullptr) return 0;
    activation_loops().slope[op](static_cast<float*>(PyArray_DATA(out)), grad, in, static_cast<size_t>(count));
    return 1;
}

// gelu's `approximate`: "tanh" or "none".
bool is_tanh(PyObject* approximate) {
    return PyUnicode_Check(approximate) && PyUnicode_CompareWithASCIIString(approximate, "tanh") == 0;
}

template <Activation op>
int activation(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 1 ? run_activation(op, out, values[0]) : 0;
}

int gelu(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 2 ? run_activation(is_tanh(values[1]) ? GELU_BY_TANGENT : GELU, out, values[0]) : 0;
}

int gelu_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    return run_slope(is_tanh(values[2]) ? GELU_BY_TANGENT_SLOPE : GELU_SLOPE, out, values[0], values[1]);
}

}  // namespace

const NamedKernel activation_kernels[] = {
    {"exponential", activation<EXPONENTIAL>},
    {"hyperbolic_tangent", activation<TANGENT>},
    {"error_function", activation<ERROR_FUNCTION>},
    {"sigmoid", activation<SIGMOID>},
    {"silu", activation<SILU>},
    {"gelu", gelu},
    {"gelu_backward", gelu_backward},
    {nullptr, nullptr},
};

}  // namespace mindtorch
