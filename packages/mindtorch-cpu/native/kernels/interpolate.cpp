// Weighted sums of elements of dense lines of float32 or float64; everything else is numpy's.
#include "kernels/interpolate.h"

#include <initializer_list>

#include "kernels/operand.h"
#include "kernels/integer.h"
#include "parallel.h"

namespace mindtorch {

namespace {

template <typename Real>
const InterpolateLoops<Real>& loops();
template <>
const InterpolateLoops<float>& loops() {
    return interpolate_loops();
}
template <>
const InterpolateLoops<double>& loops() {
    return interpolate_double_loops();
}

PyArrayObject* array_of(PyObject* value) { return reinterpret_cast<PyArrayObject*>(value); }

// A dense array of the type and number of dimensions.
bool dense(PyObject* value, int type, int ndim) {
    return PyArray_CheckExact(value) && PyArray_ISCARRAY_RO(array_of(value)) && PyArray_TYPE(array_of(value)) == type &&
           PyArray_NDIM(array_of(value)) == ndim;
}

// Places from (begins, index, weights), of lines of `extent`; false where they lead outside.
template <typename Real>
bool table_of(PyObject* const* values, int type, npy_intp count, npy_intp extent, WeightTable<Real>& table) {
    if (!dense(values[0], NPY_INT64, 1) || !dense(values[1], NPY_INT64, 1) ||
        PyArray_SIZE(array_of(values[0])) != count + 1)
        return false;
    table = {static_cast<int64_t*>(PyArray_DATA(array_of(values[0]))),
             static_cast<int64_t*>(PyArray_DATA(array_of(values[1]))), nullptr, count, extent};
    const npy_intp all = PyArray_SIZE(array_of(values[1]));
    if (values[2] != Py_None) {
        if (!dense(values[2], type, 1) || PyArray_SIZE(array_of(values[2])) != all) return false;
        table.weights = static_cast<Real*>(PyArray_DATA(array_of(values[2])));
    }
    if (table.begins[0] != 0 || table.begins[count] != all) return false;
    bool right = true;
    for (npy_intp i = 0; i < count; i++) right &= table.begins[i] <= table.begins[i + 1];
    for (npy_intp element = 0; element < all; element++)
        right &= static_cast<uint64_t>(table.index[element]) < static_cast<uint64_t>(extent);
    return right;
}

size_t grain(npy_intp line) { return GRAIN / static_cast<size_t>(line > 0 ? line : 1) + 1; }

// From (outer, extent, inner) to (outer, count, inner), or back where `back` and inner is 1.
template <typename Real>
int run(PyObject* out, PyObject* const* values, int type, bool back) {
    if (!dense(out, type, 3) || !PyArray_ISWRITEABLE(array_of(out)) || !dense(values[0], type, 3)) return 0;
    const npy_intp *to = PyArray_DIMS(array_of(out)), *from = PyArray_DIMS(array_of(values[0]));
    WeightTable<Real> table;
    if (to[0] != from[0] || to[2] != from[2] || (back && to[2] != 1) ||
        !table_of(values + 1, type, back ? from[1] : to[1], back ? to[1] : from[1], table) ||
        !apart(array_of(out), PyArray_DATA(array_of(values[0])), PyArray_NBYTES(array_of(values[0]))) ||
        PyArray_DATA(array_of(out)) == PyArray_DATA(array_of(values[0])))
        return 0;
    auto *result = static_cast<Real*>(PyArray_DATA(array_of(out))),
         *given = static_cast<Real*>(PyArray_DATA(array_of(values[0])));
    const ptrdiff_t inner = to[2];
    parallel(static_cast<size_t>(to[0]), grain((table.begins[table.count] + table.count) * inner),
             [&](size_t begin, size_t end) {
                 if (back)
                     loops<Real>().scatter(table, result, given, begin, end);
                 else
                     loops<Real>().gather(table, result, given, inner, begin, end);
             });
    return 1;
}

int either(PyObject* out, PyObject* const* values, Py_ssize_t count, bool back) {
    if (count != 4 || !PyArray_CheckExact(out)) return 0;
    return PyArray_TYPE(array_of(out)) == NPY_FLOAT ? run<float>(out, values, NPY_FLOAT, back)
                                                    : run<double>(out, values, NPY_DOUBLE, back);
}

// Values are (lines, begins, index, weights or None).
int weighted_gather(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return either(out, values, count, false);
}
int weighted_scatter(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return either(out, values, count, true);
}

template <typename Real>
int weight_grads(PyObject* out, PyObject* const* values, int type) {
    if (!dense(out, type, 1) || !PyArray_ISWRITEABLE(array_of(out)) || !dense(values[0], type, 2) ||
        !dense(values[1], type, 2))
        return 0;
    const npy_intp *places = PyArray_DIMS(array_of(values[0])), *lines = PyArray_DIMS(array_of(values[1]));
    PyObject* parts[] = {values[2], values[3], Py_None};
    WeightTable<Real> table;
    if (places[0] != lines[0] || !table_of(parts, type, places[1], lines[1], table) ||
        PyArray_SIZE(array_of(out)) != table.begins[table.count])
        return 0;
    for (PyObject* value : {values[0], values[1]})
        if (!apart(array_of(out), PyArray_DATA(array_of(value)), 0)) return 0;
    loops<Real>().weight_grads(table, static_cast<Real*>(PyArray_DATA(array_of(out))),
                               static_cast<Real*>(PyArray_DATA(array_of(values[0]))),
                               static_cast<Real*>(PyArray_DATA(array_of(values[1]))), static_cast<size_t>(places[0]));
    return 1;
}

// Values are (values at the places, lines, begins, index).
int weight_grads(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 4 || !PyArray_CheckExact(out)) return 0;
    return PyArray_TYPE(array_of(out)) == NPY_FLOAT ? weight_grads<float>(out, values, NPY_FLOAT)
                                                    : weight_grads<double>(out, values, NPY_DOUBLE);
}

// A dense, writable array of one dimension and at least `count` elements.
void* room(PyObject* value, int type, size_t count) {
    if (!dense(value, type, 1) || !PyArray_ISWRITEABLE(array_of(value)) ||
        static_cast<size_t>(PyArray_SIZE(array_of(value))) < count)
        return nullptr;
    return PyArray_DATA(array_of(value));
}

// Outputs are (begins, index, weights, derivatives down, derivatives across), the last two None where they are not
// wanted; values (a grid of (x, y), (height, width), mode, padding, align).
int grid_weights(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 5 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 5 || !dense(values[0], NPY_FLOAT, 2) ||
        PyArray_DIM(array_of(values[0]), 1) != 2 || !PyTuple_CheckExact(values[1]) ||
        PyTuple_GET_SIZE(values[1]) != 2 || !PyLong_CheckExact(values[2]) || !PyLong_CheckExact(values[3]) ||
        !PyBool_Check(values[4]))
        return 0;
    const long mode = integer_of(values[2]), padding = integer_of(values[3]);
    const Py_ssize_t height = PyLong_AsSsize_t(PyTuple_GET_ITEM(values[1], 0)),
                     width = PyLong_AsSsize_t(PyTuple_GET_ITEM(values[1], 1));
    if (PyErr_Occurred()) return -1;
    if (mode < 0 || mode >= SAMPLED_COUNT || padding < 0 || padding >= PADDING_COUNT || height < 1 || width < 1)
        return 0;
    const auto points = static_cast<size_t>(PyArray_DIM(array_of(values[0]), 0)),
               most = static_cast<size_t>(CORNERS[mode]) * points;
    PyObject* const* each = &PyTuple_GET_ITEM(outs, 0);
    const PointWeights table = {
        static_cast<int64_t*>(room(each[0], NPY_INT64, points + 1)),
        static_cast<int64_t*>(room(each[1], NPY_INT64, most)), static_cast<float*>(room(each[2], NPY_FLOAT, most)),
        static_cast<float*>(room(each[3], NPY_FLOAT, most)), static_cast<float*>(room(each[4], NPY_FLOAT, most))};
    const bool sloped = table.down != nullptr && table.across != nullptr;
    if (table.begins == nullptr || table.index == nullptr || table.weights == nullptr ||
        (!sloped && (each[3] != Py_None || each[4] != Py_None)))
        return 0;
    point_loop()({static_cast<const float*>(PyArray_DATA(array_of(values[0]))), points, height, width,
                  static_cast<Sampled>(mode), static_cast<Padding>(padding), values[4] == Py_True},
                 table);
    return 1;
}

}  // namespace

const NamedKernel interpolate_kernels[] = {
    {"steps.weighted_gather", weighted_gather},
    {"steps.weighted_scatter", weighted_scatter},
    {"steps.weight_grads", weight_grads},
    {"steps.grid_weights", grid_weights},
    {nullptr, nullptr},
};

}  // namespace mindtorch
