// `tensor[...]` by tuples that select views.
#pragma once

#include "program.h"

namespace mindtorch {

// The view that a tuple of ints, slices, None and `...` selects; null without an error where there is another index, one
// that is wrong, or where the view would be the tensor itself.
PyObject* subscript(PyObject* tensor, PyObject* items);

}  // namespace mindtorch
