// The type of native kernels, and the functions of the module.
#pragma once

#include "mindtorch/entry.h"
#include "mindtorch/kernel.h"
#include "mindtorch/object.h"

namespace mindtorch {

// A native kernel fills `out` from `values` and returns 1; 0 when it does not take these operands (nothing is written
// then, and the numpy kernel runs); -1 with an error set.
using KernelFunction = int (*)(PyObject* out, PyObject* const* values, Py_ssize_t count);

// As above, of an op whose shapes depend on values: the new array, or null without an error when numpy must make it.
using MakingFunction = PyObject* (*)(PyObject* const* values, Py_ssize_t count);

// What a kernel reads and writes itself: operands of reduced precision come to others as float32.
enum Precision { FULL_PRECISION, REDUCED_PRECISION };

// Of which layout a kernel takes arrays: where it declines others, it is given dense copies of them, and what it wrote
// to one is copied back. It fills its outputs whole, then.
enum Layout { ANY_LAYOUT, DENSE_LAYOUT };

constexpr int ALL_DIMENSIONS = -1, NO_DIMENSION = -2;

struct NamedKernel {
    const char* rows;  // of the op table, apart by spaces
    KernelFunction function;
    Precision precision = FULL_PRECISION;
    MakingFunction make = nullptr;  // in `function`'s place
    Layout layout = ANY_LAYOUT;
    // Of a kernel whose lines along a dimension have nothing to do with each other: the place of the dimension among
    // its values; of one whose elements have not, NO_DIMENSION. Where all its arrays lie in one other order it is given
    // them in that order, without copies.
    int along = ALL_DIMENSIONS;
};

struct Kernel {
    PyObject_HEAD vectorcallfunc call;
    mindtorch_kernel form;  // for the native call path; its fallback is numpy's kernel
    KernelFunction function;
    MakingFunction make;
    Layout layout;
    int along;
    PyObject* name;
};

extern PyTypeObject KernelType;

// bfloat16's number among numpy's types, set when the module is installed.
extern int bfloat16_type;

PyObject* use_bfloat16(PyObject* module, PyObject* dtype);
PyObject* kernel(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* kernels(PyObject* module, PyObject* nothing);

PyObject* chain(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* chain_operations();

int use_host_cache();
PyObject* host_cache_capsule();
PyObject* limit_host_cache(PyObject* module, PyObject* bytes);
PyObject* use_huge_pages(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* populate(PyObject* module, PyObject* buffer);
PyObject* empty_host_cache(PyObject* module, PyObject* nothing);
PyObject* host_cache(PyObject* module, PyObject* nothing);

PyObject* draw_from(PyObject* module, PyObject* arguments);

}  // namespace mindtorch
