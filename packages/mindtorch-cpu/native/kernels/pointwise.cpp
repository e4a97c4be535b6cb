// Elementwise arithmetic, comparisons and logic. The driver of elementwise.h takes any strides; what it does not take
// is numpy's.
#include "kernels/pointwise.h"

#include "kernels/activation.h"
#include "kernels/elementwise.h"
#include "kernels/operand.h"

#include <float.h>
#include <math.h>

namespace mindtorch {

namespace {

template <Pointwise op>
Maps maps_of() {
    const ShortLoops& shorts = short_loops();
    return {pointwise_loops().pointwise[op],
            {&shorts.of[BRAIN_FORMAT].pointwise[op], &shorts.of[HALF_FORMAT].pointwise[op]}};
}

template <Pointwise op, int arity>
int same_kind(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == arity ? run_map(maps_of<op>(), out, values, arity) : 0;
}

// With torch's `alpha` or `value` as the last of the values, `sign` times.
template <Pointwise op, int arity, int sign>
int scaled(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double number;
    if (count != arity + 1 || !exact_number(values[arity], number)) return 0;
    number *= sign;
    return run_map(maps_of<op>(), out, values, arity, &number);
}

// `other - alpha * self`.
int subtract_from(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    PyObject* const swapped[] = {values[1], values[0], values[2]};
    return scaled<ADD, 2, -1>(out, swapped, 3);
}

// Of two or one operands of the same kind, to truth values.
template <Comparison op, int arity>
int comparison(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    if (count != arity || !operation.output(out) || operation.kind() != TRUTH) return 0;
    PyObject* array = PyArray_CheckExact(values[0]) ? values[0] : values[arity - 1];
    if (!PyArray_CheckExact(array)) return 0;
    const Kind kind = kind_of_operand(reinterpret_cast<PyArrayObject*>(array));
    if (kind == KINDS) return 0;
    for (int each = 0; each < arity; each++)
        if (!operation.source(values[each], kind)) return 0;
    return operation.run({&pointwise_loops().comparison[op][kind]});
}

int select(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    if (count != 3 || !operation.output(out) || !operation.source(values[0], TRUTH) ||
        !operation.source(values[1], operation.kind()) || !operation.source(values[2], operation.kind()))
        return 0;
    return operation.run({&pointwise_loops().pointwise[SELECT][operation.kind()]});
}

// Values are (self, mask, number or one element). A number that does not fit is an error, which numpy's kernel raises.
int masked_fill(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    double number;
    if (count != 3 || !operation.output(out) || operation.is_short() || !operation.source(values[1], TRUTH)) return 0;
    if (operation.kind() == SINGLE && exact_number(values[2], number) && fabs(number) > FLT_MAX && !isinf(number))
        return 0;
    if (!operation.source(values[2], operation.kind()) || !operation.source(values[0], operation.kind())) return 0;
    return operation.run({&pointwise_loops().pointwise[SELECT][operation.kind()]});
}

// Values are (self, what nan becomes, infinity, minus infinity), None for 0 and the largest numbers.
int nan_to_num(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 4 || !PyArray_CheckExact(out)) return 0;
    auto* array = reinterpret_cast<PyArrayObject*>(out);
    const int type = PyArray_TYPE(array);
    const double most = type == NPY_DOUBLE             ? DBL_MAX
                        : type == NPY_HALF             ? 65504.0
                        : PyArray_ITEMSIZE(array) == 2 ? 3.3895313892515355e38  // bfloat16's
                                                       : FLT_MAX;
    double numbers[3] = {0, most, -most};
    for (int each = 0; each < 3; each++)
        if (values[each + 1] != Py_None && !exact_number(values[each + 1], numbers[each])) return 0;
    return run_map(maps_of<FINITE_NUMBER>(), out, values, 1, numbers);
}

// Of two equal numbers, which zeros of either sign are, the one that is not the bound.
template <Pointwise op>
int bounded(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    PyObject* const swapped[] = {values[1], values[0]};
    return same_kind<op, 2>(out, swapped, 2);
}

// Either bound may be None.
int clamp(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    if (values[1] == Py_None) {
        PyObject* const given[] = {values[0], values[2]};
        return bounded<MINIMUM>(out, given, 2);
    }
    return values[2] == Py_None ? bounded<MAXIMUM>(out, values, 2) : same_kind<CLAMP, 3>(out, values, 3);
}

int power(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    static const struct {
        double exponent;
        int (*kernel)(PyObject*, PyObject* const*, Py_ssize_t);
    } known[] = {{2, same_kind<SQUARE, 1>},        {3, same_kind<CUBE, 1>},
                 {0.5, same_kind<SQUARE_ROOT, 1>}, {-0.5, same_kind<RECIPROCAL_ROOT, 1>},
                 {-1, same_kind<RECIPROCAL, 1>},   {-2, same_kind<RECIPROCAL_SQUARE, 1>}};
    double exponent;
    if (exact_number(values[1], exponent)) {
        if (exponent == 1 && PyArray_CheckExact(out)) {
            const Kind kind = kind_of_elements(reinterpret_cast<PyArrayObject*>(out));
            if (kind == SINGLE || kind == WIDE) return same_kind<MULTIPLY, 2>(out, values, 2);  // times one
        }
        for (const auto& one : known)
            if (one.exponent == exponent) return one.kernel(out, values, 1);
    }
    return run_map({function_loops().function[POWER]}, out, values, 2);
}

}  // namespace

const NamedKernel pointwise_kernels[] = {
    {"add", scaled<ADD, 2, 1>},
    {"sub", scaled<ADD, 2, -1>},
    {"rsub", subtract_from},
    {"mul", same_kind<MULTIPLY, 2>},
    {"div", same_kind<DIVIDE, 2>},
    {"maximum", same_kind<MAXIMUM, 2>},
    {"minimum", same_kind<MINIMUM, 2>},
    {"clamp", clamp},
    {"clamp_min", bounded<MAXIMUM>},
    {"clamp_max", bounded<MINIMUM>},
    {"where", select},
    {"masked_fill", masked_fill},
    {"nan_to_num", nan_to_num},
    {"remainder", same_kind<REMAINDER, 2>},
    {"fmod", same_kind<TRUNCATED_REMAINDER, 2>},
    {"bitwise_left_shift", same_kind<LEFT_SHIFT, 2>},
    {"bitwise_right_shift", same_kind<RIGHT_SHIFT, 2>},
    {"addcmul", scaled<ADD_PRODUCT, 3, 1>},
    {"addcdiv", scaled<ADD_QUOTIENT, 3, 1>},
    {"lerp", same_kind<INTERPOLATE, 3>},
    {"pow", power},
    {"bitwise_and", same_kind<BITWISE_AND, 2>},
    {"bitwise_or", same_kind<BITWISE_OR, 2>},
    {"bitwise_xor", same_kind<BITWISE_XOR, 2>},
    {"bitwise_not", same_kind<BITWISE_NOT, 1>},
    {"eq", comparison<EQUAL, 2>},
    {"ne", comparison<NOT_EQUAL, 2>},
    {"lt", comparison<LESS, 2>},
    {"le", comparison<LESS_EQUAL, 2>},
    {"gt", comparison<GREATER, 2>},
    {"ge", comparison<GREATER_EQUAL, 2>},
    {"logical_and", comparison<LOGICAL_AND, 2>},
    {"logical_or", comparison<LOGICAL_OR, 2>},
    {"logical_xor", comparison<LOGICAL_XOR, 2>},
    {"logical_not", comparison<LOGICAL_NOT, 1>},
    {"isnan", comparison<IS_NAN, 1>},
    {"isinf", comparison<IS_INFINITE, 1>},
    {"isfinite", comparison<IS_FINITE, 1>},
    {"neg", same_kind<NEGATIVE, 1>},
    {"abs", same_kind<ABSOLUTE, 1>},
    {"sqrt", same_kind<SQUARE_ROOT, 1>},
    {"rsqrt", same_kind<RECIPROCAL_ROOT, 1>},
    {"reciprocal", same_kind<RECIPROCAL, 1>},
    {"relu", same_kind<RECTIFY, 1>},
    {"floor", same_kind<FLOOR, 1>},
    {"ceil", same_kind<CEIL, 1>},
    {"round", same_kind<ROUND, 1>},
    {"trunc", same_kind<TRUNC, 1>},
    {"sign", same_kind<SIGN, 1>},
    {nullptr, nullptr},
};

}  // namespace mindtorch
