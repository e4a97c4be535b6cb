// `tensor[...]` by tuples that select views.
#pragma once

#include "call/program.h"

namespace mindtorch {

// The view that ints, slices, None and `...` select, one of them or a tuple; null without an error where there is
// another index, one that is wrong, or where the view would be the tensor itself.
PyObject* subscript(PyObject* tensor, PyObject* index);

}  // namespace mindtorch
