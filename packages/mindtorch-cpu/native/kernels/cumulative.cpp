// Sums, products and extremes of all elements up to each along one dimension of dense arrays.
#include "kernels/elementwise.h"
#include "kernels/operand.h"
#include "kernels/reduce_geometry.h"
#include "kernels/integer.h"

namespace mindtorch {

namespace {

PyArrayObject* dense_output(PyObject* given) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return PyArray_ISCARRAY(array) ? array : nullptr;
}

// A dense array as [outer, extent, inner], of which the middle one is gone along.
struct ScanLines {
    PyArrayObject *out, *array;
    Kind kind;
    size_t outer = 1, extent, inner = 1, item;

    // Take the output and (self, axis); false where no loop fits.
    bool take(PyObject* given, PyObject* self, PyObject* along) {
        out = dense_output(given);
        if (out == nullptr || !PyArray_CheckExact(self) || !PyLong_CheckExact(along)) return false;
        array = reinterpret_cast<PyArrayObject*>(self);
        kind = kind_of_elements(array);
        const long axis = integer_of(along);
        if (kind == KINDS || PyArray_TYPE(out) != PyArray_TYPE(array) || PyArray_ITEMSIZE(array) == 2 ||
            !PyArray_ISCARRAY_RO(array) || !PyArray_SAMESHAPE(out, array) || axis < 0 || axis >= PyArray_NDIM(array) ||
            PyArray_SIZE(array) == 0 || !apart(out, PyArray_DATA(array), PyArray_NBYTES(array)))
            return PyErr_Clear(), false;
        for (int dim = 0; dim < PyArray_NDIM(array); dim++)
            if (dim != axis) (dim < axis ? outer : inner) *= static_cast<size_t>(PyArray_DIM(array, dim));
        extent = static_cast<size_t>(PyArray_DIM(array, static_cast<int>(axis)));
        item = static_cast<size_t>(PyArray_ITEMSIZE(array));
        return true;
    }

    // Call rows(first element, how many rows) or columns(first element, width), by threads.
    template <typename Rows, typename Columns>
    void run(const Rows& rows, const Columns& columns) const {
        if (inner == 1) {
            parallel(outer, grain_of(extent), [&](size_t from, size_t to) { rows(from * extent, to - from); });
            return;
        }
        const size_t tiles = (inner + COLUMNS - 1) / COLUMNS, width = inner < COLUMNS ? inner : COLUMNS;
        parallel(outer * tiles, grain_of(extent * width), [&](size_t from, size_t to) {
            for (size_t tile = from; tile < to; tile++) {
                const size_t first = tile % tiles * COLUMNS, rest = inner - first;
                columns(tile / tiles * extent * inner + first, rest < COLUMNS ? rest : COLUMNS);
            }
        });
    }

    char* to(size_t element) const { return PyArray_BYTES(out) + element * item; }
    const char* from(size_t element) const { return PyArray_BYTES(array) + element * item; }
};

// Values are (self, axis).
template <bool product>
int running(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    ScanLines scan;
    if (count != 2 || !scan.take(given, values[0], values[1])) return 0;
    const auto& loops = product ? cumulative_loops().product : cumulative_loops().sum;
    const auto rows = loops.rows[scan.kind];
    const auto columns = loops.columns[scan.kind];
    if (rows == nullptr) return 0;
    scan.run([&](size_t at, size_t many) { rows(scan.to(at), scan.from(at), scan.extent, many); },
             [&](size_t at, size_t width) { columns(scan.to(at), scan.from(at), scan.extent, scan.inner, width); });
    return 1;
}

// Outputs are (values, indices); values (self, axis).
template <bool least>
int cumulative_extreme(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 2 || !PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != 2) return 0;
    PyArrayObject* found = dense_output(PyTuple_GET_ITEM(given, 1));
    ScanLines scan;
    if (found == nullptr || PyArray_TYPE(found) != NPY_INT64 ||
        !scan.take(PyTuple_GET_ITEM(given, 0), values[0], values[1]) || !PyArray_SAMESHAPE(found, scan.array) ||
        scan.to(0) == scan.from(0) || !apart(found, PyArray_DATA(scan.array), PyArray_NBYTES(scan.array)))
        return 0;
    const auto& loops = cumulative_loops().extreme[least];
    auto* places = static_cast<long long*>(PyArray_DATA(found));
    scan.run([&](size_t at,
                 size_t many) { loops.rows[scan.kind](scan.to(at), places + at, scan.from(at), scan.extent, many); },
             [&](size_t at, size_t width) {
                 loops.columns[scan.kind](scan.to(at), places + at, scan.from(at), scan.extent, scan.inner, width);
             });
    return 1;
}

}  // namespace

const NamedKernel cumulative_kernels[] = {
    {"cumsum", running<false>, FULL_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {"cumprod", running<true>, FULL_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {"cummax", cumulative_extreme<false>, FULL_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {"cummin", cumulative_extreme<true>, FULL_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {nullptr, nullptr},
};

}  // namespace mindtorch
