// The kernel of linear layers whose inputs are quantized when they come.
#pragma once

#include "kernels/kernel.h"

namespace mindtorch {

int linear_dynamic_kernel(PyObject* out, PyObject* const* values, Py_ssize_t count);

}  // namespace mindtorch
