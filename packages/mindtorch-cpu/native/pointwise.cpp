// Elementwise kernels over dense float32 and float64 operands: equal shapes, numbers, and a right operand that repeats
// along leading dimensions. Everything else is numpy's.
#include "interface.h"
#include "loops.h"

namespace mindtorch {

PyObject* make_kernel(const char* name, KernelFunction function, PyObject* numpy);

namespace {

const Loops* choose_loops() {
#ifdef MINDTORCH_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &loops_v4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        return &loops_v3;
#endif
    return &loops_base;
}

const Loops& loops() {
    static const Loops* const chosen = choose_loops();
    return *chosen;
}

// 0 for float32, 1 for float64, -1 for an array no loop takes.
int kind_of(PyArrayObject* array) {
    if (!PyArray_ISCARRAY_RO(array)) return -1;
    const int type = PyArray_TYPE(array);
    return type == NPY_FLOAT ? 0 : type == NPY_DOUBLE ? 1 : -1;
}

struct Operand {
    const void* data = nullptr;
    npy_intp count = 0;  // elements; 1 for a number
    union {
        float single;
        double wide;
    } number;
};

// True when the operand's memory is not the output's, or all of it in the same order.
bool apart(PyArrayObject* out, const void* data, npy_intp bytes) {
    const char* to = PyArray_BYTES(out);
    const char* from = static_cast<const char*>(data);
    return (from == to && bytes == PyArray_NBYTES(out)) || from + bytes <= to || to + PyArray_NBYTES(out) <= from;
}

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

int run_binary(Binary op, PyArrayObject* out, PyObject* left, PyObject* right) {
    const int kind = kind_of(out);
    if (kind < 0 || !PyArray_ISWRITEABLE(out)) return 0;
    Operand a, b;
    if (!take(left, out, kind, a) || !take(right, out, kind, b)) return 0;
    const npy_intp count = PyArray_SIZE(out);
    if (count == 0) return 1;
    const auto& loop = loops().binary[op];
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
int binary(PyArrayObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 2 ? run_binary(op, out, values[0], values[1]) : 0;
}

// With torch's `alpha`, which is 1 here.
template <Binary op>
int scaled(PyArrayObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 3 && is_one(values[2]) ? run_binary(op, out, values[0], values[1]) : 0;
}

template <Unary op>
int unary(PyArrayObject* out, PyObject* const* values, Py_ssize_t count) {
    const int kind = kind_of(out);
    if (count != 1 || kind < 0 || !PyArray_ISWRITEABLE(out) || !PyArray_CheckExact(values[0])) return 0;
    Operand operand;
    if (!take(values[0], out, kind, operand) || operand.count != PyArray_SIZE(out)) return 0;
    loops().unary[op][kind](PyArray_DATA(out), operand.data, static_cast<size_t>(operand.count));
    return 1;
}

struct Named {
    const char* name;
    KernelFunction function;
};

const Named functions[] = {
    {"add", scaled<ADD>},          {"subtract", scaled<SUBTRACT>}, {"multiply", binary<MULTIPLY>},
    {"divide", binary<DIVIDE>},    {"negative", unary<NEGATIVE>},  {"square_root", unary<SQUARE_ROOT>},
    {"absolute", unary<ABSOLUTE>}, {"rectify", unary<RECTIFY>},
};

PyObject* kernel(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "kernel(name, numpy_kernel)");
        return nullptr;
    }
    for (const Named& one : functions)
        if (PyUnicode_CompareWithASCIIString(arguments[0], one.name) == 0)
            return make_kernel(one.name, one.function, arguments[1]);
    PyErr_SetObject(PyExc_KeyError, arguments[0]);
    return nullptr;
}

PyMethodDef methods[] = {
    {"kernel", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(kernel)), METH_FASTCALL,
     "kernel(name, numpy_kernel): the native kernel `name`; KeyError when there is none."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int add_kernels(PyObject* module) { return PyModule_AddFunctions(module, methods); }

}  // namespace mindtorch
