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
    constexpr int at = static_cast<int>(op);
    const ReducedLoops& reduced = reduced_loops();
    return {pointwise_loops().of(op),
            {&reduced.of[BFLOAT16_FORMAT].pointwise[at], &reduced.of[FLOAT16_FORMAT].pointwise[at]}};
}

template <Pointwise op, int arity>
int same_kind(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == arity ? run_map(maps_of<op>(), out, values, arity) : 0;
}

// False for a number that the elements of `out` do not hold: an error or a conversion, which are for numpy's kernel.
bool fits(PyObject* out, double number) {
    if (!PyArray_CheckExact(out)) return false;
    const int type = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(out));
    if (type == NPY_DOUBLE) return true;
    if (PyTypeNum_ISINTEGER(type) || PyTypeNum_ISBOOL(type)) return fabs(number) <= 0x1p53 && trunc(number) == number;
    return isinf(number) || !(fabs(number) > FLT_MAX);
}

// With torch's `alpha` or `value` as the last of the values, `sign` times.
template <Pointwise op, int arity, int sign>
int scaled(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double number;
    if (count != arity + 1 || !exact_number(values[arity], number) || !fits(out, number)) return 0;
    number *= sign;
    return run_map(maps_of<op>(), out, values, arity, &number);
}

// `other - alpha * self`.
int rsub(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    PyObject* const swapped[] = {values[1], values[0], values[2]};
    return scaled<Pointwise::add, 2, -1>(out, swapped, 3);
}

// Of two or one operands of the same kind, to truth values.
template <Comparison op, int arity>
int comparison(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    if (count != arity || !operation.output(out) || operation.kind() != BOOL_KIND) return 0;
    PyObject* array = PyArray_CheckExact(values[0]) ? values[0] : values[arity - 1];
    if (!PyArray_CheckExact(array)) return 0;
    const Kind kind = kind_of_operand(reinterpret_cast<PyArrayObject*>(array));
    if (kind == KINDS) return 0;
    for (int each = 0; each < arity; each++)
        if (!operation.source(values[each], kind)) return 0;
    return operation.run({&pointwise_loops().of(op)[kind]});
}

int where(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    if (count != 3 || !operation.output(out) || !operation.source(values[0], BOOL_KIND) ||
        !operation.source(values[1], operation.kind()) || !operation.source(values[2], operation.kind()))
        return 0;
    return operation.run({&pointwise_loops().of(Pointwise::where)[operation.kind()]});
}

// Values are (self, mask, number or one element). A number that does not fit is an error, which numpy's kernel raises.
int masked_fill(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    Elementwise operation;
    double number;
    if (count != 3 || !operation.output(out) || operation.is_reduced() || !operation.source(values[1], BOOL_KIND))
        return 0;
    if (operation.kind() == FLOAT_KIND && exact_number(values[2], number) && fabs(number) > FLT_MAX && !isinf(number))
        return 0;
    if (!operation.source(values[2], operation.kind()) || !operation.source(values[0], operation.kind())) return 0;
    return operation.run({&pointwise_loops().of(Pointwise::where)[operation.kind()]});
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
    return run_map(maps_of<Pointwise::nan_to_num>(), out, values, 1, numbers);
}

// Of two equal numbers, which zeros of either sign are, the one that is not the bound.
template <Pointwise op>
int clamp_one(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    PyObject* const swapped[] = {values[1], values[0]};
    return same_kind<op, 2>(out, swapped, 2);
}

// Either bound may be None.
int clamp(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    if (values[1] == Py_None) {
        PyObject* const given[] = {values[0], values[2]};
        return clamp_one<Pointwise::minimum>(out, given, 2);
    }
    return values[2] == Py_None ? clamp_one<Pointwise::maximum>(out, values, 2)
                                : same_kind<Pointwise::clamp, 3>(out, values, 3);
}

int pow(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 2) return 0;
    static const struct {
        double exponent;
        int (*kernel)(PyObject*, PyObject* const*, Py_ssize_t);
    } known[] = {{2, same_kind<Pointwise::square, 1>},      {3, same_kind<Pointwise::cube, 1>},
                 {0.5, same_kind<Pointwise::sqrt, 1>},      {-0.5, same_kind<Pointwise::rsqrt, 1>},
                 {-1, same_kind<Pointwise::reciprocal, 1>}, {-2, same_kind<Pointwise::reciprocal_square, 1>}};
    double exponent;
    if (exact_number(values[1], exponent)) {
        if (exponent == 1 && PyArray_CheckExact(out)) {
            const Kind kind = kind_of_elements(reinterpret_cast<PyArrayObject*>(out));
            if (kind == FLOAT_KIND || kind == DOUBLE_KIND)
                return same_kind<Pointwise::mul, 2>(out, values, 2);  // times one
        }
        for (const auto& one : known)
            if (one.exponent == exponent) return one.kernel(out, values, 1);
    }
    return run_map({function_loops().of(Function::pow)}, out, values, 2);
}

// Each step of a quotient of halves is rounded to that, which is for numpy's kernel.
int floor_divide(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (!PyArray_CheckExact(out) || PyArray_ITEMSIZE(reinterpret_cast<PyArrayObject*>(out)) == 2) return 0;
    return same_kind<Pointwise::floor_divide, 2>(out, values, count);
}

// Outputs are the gradients of input and weight, both of the input's shape; values (grad, input, weight).
int prelu_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2) return 0;
    const int done = same_kind<Pointwise::prelu_slope, 3>(PyTuple_GET_ITEM(outs, 0), values, 3);
    return done == 1 ? same_kind<Pointwise::prelu_weight_slope, 2>(PyTuple_GET_ITEM(outs, 1), values, 2) : done;
}

}  // namespace

#define REDUCED(Op, arity) REDUCED_PRECISION
#define BITS(Op) REDUCED_PRECISION
#define NONE FULL_PRECISION
#define POINTWISE(name, arity, loops, reduced, rows) {rows, same_kind<Pointwise::name, arity>, reduced},
#define COMPARISON(name, arity, Op, rows) {rows, comparison<Comparison::name, arity>, REDUCED_PRECISION},

const NamedKernel pointwise_kernels[] = {
    {"add.Tensor add.Scalar", scaled<Pointwise::add, 2, 1>, REDUCED_PRECISION},
    {"sub.Tensor sub.Scalar", scaled<Pointwise::add, 2, -1>, REDUCED_PRECISION},
    {"rsub.Tensor rsub.Scalar", rsub, REDUCED_PRECISION},
    {"clamp clamp.Tensor", clamp, REDUCED_PRECISION},
    {"clamp_min clamp_min.Tensor", clamp_one<Pointwise::maximum>, REDUCED_PRECISION},
    {"clamp_max clamp_max.Tensor", clamp_one<Pointwise::minimum>, REDUCED_PRECISION},
    {"where.self where.ScalarSelf where.ScalarOther where.Scalar", where},
    {"masked_fill.Scalar masked_fill.Tensor", masked_fill},
    {"nan_to_num", nan_to_num},
    {"floor_divide _div_floor.Tensor _div_floor.Scalar", floor_divide},
    {"_prelu_kernel_backward", prelu_backward},
    {"addcmul", scaled<Pointwise::addcmul, 3, 1>, REDUCED_PRECISION},
    {"addcdiv", scaled<Pointwise::addcdiv, 3, 1>, REDUCED_PRECISION},
    {"pow.Tensor_Scalar pow.Tensor_Tensor", pow, REDUCED_PRECISION},
    MINDTORCH_POINTWISE(POINTWISE) MINDTORCH_COMPARISONS(COMPARISON){nullptr, nullptr},
};

}  // namespace mindtorch
