// The kernels of linear layers with quantized weights.
#pragma once

#include "kernels/kernel.h"

namespace mindtorch {

int linear_dynamic_kernel(PyObject* out, PyObject* const* values, Py_ssize_t count);
int linear_sums_kernel(PyObject* out, PyObject* const* values, Py_ssize_t count);

}  // namespace mindtorch
