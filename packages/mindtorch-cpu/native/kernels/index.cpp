// Picking and writing by positions: one kernel finds where each position lies, loops move the rows that lie there.
#include "kernels/index.h"

#include "parallel.h"
#include "kernels/index_sum.h"
#include "kernels/integer.h"
#include "kernels/region.h"

#include <memory>
#include <new>

namespace mindtorch {

namespace {

PyArrayObject* positions_array(PyObject* given) {
    PyArrayObject* array = plain_array(given);
    return array != nullptr && PyArray_TYPE(array) == NPY_INT64 ? array : nullptr;
}

// Where the indexed dimensions of an array lead: `count` offsets, of the shape that the positions have together.
struct Offsets {
    std::unique_ptr<int64_t[]> items;
    size_t count = 0;
    int ndim = 0;
    bool empty = true;  // nothing was added yet
    npy_intp extents[MOST_DIMENSIONS];

    // Take the common shape of the positions; false where they have none.
    bool shape_of(PyArrayObject* const* positions, int many) {
        for (int k = 0; k < many; k++) ndim = PyArray_NDIM(positions[k]) > ndim ? PyArray_NDIM(positions[k]) : ndim;
        count = 1;
        for (int dim = 0; dim < ndim; dim++) {
            extents[dim] = 1;
            for (int k = 0; k < many; k++) {
                const int place = dim - (ndim - PyArray_NDIM(positions[k]));
                const npy_intp extent = place < 0 ? 1 : PyArray_DIM(positions[k], place);
                if (extent == 1) continue;
                if (extents[dim] != 1 && extents[dim] != extent) return false;
                extents[dim] = extent;
            }
            count *= static_cast<size_t>(extents[dim]);
        }
        items.reset(new (std::nothrow) int64_t[count > 0 ? count : 1]);
        return items != nullptr;
    }

    // Add one dimension's share; false where a position is outside low..extent-1.
    bool add(PyArrayObject* positions, npy_intp extent, npy_intp step, npy_intp low) {
        if (count == 0) return true;
        npy_intp steps[MOST_DIMENSIONS], at[MOST_DIMENSIONS] = {0};
        for (int dim = 0; dim < ndim; dim++) {
            const int place = dim - (ndim - PyArray_NDIM(positions));
            steps[dim] = place < 0 || PyArray_DIM(positions, place) == 1 ? 0 : PyArray_STRIDE(positions, place);
        }
        const int last = ndim - 1;
        const size_t line = ndim > 0 ? static_cast<size_t>(extents[last]) : 1;
        const npy_intp line_step = ndim > 0 ? steps[last] : 0;
        const char* from = PyArray_BYTES(positions);
        for (size_t start = 0; start < count; start += line) {
            if (!index_loops().within(from, line, line_step, low, extent)) return false;
            index_loops().offsets(items.get() + start, from, line, line_step, extent, step, !empty);
            for (int dim = last - 1; dim >= 0; dim--) {
                from += steps[dim];
                if (++at[dim] < extents[dim]) break;
                from -= steps[dim] * extents[dim];
                at[dim] = 0;
            }
        }
        empty = false;
        return true;
    }
};

// An array seen as [before, positions, after]: the dimensions in front of the indexed ones, and the bytes behind them,
// which lie together.
struct Frame {
    PyArrayObject* array;
    int first, many;
    size_t before = 1, bytes;

    bool set(PyArrayObject* whole, int at, int indexed) {
        array = whole;
        first = at;
        many = indexed;
        bytes = static_cast<size_t>(PyArray_ITEMSIZE(array));
        for (int dim = PyArray_NDIM(array) - 1; dim >= first + many; dim--) {
            if (PyArray_DIM(array, dim) != 1 && PyArray_STRIDE(array, dim) != static_cast<npy_intp>(bytes))
                return false;
            bytes *= static_cast<size_t>(PyArray_DIM(array, dim));
        }
        for (int dim = 0; dim < first; dim++) before *= static_cast<size_t>(PyArray_DIM(array, dim));
        return true;
    }

    npy_intp offset(size_t number) const {
        npy_intp found = 0;
        for (int dim = first - 1; dim >= 0; dim--) {
            const auto extent = static_cast<size_t>(PyArray_DIM(array, dim));
            found += static_cast<npy_intp>(number % extent) * PyArray_STRIDE(array, dim);
            number /= extent;
        }
        return found;
    }
};

bool is_contiguous(PyArrayObject* array) { return PyArray_IS_C_CONTIGUOUS(array); }

int pick(PyArrayObject* out, const Frame& frame, const Offsets& offsets) {
    if (!is_contiguous(out) || may_overlap(out, frame.array) ||
        static_cast<size_t>(PyArray_NBYTES(out)) != frame.before * offsets.count * frame.bytes)
        return 0;
    if (PyArray_SIZE(out) == 0) return 1;
    const size_t grain = GRAIN * 4 / frame.bytes + 1;
    for (size_t number = 0; number < frame.before; number++) {
        const char* from = PyArray_BYTES(frame.array) + frame.offset(number);
        char* to = PyArray_BYTES(out) + number * offsets.count * frame.bytes;
        parallel(offsets.count, grain, [&](size_t start, size_t end) {
            index_loops().pick_rows({to + start * frame.bytes, from, offsets.items.get() + start, end - start,
                                     frame.bytes, static_cast<ptrdiff_t>(frame.bytes)});
        });
    }
    return 1;
}

// One vector of positions along `dim`, none of them below zero.
bool along(PyArrayObject* array, PyObject* dim, PyObject* index, Frame& frame, Offsets& offsets) {
    npy_intp number;
    PyArrayObject* positions = positions_array(index);
    if (positions == nullptr || PyArray_NDIM(array) == 0 || PyArray_NDIM(positions) > 1 || !index_of(dim, number))
        return false;
    if (number < 0) number += PyArray_NDIM(array);
    if (number < 0 || number >= PyArray_NDIM(array)) return false;
    const int at = static_cast<int>(number);
    return frame.set(array, at, 1) && offsets.shape_of(&positions, 1) &&
           offsets.add(positions, PyArray_DIM(array, at), PyArray_STRIDE(array, at), 0);
}

// Values are (self, dim, index).
int index_select(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject *out = plain_array(given, true), *from = count == 3 ? plain_array(values[0]) : nullptr;
    Frame frame;
    Offsets offsets;
    if (out == nullptr || from == nullptr || PyArray_TYPE(out) != PyArray_TYPE(from) || size_class(out) < 0 ||
        !along(from, values[1], values[2], frame, offsets))
        return 0;
    return pick(out, frame, offsets);
}

// A list of positions for adjacent dimensions, None for those in front of them and behind.
bool together(PyArrayObject* array, PyObject* indices, Frame& frame, Offsets& offsets) {
    if (!PyList_CheckExact(indices) && !PyTuple_CheckExact(indices)) return false;
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(indices);
    PyArrayObject* positions[MOST_DIMENSIONS];
    int first = 0, many = 0;
    if (size > PyArray_NDIM(array)) return false;
    for (Py_ssize_t dim = 0; dim < size; dim++) {
        PyObject* index = PySequence_Fast_GET_ITEM(indices, dim);
        if (index == Py_None) continue;
        if (many == 0) first = static_cast<int>(dim);
        positions[many] = positions_array(index);
        if (positions[many] == nullptr || first + many != dim) return false;
        many++;
    }
    if (many == 0 || !frame.set(array, first, many) || !offsets.shape_of(positions, many)) return false;
    for (int k = 0; k < many; k++) {
        const npy_intp extent = PyArray_DIM(array, first + k);
        if (!offsets.add(positions[k], extent, PyArray_STRIDE(array, first + k), -extent)) return false;
    }
    return true;
}

// Values are (self, indices).
int index(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject *out = plain_array(given, true), *from = count == 2 ? plain_array(values[0]) : nullptr;
    Frame frame;
    Offsets offsets;
    if (out == nullptr || from == nullptr || PyArray_TYPE(out) != PyArray_TYPE(from) || size_class(out) < 0 ||
        !together(from, values[1], frame, offsets))
        return 0;
    return pick(out, frame, offsets);
}

// True when `values` has the shape of what the frame's positions pick.
bool has_shape_of(PyArrayObject* values, const Frame& frame, const Offsets& offsets) {
    int dim = 0;
    if (PyArray_NDIM(values) != PyArray_NDIM(frame.array) - frame.many + offsets.ndim) return false;
    for (int at = 0; at < frame.first; at++)
        if (PyArray_DIM(values, dim++) != PyArray_DIM(frame.array, at)) return false;
    for (int at = 0; at < offsets.ndim; at++)
        if (PyArray_DIM(values, dim++) != offsets.extents[at]) return false;
    for (int at = frame.first + frame.many; at < PyArray_NDIM(frame.array); at++)
        if (PyArray_DIM(values, dim++) != PyArray_DIM(frame.array, at)) return false;
    return true;
}

// The output as the operand is, where it is not the operand; false where no loop does it.
bool start_from(PyArrayObject* out, PyArrayObject* self, int size) {
    if (out == self) return true;
    Region region;
    if (may_overlap(out, self) || !region_of(region, out, self)) return false;
    copy_region(region, size);
    return true;
}

// Blocks in front of the indexed dimensions that are not worth a second thread.
size_t blocks_grain(const Frame& frame, const Offsets& offsets) {
    return GRAIN * 4 / (offsets.count * frame.bytes + 1) + 1;
}

// One number into all elements of rows.
void place_number(PyArrayObject* out, const Frame& frame, const Offsets& offsets, const char* number, int size) {
    parallel(frame.before, blocks_grain(frame, offsets), [&](size_t from, size_t to) {
        for (size_t block = from; block < to; block++)
            index_loops().fill_rows[size](
                {PyArray_BYTES(out) + frame.offset(block), number, offsets.items.get(), offsets.count, frame.bytes, 0});
    });
}

// Write, or add, whole rows.
void put_rows(PyArrayObject* out, const Frame& frame, const Offsets& offsets, PyArrayObject* values, int sum,
              double factor) {
    parallel(frame.before, blocks_grain(frame, offsets), [&](size_t from, size_t to) {
        for (size_t number = from; number < to; number++) {
            const PickedRows rows = {PyArray_BYTES(out) + frame.offset(number),
                                     PyArray_BYTES(values) + number * offsets.count * frame.bytes,
                                     offsets.items.get(),
                                     offsets.count,
                                     frame.bytes,
                                     static_cast<ptrdiff_t>(frame.bytes)};
            if (sum < 0) {
                index_loops().place_rows(rows);
            } else {
                index_loops().add_rows[sum](rows, factor);
            }
        }
    });
}

// A mask of the output's shape, and one number where it holds.
int put_under_mask(PyArrayObject* out, PyArrayObject* self, PyObject* index, PyArrayObject* values) {
    PyArrayObject* mask = plain_array(index);
    if (mask == nullptr || PyArray_TYPE(mask) != NPY_BOOL || !is_contiguous(mask) || !is_contiguous(out) ||
        PyArray_NDIM(mask) != PyArray_NDIM(out) ||
        !PyArray_CompareLists(PyArray_DIMS(mask), PyArray_DIMS(out), PyArray_NDIM(out)))
        return 0;
    const int size = size_class(out);
    if (may_overlap(out, mask) || may_overlap(out, values) || !start_from(out, self, size)) return 0;
    const auto* holds = static_cast<const uint8_t*>(PyArray_DATA(mask));
    parallel(static_cast<size_t>(PyArray_SIZE(out)), GRAIN, [&](size_t from, size_t to) {
        index_loops().fill_under[size](PyArray_BYTES(out) + (from << size), holds + from, PyArray_BYTES(values),
                                       to - from);
    });
    return 1;
}

// Values are (self, indices, values, accumulate).
int index_put(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 4) return 0;
    PyArrayObject *out = plain_array(given, true), *self = plain_array(values[0]), *numbers = plain_array(values[2]);
    if (out == nullptr || self == nullptr || numbers == nullptr || PyArray_TYPE(out) != PyArray_TYPE(self) ||
        PyArray_TYPE(out) != PyArray_TYPE(numbers) || size_class(out) < 0)
        return 0;
    const bool one = PyArray_SIZE(numbers) == 1, adds = values[3] == Py_True;
    if (one && !adds && PyList_CheckExact(values[1]) && PyList_GET_SIZE(values[1]) == 1 &&
        put_under_mask(out, self, PyList_GET_ITEM(values[1], 0), numbers) == 1)
        return 1;
    Frame frame;
    Offsets offsets;
    if (!together(out, values[1], frame, offsets) || may_overlap(out, numbers)) return 0;
    const bool whole = has_shape_of(numbers, frame, offsets);
    const int sum = adds ? sum_of(out) : -1;
    Ref dense;  // gradients of sums and of joined tensors are spread or have gaps
    if (whole && !is_contiguous(numbers)) {
        dense.reset(PyArray_NewCopy(numbers, NPY_CORDER));
        if (!dense) return -1;
        numbers = reinterpret_cast<PyArrayObject*>(dense.get());
    }
    if ((!whole && (!one || adds)) || (adds && sum < 0) || !start_from(out, self, size_class(out))) return 0;
    if (PyArray_SIZE(out) == 0) return 1;
    if (whole) {
        put_rows(out, frame, offsets, numbers, sum, 1.0);
    } else {
        place_number(out, frame, offsets, PyArray_BYTES(numbers), size_class(out));
    }
    return 1;
}

// Values are (self, dim, index, source, alpha).
int index_add(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 5) return 0;
    PyArrayObject *out = plain_array(given, true), *self = plain_array(values[0]), *source = plain_array(values[3]);
    if (out == nullptr || self == nullptr || source == nullptr || PyArray_TYPE(out) != PyArray_TYPE(self) ||
        PyArray_TYPE(out) != PyArray_TYPE(source) || sum_of(out) < 0)
        return 0;
    const int sum = sum_of(out);
    double factor = 1.0;
    if (PyFloat_CheckExact(values[4])) {
        factor = PyFloat_AS_DOUBLE(values[4]);
    } else if (!PyLong_CheckExact(values[4]) || PyLong_AsLong(values[4]) != 1) {
        PyErr_Clear();
        return 0;
    }
    if (sum == LONG_SUM && factor != 1.0) return 0;
    Frame frame;
    Offsets offsets;
    if (!along(out, values[1], values[2], frame, offsets) || may_overlap(out, source) || !is_contiguous(source) ||
        static_cast<size_t>(PyArray_NBYTES(source)) != frame.before * offsets.count * frame.bytes ||
        !start_from(out, self, size_class(out)))
        return 0;
    if (PyArray_SIZE(out) > 0) put_rows(out, frame, offsets, source, sum, factor);
    return 1;
}

// Values are (self, index): positions in the flattened array.
int take(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject *out = plain_array(given, true), *from = count == 2 ? plain_array(values[0]) : nullptr;
    PyArrayObject* positions = count == 2 ? positions_array(values[1]) : nullptr;
    if (out == nullptr || from == nullptr || positions == nullptr || PyArray_TYPE(out) != PyArray_TYPE(from) ||
        size_class(out) < 0 || !is_contiguous(from) || PyArray_SIZE(from) == 0)
        return 0;
    Offsets offsets;
    const npy_intp extent = PyArray_SIZE(from);
    Frame frame;
    frame.array = from;
    frame.first = frame.many = 0;
    frame.bytes = static_cast<size_t>(PyArray_ITEMSIZE(from));
    if (!offsets.shape_of(&positions, 1) || !offsets.add(positions, extent, PyArray_ITEMSIZE(from), -extent)) return 0;
    return pick(out, frame, offsets);
}

}  // namespace

const NamedKernel index_kernels[] = {
    {"index_select", index_select},
    {"_index_integer", index},
    {"index_put", index_put},
    {"index_add", index_add},
    {"take", take},
    {nullptr, nullptr},
};

}  // namespace mindtorch
