// Arrays whose channels lie side by side.
#pragma once

#include "mindtorch/object.h"

namespace mindtorch {

// Batches of planes or volumes, (N, C, ...), of the type, without gaps and with the channels of an element side by
// side. False where they are dense in the order of their dimensions as well.
inline bool is_channels_last(PyObject* value, int type) {
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int ndim = PyArray_NDIM(array);
    if (!PyArray_ISBEHAVED_RO(array) || PyArray_TYPE(array) != type || ndim < 4 || PyArray_SIZE(array) == 0 ||
        PyArray_IS_C_CONTIGUOUS(array))
        return false;
    npy_intp step = PyArray_ITEMSIZE(array);
    for (int at = 0; at < ndim; at++) {  // channels, the other dimensions from the last on, the batch
        const int dim = at == 0 ? 1 : at == ndim - 1 ? 0 : ndim - at;
        if (PyArray_DIM(array, dim) != 1 && PyArray_STRIDE(array, dim) != step) return false;
        step *= PyArray_DIM(array, dim);
    }
    return true;
}

inline bool is_channels_last_output(PyObject* value, int type) {
    return is_channels_last(value, type) && PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(value));
}

}  // namespace mindtorch
