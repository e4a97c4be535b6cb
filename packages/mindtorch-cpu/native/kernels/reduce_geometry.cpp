#include "kernels/reduce_geometry.h"
#include "kernels/integer.h"

namespace mindtorch {

void Geometry::arrange(Dimension* dims, int& count) {
    for (int last = 1; last < count; last++)
        for (int at = last; at > 0 && dims[at - 1].in < dims[at].in; at--) {
            const Dimension kept = dims[at];
            dims[at] = dims[at - 1];
            dims[at - 1] = kept;
        }
    int made = 0;
    for (int at = 0; at < count; at++) {
        if (made > 0) {
            Dimension& outer = dims[made - 1];
            const auto extent = static_cast<ptrdiff_t>(dims[at].extent);
            if (outer.in == dims[at].in * extent && outer.out == dims[at].out * extent) {
                outer = {outer.extent * dims[at].extent, dims[at].in, dims[at].out};
                continue;
            }
        }
        dims[made++] = dims[at];
    }
    count = made;
}

bool Geometry::take(PyObject* given, PyObject* axes, PyArrayObject* out, bool takes_bfloat16) {
    if (!PyArray_CheckExact(given)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    kind = kind_of_elements(array);
    item = PyArray_ITEMSIZE(array);
    const int ndim = PyArray_NDIM(array);
    bfloat16 = item == 2;
    if (kind == KINDS || (bfloat16 && !takes_bfloat16) || !PyArray_ISBEHAVED_RO(array) || PyArray_SIZE(array) == 0)
        return false;
    bool chosen[MOST_DIMENSIONS] = {};
    if (axes == Py_None) {
        for (int dim = 0; dim < ndim; dim++) chosen[dim] = true;
    } else if (PyTuple_CheckExact(axes)) {
        for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(axes); at++) {
            const long dim = integer_of(PyTuple_GET_ITEM(axes, at));
            if (dim < 0 || dim >= ndim) return PyErr_Clear(), false;
            chosen[dim] = true;
        }
    } else {
        return false;
    }
    const bool same_dims = PyArray_NDIM(out) == ndim;
    int place = 0;
    for (int dim = 0; dim < ndim; dim++) {
        const auto extent = static_cast<size_t>(PyArray_DIM(array, dim));
        const ptrdiff_t step = PyArray_STRIDE(array, dim);
        if (step < 0) return false;
        if (chosen[dim]) {
            terms *= extent;
            if (extent > 1) reduced[reduced_count++] = {extent, step, 0};
        } else {
            const int to = same_dims ? dim : place++;
            if (to >= PyArray_NDIM(out) || static_cast<size_t>(PyArray_DIM(out, to)) != extent) return false;
            results *= extent;
            if (extent > 1) kept[kept_count++] = {extent, step, PyArray_STRIDE(out, to)};
        }
    }
    if (static_cast<size_t>(PyArray_SIZE(out)) != results || reduced_count == 0) return false;
    in = PyArray_BYTES(array);
    arrange(kept, kept_count);
    arrange(reduced, reduced_count);
    return true;
}

ptrdiff_t Geometry::offset(const Dimension* dims, int count, size_t index, bool out) {
    ptrdiff_t bytes = 0;
    for (int at = count - 1; at >= 0 && index > 0; at--) {
        bytes += (out ? dims[at].out : dims[at].in) * static_cast<ptrdiff_t>(index % dims[at].extent);
        index /= dims[at].extent;
    }
    return bytes;
}

}  // namespace mindtorch
