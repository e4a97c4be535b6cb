// Joining, repeating, reordering, padding and triangles: copies between parts of regions.
#include "kernels/integer.h"
#include "kernels/region.h"

#include <string.h>

namespace mindtorch {

namespace {

// A list or tuple of Python integers; false for anything else, and for more than a region has dimensions.
struct Numbers {
    npy_intp items[Region::MOST];
    int count = 0;

    bool read(PyObject* given) {
        if (!PyList_CheckExact(given) && !PyTuple_Check(given)) return false;
        const Py_ssize_t size = PySequence_Fast_GET_SIZE(given);
        if (size > Region::MOST / 2) return false;
        for (Py_ssize_t i = 0; i < size; i++) {
            PyObject* item = PySequence_Fast_GET_ITEM(given, i);
            if (!PyLong_CheckExact(item)) return false;
            items[count++] = PyLong_AsSsize_t(item);
            if (items[count - 1] != -1 || !PyErr_Occurred()) continue;
            PyErr_Clear();
            return false;
        }
        return true;
    }
};

// An output and one operand of its type that share no memory.
struct Both {
    PyArrayObject *out, *from;
    int size = -1;

    Both(PyObject* given, PyObject* operand) : out(plain_array(given, true)), from(plain_array(operand)) {
        if (out != nullptr && from != nullptr && PyArray_TYPE(out) == PyArray_TYPE(from) && !may_overlap(out, from))
            size = size_class(out);
    }
    explicit operator bool() const { return size >= 0; }
};

// The dimension that `dim` counts, from the end below zero; -1 where there is none.
int dimension(PyArrayObject* array, npy_intp dim) {
    const int ndim = PyArray_NDIM(array);
    if (dim < 0) dim += ndim;
    return dim >= 0 && dim < ndim ? static_cast<int>(dim) : -1;
}

bool is_empty_vector(PyArrayObject* array) { return PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == 0; }

// True when `part` fits `out` in all dimensions but one.
bool fits(PyArrayObject* out, PyArrayObject* part, int dim) {
    if (PyArray_NDIM(part) != PyArray_NDIM(out)) return false;
    for (int at = 0; at < PyArray_NDIM(out); at++)
        if (at != dim && PyArray_DIM(part, at) != PyArray_DIM(out, at)) return false;
    return true;
}

// Values are (tensors, dim).
int cat(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = plain_array(given, true);
    npy_intp number;
    if (count != 2 || out == nullptr || !index_of(values[1], number) ||
        (!PyList_CheckExact(values[0]) && !PyTuple_CheckExact(values[0])))
        return 0;
    const int size = size_class(out), dim = dimension(out, number);
    if (size < 0 || dim < 0) return 0;
    PyObject** parts = PySequence_Fast_ITEMS(values[0]);
    const Py_ssize_t many = PySequence_Fast_GET_SIZE(values[0]);
    npy_intp total = 0;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyArrayObject* part = plain_array(parts[i]);
        if (part == nullptr) return 0;
        if (is_empty_vector(part)) continue;
        if (PyArray_TYPE(part) != PyArray_TYPE(out) || !fits(out, part, dim) || may_overlap(out, part)) return 0;
        total += PyArray_DIM(part, dim);
    }
    if (total != PyArray_DIM(out, dim)) return 0;
    char* to = PyArray_BYTES(out);
    for (Py_ssize_t i = 0; i < many; i++) {
        auto* part = reinterpret_cast<PyArrayObject*>(parts[i]);
        if (is_empty_vector(part)) continue;
        Region region;
        region.to = to;
        region.from = PyArray_BYTES(part);
        for (int at = 0; at < PyArray_NDIM(out); at++)
            region.add(PyArray_DIM(part, at), PyArray_STRIDE(out, at), PyArray_STRIDE(part, at));
        copy_region(region, size);
        to += PyArray_DIM(part, dim) * PyArray_STRIDE(out, dim);
    }
    return 1;
}

// Values are (self, repeats).
int repeat(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Numbers times;
    if (count != 2 || !times.read(values[1])) return 0;
    const Both both(given, values[0]);
    if (!both || PyArray_NDIM(both.out) != times.count) return 0;
    Region region;
    const int missing = times.count - PyArray_NDIM(both.from);
    if (missing < 0) return 0;
    region.to = PyArray_BYTES(both.out);
    region.from = PyArray_BYTES(both.from);
    for (int dim = 0; dim < times.count; dim++) {
        const npy_intp extent = dim < missing ? 1 : PyArray_DIM(both.from, dim - missing);
        const npy_intp step = PyArray_STRIDE(both.out, dim);
        if (times.items[dim] * extent != PyArray_DIM(both.out, dim)) return 0;
        region.add(times.items[dim], extent * step, 0);
        region.add(extent, step, dim < missing ? 0 : PyArray_STRIDE(both.from, dim - missing));
    }
    copy_region(region, both.size);
    return 1;
}

// Values are (self, dims).
int flip(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Numbers dims;
    if (count != 2 || !dims.read(values[1])) return 0;
    const Both both(given, values[0]);
    Region region;
    if (!both || PyArray_NDIM(both.out) != PyArray_NDIM(both.from) || !region_of(region, both.out, both.from)) return 0;
    if (PyArray_SIZE(both.out) == 0) return 1;
    for (int i = 0; i < dims.count; i++) {
        const int dim = dimension(both.out, dims.items[i]);
        if (dim < 0) return 0;
        region.from += (region.extents[dim] - 1) * region.from_steps[dim];
        region.from_steps[dim] = -region.from_steps[dim];
    }
    copy_region(region, both.size);
    return 1;
}

// Copy `region` with its dimensions from `dim` on moved by `shifts`, in two parts each.
void roll_dims(const Region& region, const npy_intp* shifts, int dim, int size) {
    while (dim < region.ndim && shifts[dim] == 0) dim++;
    Region part = region;
    if (dim == region.ndim) return copy_region(part, size);
    const npy_intp extent = region.extents[dim], shift = shifts[dim];
    part.extents[dim] = extent - shift;
    part.to += shift * region.to_steps[dim];
    roll_dims(part, shifts, dim + 1, size);
    part = region;
    part.extents[dim] = shift;
    part.from += (extent - shift) * region.from_steps[dim];
    roll_dims(part, shifts, dim + 1, size);
}

// Values are (self, shifts, dims).
int roll(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Numbers given_shifts, dims;
    if (count != 3 || !given_shifts.read(values[1]) || !dims.read(values[2]) || dims.count != given_shifts.count)
        return 0;
    const Both both(given, values[0]);
    Region region;
    if (!both || dims.count == 0 || PyArray_NDIM(both.out) != PyArray_NDIM(both.from) ||
        !region_of(region, both.out, both.from))
        return 0;
    if (PyArray_SIZE(both.out) == 0) return 1;
    npy_intp shifts[Region::MOST] = {0};
    for (int i = 0; i < dims.count; i++) {
        const int dim = dimension(both.out, dims.items[i]);
        if (dim < 0) return 0;
        const npy_intp extent = region.extents[dim];
        shifts[dim] = ((shifts[dim] + given_shifts.items[i] % extent) % extent + extent) % extent;
    }
    roll_dims(region, shifts, 0, both.size);
    return 1;
}

// One row of a triangle: `kept` elements from `begin` on, zeros around them.
void copy_row(char* to, const char* from, npy_intp columns, npy_intp begin, npy_intp end, npy_intp item) {
    memset(to, 0, static_cast<size_t>(begin * item));
    if (to != from) memcpy(to + begin * item, from + begin * item, static_cast<size_t>((end - begin) * item));
    memset(to + end * item, 0, static_cast<size_t>((columns - end) * item));
}

// Values are (self, diagonal). Rows must be contiguous.
template <bool upper>
int triangle(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    npy_intp diagonal;
    PyArrayObject *out = plain_array(given, true), *from = count == 2 ? plain_array(values[0]) : nullptr;
    if (out == nullptr || from == nullptr || !index_of(values[1], diagonal) || PyArray_TYPE(out) != PyArray_TYPE(from))
        return 0;
    const int ndim = PyArray_NDIM(out), size = size_class(out);
    if (size < 0 || ndim < 2 || PyArray_NDIM(from) != ndim || !PyArray_IS_C_CONTIGUOUS(out) ||
        !PyArray_IS_C_CONTIGUOUS(from) || (out != from && may_overlap(out, from)))
        return 0;
    const npy_intp item = npy_intp{1} << size, rows = PyArray_DIM(out, ndim - 2), columns = PyArray_DIM(out, ndim - 1);
    const npy_intp all = columns > 0 ? PyArray_SIZE(out) / columns : 0;
    diagonal = diagonal < -rows - 1 ? -rows - 1 : diagonal > columns + 1 ? columns + 1 : diagonal;  // none may overflow
    for (npy_intp number = 0; number < all; number++) {
        npy_intp edge = number % rows + diagonal + (upper ? 0 : 1);
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        copy_row(PyArray_BYTES(out) + number * columns * item, PyArray_BYTES(from) + number * columns * item, columns,
                 upper ? edge : 0, upper ? columns : edge, item);
    }
    return 1;
}

// Zeros all of the output and copies `from` into the part of it that `region` is.
int embed(const Both& both, Region& region) {
    const char zero[16] = {0};
    if (PyTypeNum_ISUSERDEF(PyArray_TYPE(both.out)) && kind_of_element(both.out) < 0) return 0;
    fill_array(both.out, both.size, zero);
    copy_region(region, both.size);
    return 1;
}

// Values are (grad, sizes, dim, index).
int select_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    npy_intp number, index;
    if (count != 4 || !index_of(values[2], number) || !index_of(values[3], index)) return 0;
    const Both both(given, values[0]);
    const int dim = both ? dimension(both.out, number) : -1;
    if (dim < 0 || PyArray_NDIM(both.from) != PyArray_NDIM(both.out) - 1) return 0;
    const npy_intp extent = PyArray_DIM(both.out, dim);
    if (index < 0) index += extent;
    if (index < 0 || index >= extent) return 0;
    Region region;
    region.to = PyArray_BYTES(both.out) + index * PyArray_STRIDE(both.out, dim);
    region.from = PyArray_BYTES(both.from);
    for (int at = 0, place = 0; at < PyArray_NDIM(both.out); at++) {
        if (at == dim) continue;
        if (PyArray_DIM(both.from, place) != PyArray_DIM(both.out, at)) return 0;
        region.add(PyArray_DIM(both.out, at), PyArray_STRIDE(both.out, at), PyArray_STRIDE(both.from, place++));
    }
    return embed(both, region);
}

// Values are (grad, sizes, dim, start, end, step).
int slice_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    npy_intp number, start, end, step;
    if (count != 6 || !index_of(values[2], number) || !index_of(values[3], start) || !index_of(values[4], end) ||
        !index_of(values[5], step) || step < 1)
        return 0;
    const Both both(given, values[0]);
    const int dim = both ? dimension(both.out, number) : -1;
    if (dim < 0 || !fits(both.out, both.from, dim)) return 0;
    if (PySlice_AdjustIndices(PyArray_DIM(both.out, dim), &start, &end, step) != PyArray_DIM(both.from, dim)) return 0;
    Region region;
    region.to = PyArray_BYTES(both.out) + start * PyArray_STRIDE(both.out, dim);
    region.from = PyArray_BYTES(both.from);
    for (int at = 0; at < PyArray_NDIM(both.out); at++)
        region.add(PyArray_DIM(both.from, at), PyArray_STRIDE(both.out, at) * (at == dim ? step : 1),
                   PyArray_STRIDE(both.from, at));
    return embed(both, region);
}

// Values are (self, pad, value): pairs from the last dimension on, negative ones cut.
int constant_pad_nd(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Numbers pad;
    char element[16] = {0};
    if (count != 3 || !pad.read(values[1])) return 0;
    const Both both(given, values[0]);
    const int ndim = both ? PyArray_NDIM(both.out) : 0;
    if (!both || PyArray_NDIM(both.from) != ndim || pad.count > 2 * ndim || !element_from(both.out, values[2], element))
        return 0;
    Region region;
    region.to = PyArray_BYTES(both.out);
    region.from = PyArray_BYTES(both.from);
    for (int dim = 0; dim < ndim; dim++) {
        const int place = 2 * (ndim - 1 - dim);
        const npy_intp left = place < pad.count ? pad.items[place] : 0,
                       right = place < pad.count ? pad.items[place + 1] : 0;
        const npy_intp extent = PyArray_DIM(both.from, dim) + (left < 0 ? left : 0) + (right < 0 ? right : 0);
        if (extent < 0) return 0;
        if (left > 0) {
            region.to += left * PyArray_STRIDE(both.out, dim);
        } else {
            region.from -= left * PyArray_STRIDE(both.from, dim);
        }
        region.add(extent, PyArray_STRIDE(both.out, dim), PyArray_STRIDE(both.from, dim));
    }
    fill_array(both.out, both.size, element);
    copy_region(region, both.size);
    return 1;
}

}  // namespace

const NamedKernel cat_kernels[] = {
    {"cat", cat},
    {"repeat", repeat},
    {"flip", flip},
    {"roll", roll},
    {"tril", triangle<false>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"triu", triangle<true>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"select_backward", select_backward},
    {"slice_backward", slice_backward},
    {"constant_pad_nd", constant_pad_nd},
    {nullptr, nullptr},
};

}  // namespace mindtorch
