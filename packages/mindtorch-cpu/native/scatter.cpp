// Gathering and scattering along one dimension, line by line.
#include "index.h"

#include "parallel.h"
#include "region.h"

namespace mindtorch {

namespace {

// The walk over all lines of `index`: how the indexed side and the other side lie beside it.
struct Walk {
    PyArrayObject* index;
    const char* indexed;
    const char* other;
    int ndim, line;
    npy_intp extents[NPY_MAXDIMS], index_steps[NPY_MAXDIMS], indexed_steps[NPY_MAXDIMS], other_steps[NPY_MAXDIMS];
    npy_intp reach, high;

    // False where the dimensions are not those of a walk, or a position is out of range.
    bool set(PyArrayObject* positions, PyArrayObject* reached, PyObject* along) {
        index = positions;
        indexed = PyArray_BYTES(reached);
        ndim = PyArray_NDIM(index);
        if (!PyLong_CheckExact(along) || ndim == 0 || PyArray_NDIM(reached) != ndim) return false;
        long dim = PyLong_AsLong(along);
        if (dim < 0) dim += ndim;
        if (dim < 0 || dim >= ndim) return false;
        line = ndim - 1;
        for (int at = 0; at < ndim; at++) {
            extents[at] = PyArray_DIM(index, at);
            index_steps[at] = PyArray_STRIDE(index, at);
            indexed_steps[at] = at == dim ? 0 : PyArray_STRIDE(reached, at);
            other_steps[at] = 0;
            if (at != dim && extents[at] > PyArray_DIM(reached, at)) return false;
            if (extents[line] < 16 && extents[at] > extents[line]) line = at;
        }
        reach = PyArray_STRIDE(reached, static_cast<int>(dim));
        high = PyArray_DIM(reached, static_cast<int>(dim));
        return true;
    }

    bool set_other(PyArrayObject* array) {
        if (PyArray_NDIM(array) != ndim) return false;
        other = PyArray_BYTES(array);
        for (int at = 0; at < ndim; at++) {
            if (PyArray_DIM(array, at) < extents[at]) return false;
            other_steps[at] = PyArray_STRIDE(array, at);
        }
        return true;
    }

    // Call body(line, positions, start of the indexed side, start of the other).
    template <typename Body>
    bool each(const Body& body) const {
        npy_intp at[NPY_MAXDIMS] = {0};
        const char *positions = PyArray_BYTES(index), *there = indexed, *here = other;
        if (PyArray_SIZE(index) == 0) return true;
        for (;;) {
            if (!body(positions, there, here)) return false;
            int dim = ndim - 1;
            for (; dim >= 0; dim--) {
                if (dim == line) continue;
                positions += index_steps[dim];
                there += indexed_steps[dim];
                here += other_steps[dim];
                if (++at[dim] < extents[dim]) break;
                positions -= index_steps[dim] * extents[dim];
                there -= indexed_steps[dim] * extents[dim];
                here -= other_steps[dim] * extents[dim];
                at[dim] = 0;
            }
            if (dim < 0) return true;
        }
    }

    bool within() const {
        const auto count = static_cast<size_t>(extents[line]);
        if (PyArray_IS_C_CONTIGUOUS(index))
            return index_loops().within(PyArray_BYTES(index), static_cast<size_t>(PyArray_SIZE(index)), 8, 0, high);
        return each([&](const char* positions, const char*, const char*) {
            return index_loops().within(positions, count, index_steps[line], 0, high);
        });
    }
};

PyArrayObject* positions_array(PyObject* given) {
    PyArrayObject* array = plain_array(given);
    return array != nullptr && PyArray_TYPE(array) == NPY_INT64 ? array : nullptr;
}

// Values are (self, dim, index).
int gather(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 3) return 0;
    PyArrayObject *out = plain_array(given, true), *self = plain_array(values[0]), *index = positions_array(values[2]);
    if (out == nullptr || self == nullptr || index == nullptr || PyArray_TYPE(out) != PyArray_TYPE(self)) return 0;
    const int size = size_class(out);
    Walk walk;
    if (size < 0 || may_overlap(out, self) || may_overlap(out, index) || !walk.set(index, self, values[1]) ||
        !walk.set_other(out) || !walk.within())
        return 0;
    walk.each([&](const char* positions, const char* there, const char* here) {
        index_loops().gather[size]({const_cast<char*>(here), there, positions,
                                    static_cast<size_t>(walk.extents[walk.line]), walk.index_steps[walk.line],
                                    walk.reach, walk.indexed_steps[walk.line], walk.other_steps[walk.line]});
        return true;
    });
    return 1;
}

int sum_of(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return FLOAT_SUM;
        case NPY_DOUBLE: return DOUBLE_SUM;
        case NPY_INT64: return LONG_SUM;
        default: return -1;
    }
}

// Write or add `source`, an array or a number.
int put_along(PyObject* given, PyObject* const* values, bool adds) {
    PyArrayObject *out = plain_array(given, true), *self = plain_array(values[0]), *index = positions_array(values[2]);
    if (out == nullptr || self == nullptr || index == nullptr || PyArray_TYPE(out) != PyArray_TYPE(self)) return 0;
    const int size = size_class(out), sum = sum_of(out);
    PyArrayObject* source = plain_array(values[3]);
    char element[16] = {0};
    Walk walk;
    if (size < 0 || (adds && sum < 0) || may_overlap(out, index) || !walk.set(index, out, values[1])) return 0;
    if (source == nullptr) {
        if (!element_from(out, values[3], element)) return 0;
        walk.other = element;
    } else if (PyArray_TYPE(source) != PyArray_TYPE(out) || may_overlap(out, source) || !walk.set_other(source)) {
        return 0;
    }
    if (!walk.within()) return 0;
    if (out != self) {
        Region region;
        if (may_overlap(out, self) || !region_of(region, out, self)) return 0;
        copy_region(region, size);
    }
    const auto loop = adds ? index_loops().scatter_add[sum] : index_loops().scatter[size];
    walk.each([&](const char* positions, const char* there, const char* here) {
        loop({const_cast<char*>(there), here, positions, static_cast<size_t>(walk.extents[walk.line]),
              walk.index_steps[walk.line], walk.reach, walk.indexed_steps[walk.line], walk.other_steps[walk.line]});
        return true;
    });
    return 1;
}

// Values are (self, dim, index, source, reduce, include_self).
int scatter(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    return count == 6 && values[4] == Py_None ? put_along(given, values, false) : 0;
}

int scatter_add(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    return count == 6 ? put_along(given, values, true) : 0;
}

}  // namespace

const NamedKernel scatter_kernels[] = {
    {"gather", gather},
    {"scatter", scatter},
    {"scatter_add", scatter_add},
    {nullptr, nullptr},
};

}  // namespace mindtorch
