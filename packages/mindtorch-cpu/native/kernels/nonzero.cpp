// Elements and positions where a mask holds.
#include "kernels/index.h"

#include "parallel.h"
#include "kernels/region.h"
#include "kernels/integer.h"

#include <memory>
#include <new>

namespace mindtorch {

namespace {

PyArrayObject* mask_array(PyObject* given) {
    PyArrayObject* array = plain_array(given);
    return array != nullptr && PyArray_TYPE(array) == NPY_BOOL && PyArray_IS_C_CONTIGUOUS(array) ? array : nullptr;
}

const uint8_t* flags(PyArrayObject* mask) { return static_cast<const uint8_t*>(PyArray_DATA(mask)); }
size_t size_of(PyArrayObject* array) { return static_cast<size_t>(PyArray_SIZE(array)); }

// Where the mask holds in the flattened array, at most `count` of them.
void flat_positions(const uint8_t* mask, size_t size, int64_t* to, size_t count) {
    size_t found = 0;
    for (size_t start = 0; start < size && found < count; start += 8) {
        const size_t part = size - start < 8 ? size - start : 8;
        if (count - found >= 8) {
            for (size_t i = 0; i < part; i++) {  // written first and counted then: there is room, and no branch
                to[found] = static_cast<int64_t>(start + i);
                found += mask[start + i] != 0;
            }
        } else {
            for (size_t i = 0; i < part && found < count; i++)
                if (mask[start + i] != 0) to[found++] = static_cast<int64_t>(start + i);
        }
    }
}

// (self): the positions as rows, laid out by dimension.
PyObject* nonzero(PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* mask = count == 1 ? mask_array(values[0]) : nullptr;
    if (mask == nullptr || PyArray_NDIM(mask) == 0) return nullptr;
    const int ndim = PyArray_NDIM(mask);
    const size_t size = size_of(mask), many = index_loops().count_set(flags(mask), size);
    npy_intp shape[2] = {ndim, static_cast<npy_intp>(many)};
    Ref made(PyArray_SimpleNew(2, shape, NPY_INT64));
    if (!made) return nullptr;
    auto* to = static_cast<int64_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.get())));
    int64_t* flat = to + static_cast<size_t>(ndim - 1) * many;
    flat_positions(flags(mask), size, flat, many);
    for (int dim = ndim - 1; dim > 0; dim--) {  // flat ones lie where the last of the dimensions left will
        const auto extent = static_cast<uint64_t>(PyArray_DIM(mask, dim));
        int64_t* above = to + static_cast<size_t>(dim - 1) * many;
        int64_t* own = to + static_cast<size_t>(dim) * many;
        uint64_t row = 0, begin = 0;  // they ascend, so that rows are found without division
        for (size_t i = 0; i < many; i++) {
            const auto position = static_cast<uint64_t>(own[i]);
            if (position - begin >= extent) {
                row = position / extent;
                begin = row * extent;
            }
            above[i] = static_cast<int64_t>(row);
            own[i] = static_cast<int64_t>(position - begin);
        }
    }
    return PyArray_Transpose(reinterpret_cast<PyArrayObject*>(made.get()), nullptr);
}

template <typename Item>
void pick_held(char* to, const char* from, const uint8_t* mask, size_t size, size_t count) {
    auto* out = reinterpret_cast<Item*>(to);
    const auto* in = reinterpret_cast<const Item*>(from);
    size_t found = 0, i = 0;
    for (; i < size && found < count; i++) {
        out[found] = in[i];
        found += mask[i] != 0;
    }
}

PyObject* select_held(PyObject* operand, PyObject* given) {
    PyArrayObject *self = plain_array(operand), *mask = mask_array(given);
    if (self == nullptr || mask == nullptr || !PyArray_IS_C_CONTIGUOUS(self) ||
        PyArray_NDIM(self) != PyArray_NDIM(mask) || PyArray_NDIM(self) == 0 ||
        !PyArray_CompareLists(PyArray_DIMS(self), PyArray_DIMS(mask), PyArray_NDIM(self)))
        return nullptr;
    const int width = size_class(self);
    if (width < 0 || width > 3) return nullptr;
    const size_t size = size_of(self), many = index_loops().count_set(flags(mask), size);
    npy_intp shape[1] = {static_cast<npy_intp>(many)};
    PyArray_Descr* type = PyArray_DESCR(self);
    Py_INCREF(type);
    Ref made(PyArray_Empty(1, shape, type, 0));
    if (!made) return nullptr;
    char* to = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(made.get()));
    const char* from = PyArray_BYTES(self);
    switch (width) {
        case 0: pick_held<uint8_t>(to, from, flags(mask), size, many); break;
        case 1: pick_held<uint16_t>(to, from, flags(mask), size, many); break;
        case 2: pick_held<uint32_t>(to, from, flags(mask), size, many); break;
        case 3: pick_held<uint64_t>(to, from, flags(mask), size, many); break;
    }
    return made.release();
}

// (self, mask)
PyObject* masked_select(PyObject* const* values, Py_ssize_t count) {
    return count == 2 ? select_held(values[0], values[1]) : nullptr;
}

// (self, indices), of which there is one mask of the whole shape.
PyObject* index_masked(PyObject* const* values, Py_ssize_t count) {
    if (count != 2 || (!PyList_CheckExact(values[1]) && !PyTuple_CheckExact(values[1])) ||
        PySequence_Fast_GET_SIZE(values[1]) != 1)
        return nullptr;
    return select_held(values[0], PySequence_Fast_GET_ITEM(values[1], 0));
}

}  // namespace

const NamedKernel nonzero_kernels[] = {
    {"nonzero", nullptr, FULL_PRECISION, nonzero},
    {"masked_select", nullptr, FULL_PRECISION, masked_select},
    {"_index_masked", nullptr, FULL_PRECISION, index_masked},
    {nullptr, nullptr},
};

}  // namespace mindtorch
