// Padding by reflection and by copies of the border, dense or with the channels last: of elements of any type, and the
// gradients of float32 and float64; everything else is numpy's.
#include "kernels/pad.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "kernels/channels_last.h"
#include "kernels/integer.h"
#include "kernels/pooling.h"

namespace mindtorch {

namespace {

enum Mode { REFLECTION, REPLICATION };

// What a call says of its volumes, and the places that `Frame` points to.
struct Padding {
    Frame frame;
    std::vector<ptrdiff_t> source[3];

    // Pairs from the last dimension on, negative ones cut; false where a place would lie outside.
    template <Mode MODE>
    bool read(PyObject* pads, int dims) {
        for (int dim = 0; dim < 3; dim++) {
            Py_ssize_t before = 0, after = 0;
            if (dim >= 3 - dims &&
                (!index_of(item(pads, 2 * (2 - dim)), before) || !index_of(item(pads, 2 * (2 - dim) + 1), after)))
                return false;
            const ptrdiff_t extent = frame.extent[dim], count = frame.padded[dim];
            if (count != extent + before + after) return false;
            for (ptrdiff_t at = -before; at < count - before; at++) {
                ptrdiff_t place = at;
                if (MODE == REPLICATION)
                    place = std::clamp(at, ptrdiff_t{0}, extent - 1);
                else if (at < 0)
                    place = -at;
                else if (at >= extent)
                    place = 2 * (extent - 1) - at;
                if (place < 0 || place >= extent) return false;
                source[dim].push_back(place);
            }
            frame.source[dim] = source[dim].data();
            frame.first = std::clamp(before, Py_ssize_t{0}, count);
            frame.last = std::clamp(extent + before, frame.first, count);
        }
        return true;
    }

    static PyObject* item(PyObject* pads, Py_ssize_t at) {
        return PyTuple_CheckExact(pads) ? PyTuple_GET_ITEM(pads, at) : PyList_GET_ITEM(pads, at);
    }
};

// The arrays inside and with the frame, as `count` volumes; channels that are last belong to the elements.
bool describe(PyObject* inside, PyObject* padded, int dims, Frame& frame, size_t& count) {
    if (!PyArray_CheckExact(inside) || !PyArray_CheckExact(padded)) return false;
    PyArrayObject *small = array_of(inside), *large = array_of(padded);
    const int type = PyArray_TYPE(small), ndim = PyArray_NDIM(small);
    if (PyArray_TYPE(large) != type || PyDataType_REFCHK(PyArray_DESCR(small)) || PyArray_NDIM(large) != ndim ||
        ndim < dims || !PyArray_CompareLists(PyArray_DIMS(small), PyArray_DIMS(large), ndim - dims) ||
        PyArray_ITEMSIZE(small) != PyArray_ITEMSIZE(large) || PyArray_SIZE(small) == 0 || PyArray_SIZE(large) == 0)
        return false;
    for (int dim = 0; dim < 3; dim++) frame.extent[dim] = frame.padded[dim] = 1;
    count = volumes(inside, dims, frame.extent);
    volumes(padded, dims, frame.padded);
    frame.inner = 1;
    if (dense(inside, type) && dense(padded, type)) return true;
    if (!is_channels_last(inside, type) || !is_channels_last(padded, type) || ndim != dims + 2) return false;
    frame.inner = PyArray_DIM(small, 1);
    count = static_cast<size_t>(PyArray_DIM(small, 0));
    return true;
}

// One line of `to` from the line it is a copy of; `bytes` are those of an element.
void copy_line(const Frame& f, char* to, const char* from, ptrdiff_t bytes) {
    const ptrdiff_t* source = f.source[2];
    const auto one = [&](ptrdiff_t at) {
        if (bytes == 4)
            memcpy(to + at * 4, from + source[at] * 4, 4);
        else
            memcpy(to + at * bytes, from + source[at] * bytes, static_cast<size_t>(bytes));
    };
    for (ptrdiff_t at = 0; at < f.first; at++) one(at);
    if (f.last > f.first)
        memcpy(to + f.first * bytes, from + source[f.first] * bytes, static_cast<size_t>((f.last - f.first) * bytes));
    for (ptrdiff_t at = f.last; at < f.padded[2]; at++) one(at);
}

// Values are (self, padding).
template <Mode MODE>
int pad(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    Padding padding;
    size_t count;
    if (given != 2) return 0;
    const auto dims = static_cast<int>(length(values[1]) / 2);
    if (dims < 1 || dims > 3 || !describe(values[0], out, dims, padding.frame, count) || !separate(out, values[0]) ||
        !padding.read<MODE>(values[1], dims))
        return 0;
    const Frame& f = padding.frame;
    const ptrdiff_t bytes = f.inner * PyArray_ITEMSIZE(array_of(out)), lines = f.padded[0] * f.padded[1];
    char* const to = PyArray_BYTES(array_of(out));
    const char* const from = PyArray_BYTES(array_of(values[0]));
    parallel(count * static_cast<size_t>(lines), grain(f.padded[2] * f.inner), [&](size_t begin, size_t end) {
        for (auto at = static_cast<ptrdiff_t>(begin); at < static_cast<ptrdiff_t>(end); at++) {
            const ptrdiff_t volume = at / lines, z = at % lines / f.padded[1], y = at % f.padded[1];
            const ptrdiff_t line = (volume * f.extent[0] + f.source[0][z]) * f.extent[1] + f.source[1][y];
            copy_line(f, to + at * f.padded[2] * bytes, from + line * f.extent[2] * bytes, bytes);
        }
    });
    return 1;
}

template <typename Real>
int run_backward(const PadLoops<Real>& loops, const Frame& f, PyObject* out, PyObject* grad, size_t count) {
    auto* to = static_cast<Real*>(PyArray_DATA(array_of(out)));
    const auto* from = static_cast<const Real*>(PyArray_DATA(array_of(grad)));
    parallel(count, grain(f.places()), [&](size_t begin, size_t end) {
        const auto at = static_cast<ptrdiff_t>(begin);
        loops.backward(f, static_cast<ptrdiff_t>(end) - at, to + at * f.area(), from + at * f.places());
    });
    return 1;
}

// Values are (grad, self, padding).
template <Mode MODE>
int pad_backward(PyObject* out, PyObject* const* values, Py_ssize_t given) {
    Padding padding;
    size_t count;
    if (given != 3) return 0;
    const auto dims = static_cast<int>(length(values[2]) / 2);
    if (dims < 1 || dims > 3 || !describe(out, values[0], dims, padding.frame, count) || !separate(out, values[0]) ||
        !padding.read<MODE>(values[2], dims))
        return 0;
    const int type = PyArray_TYPE(array_of(out));
    if (type == NPY_FLOAT) return run_backward(pad_loops(), padding.frame, out, values[0], count);
    return type == NPY_DOUBLE ? run_backward(pad_double_loops(), padding.frame, out, values[0], count) : 0;
}

}  // namespace

const NamedKernel pad_kernels[] = {
    {"reflection_pad1d reflection_pad2d reflection_pad3d", pad<REFLECTION>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"replication_pad1d replication_pad2d replication_pad3d", pad<REPLICATION>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward", pad_backward<REFLECTION>,
     FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward", pad_backward<REPLICATION>,
     FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
