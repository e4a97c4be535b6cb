// Which of the loops that add numbers are for an array.
#pragma once

#include "kernels/index.h"
#include "kernels/region.h"

namespace mindtorch {

// A `Sum`, or -1 where there are no such loops.
inline int sum_of(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return FLOAT_SUM;
        case NPY_DOUBLE: return DOUBLE_SUM;
        case NPY_INT64: return LONG_SUM;
        default: return -1;
    }
}

}  // namespace mindtorch
