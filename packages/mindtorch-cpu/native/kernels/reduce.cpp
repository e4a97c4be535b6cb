// Sums, products, extremes, norms, variances and places of extremes over any dimensions. What is not dense along its
// innermost dimension is numpy's.
#include "mindtorch/entry.h"
#include "kernels/reduce.h"

#include "kernels/elementwise.h"
#include "kernels/operand.h"
#include "kernels/reduce_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace mindtorch {

namespace {

constexpr size_t TOGETHER = 256;  // rows that are reduced at a time
constexpr size_t BLOCK = 32768;   // elements of a long row that are reduced at once: sums do not depend on the threads

// How results are made of their accumulators.
struct Finish {
    double divisor = 1;
    bool root = false;
    Kind kind = FLOAT_KIND;
    bool bfloat16 = false;

    void operator()(char* to, ptrdiff_t step, const Accumulator* from, size_t count) const {
        if (bfloat16) {
            reduce_loops().finish_bfloat16(to, step, from, count, divisor, root);
        } else if (kind == LONG_KIND) {
            for (size_t i = 0; i < count; i++, to += step) *reinterpret_cast<long long*>(to) = from[i].whole;
        } else if (kind == BOOL_KIND) {
            for (size_t i = 0; i < count; i++, to += step) *to = from[i].whole != 0;
        } else {
            reduce_loops().finish[kind](to, step, from, count, divisor, root);
        }
    }
    void operator()(char* to, const Accumulator& from) const { (*this)(to, 0, &from, 1); }
};

// Call use(where a row, or a block of rows, begins) for all that is reduced but its innermost dimension.
template <typename Use>
void for_parts(const Geometry& geometry, const char* in, const Use& use) {
    const int outer = geometry.reduced_count - 1;
    const size_t parts = geometry.terms / geometry.reduced[outer].extent;
    for (size_t part = 0; part < parts; part++) use(in + Geometry::offset(geometry.reduced, outer, part, false));
}

// One long row in blocks that threads share; -1 without memory.
int reduce_long_row(const Reducer& reducer, const Geometry& geometry, char* out, const Finish& finish) {
    const size_t blocks = (geometry.terms + BLOCK - 1) / BLOCK;
    auto* parts = static_cast<Accumulator*>(malloc(blocks * sizeof(Accumulator)));
    if (parts == nullptr) return no_memory(blocks * sizeof(Accumulator));
    const ptrdiff_t item = geometry.reduced[0].in;
    parallel(blocks, 1, [&](size_t from, size_t to) {
        for (size_t block = from; block < to; block++) {
            const size_t first = block * BLOCK, rest = geometry.terms - first;
            parts[block] = reducer.identity;
            reducer.row(geometry.in + item * static_cast<ptrdiff_t>(first), rest < BLOCK ? rest : BLOCK, parts + block);
        }
    });
    for (size_t block = 1; block < blocks; block++) reducer.combine(parts, parts + block, 1);
    finish(out, parts[0]);
    free(parts);
    return 1;
}

// Rows that are one dimension, several at a time.
void reduce_rows(const Reducer& reducer, const Geometry& geometry, char* out, const Finish& finish) {
    const int count = geometry.kept_count;
    const Dimension inner = count > 0 ? geometry.kept[count - 1] : Dimension{1, 0, 0};
    for_runs(geometry, out, [&](const char* in, char* results, size_t run) {
        Accumulator totals[TOGETHER];
        for (size_t done = 0; done < run; done += TOGETHER) {
            const size_t rows = run - done < TOGETHER ? run - done : TOGETHER;
            for (size_t row = 0; row < rows; row++) totals[row] = reducer.identity;
            reducer.rows(in + inner.in * static_cast<ptrdiff_t>(done), inner.in, rows, geometry.terms, totals);
            finish(results + inner.out * static_cast<ptrdiff_t>(done), inner.out, totals, rows);
        }
    });
}

// Columns of a dense array that is narrow: several rows are taken as one.
void reduce_narrow(const Reducer& reducer, const Geometry& geometry, char* out, const Finish& finish) {
    const Dimension rows = geometry.reduced[0], columns = geometry.kept[0];
    const size_t together = COLUMNS / 2 / columns.extent, wide = together * columns.extent,
                 whole = rows.extent / together;
    Accumulator totals[COLUMNS];
    for (size_t at = 0; at < wide; at++) totals[at] = reducer.identity;
    reducer.columns(geometry.in, rows.in * static_cast<ptrdiff_t>(together), whole, wide, totals);
    reducer.columns(geometry.in + rows.in * static_cast<ptrdiff_t>(whole * together), rows.in,
                    rows.extent - whole * together, columns.extent, totals);
    for (size_t at = columns.extent; at < wide; at++) reducer.combine(totals + at % columns.extent, totals + at, 1);
    finish(out, columns.out, totals, columns.extent);
}

int reduce(Reduction op, PyArrayObject* out, PyObject* array, PyObject* axes, Finish finish, bool mean = false) {
    Geometry geometry;
    if (!geometry.take(array, axes, out, true) || kind_of_elements(out) != geometry.kind ||
        (PyArray_ITEMSIZE(out) == 2) != geometry.bfloat16)
        return 0;
    const Reducer& reducer = reduce_loops().reducer[op][geometry.bfloat16 ? BFLOAT16_KIND : geometry.kind];
    if (reducer.row == nullptr) return 0;
    finish.kind = geometry.kind;
    finish.bfloat16 = geometry.bfloat16;
    if (mean) finish.divisor = static_cast<double>(geometry.terms);
    const Dimension inner = geometry.reduced[geometry.reduced_count - 1];
    char* to = PyArray_BYTES(out);
    if (geometry.by_rows()) {
        if (geometry.results == 1 && geometry.reduced_count == 1) return reduce_long_row(reducer, geometry, to, finish);
        if (geometry.reduced_count == 1) {
            reduce_rows(reducer, geometry, to, finish);
            return 1;
        }
        for_rows(geometry, to, [&](const char* in, char* result) {
            Accumulator total = reducer.identity;
            for_parts(geometry, in, [&](const char* row) { reducer.row(row, inner.extent, &total); });
            finish(result, total);
        });
        return 1;
    }
    if (!geometry.by_columns()) return 0;
    const Dimension columns = geometry.kept[geometry.kept_count - 1];
    if (geometry.kept_count == 1 && geometry.reduced_count == 1 && columns.extent <= 32 &&
        inner.in == columns.in * static_cast<ptrdiff_t>(columns.extent) && inner.extent >= COLUMNS) {
        reduce_narrow(reducer, geometry, to, finish);
        return 1;
    }
    for_tiles(geometry, to, [&](const char* in, size_t width, char* results) {
        Accumulator totals[COLUMNS];
        for (size_t column = 0; column < width; column++) totals[column] = reducer.identity;
        for_parts(geometry, in,
                  [&](const char* rows) { reducer.columns(rows, inner.in, inner.extent, width, totals); });
        finish(results, columns.out, totals, width);
    });
    return 1;
}

PyArrayObject* writable(PyObject* given) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return PyArray_ISBEHAVED(array) ? array : nullptr;
}

// Values are (self, dims, keepdim), or self alone.
template <Reduction op, bool mean>
int reduction(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = writable(given);
    if (out == nullptr || (count != 1 && count != 3)) return 0;
    return reduce(op, out, values[0], count == 1 ? Py_None : values[1], Finish(), mean);
}

// Values are (self, order, dims, keepdim).
int vector_norm(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = writable(given);
    double order;
    if (out == nullptr || count != 4 || !exact_number(values[1], order)) return 0;
    const Kind kind = kind_of_elements(out);
    if ((kind != FLOAT_KIND && kind != DOUBLE_KIND) || (order != 1 && order != 2)) return 0;
    Finish finish;
    finish.root = order == 2;
    return reduce(order == 2 ? NORM2 : NORM1, out, values[0], values[2], finish);
}

// Variance, or its root, and the mean where `means` is not null.
int spread(PyArrayObject* out, PyArrayObject* means, PyObject* array, PyObject* axes, double correction, bool root) {
    Geometry geometry, same;
    if (!geometry.take(array, axes, out) || geometry.kind > DOUBLE_KIND || kind_of_elements(out) != geometry.kind)
        return 0;
    if (means != nullptr && (!same.take(array, axes, means) || kind_of_elements(means) != geometry.kind ||
                             !PyArray_IS_C_CONTIGUOUS(means) || !PyArray_IS_C_CONTIGUOUS(out)))
        return 0;
    const auto terms = static_cast<double>(geometry.terms);
    if (terms - correction <= 0) return 0;  // numpy's kernel warns
    const auto& loops = reduce_loops();
    const Reducer& sum = loops.reducer[SUM][geometry.kind];
    const Finish finish{terms - correction, root, geometry.kind}, plain{1, false, geometry.kind};
    const Dimension inner = geometry.reduced[geometry.reduced_count - 1];
    char* to = PyArray_BYTES(out);
    const ptrdiff_t apart = means == nullptr ? 0 : PyArray_BYTES(means) - to;
    if (geometry.by_rows()) {
        for_rows(geometry, to, [&](const char* in, char* result) {
            Accumulator mean{0}, total{0};
            for_parts(geometry, in, [&](const char* row) { sum.row(row, inner.extent, &mean); });
            mean.real /= terms;
            for_parts(geometry, in,
                      [&](const char* row) { loops.row_spread[geometry.kind](row, inner.extent, &mean, &total); });
            finish(result, total);
            if (means != nullptr) plain(result + apart, mean);
        });
        return 1;
    }
    if (!geometry.by_columns()) return 0;
    const ptrdiff_t step = geometry.kept[geometry.kept_count - 1].out;
    for_tiles(geometry, to, [&](const char* in, size_t width, char* results) {
        Accumulator mean[COLUMNS] = {}, total[COLUMNS] = {};
        for_parts(geometry, in, [&](const char* rows) { sum.columns(rows, inner.in, inner.extent, width, mean); });
        for (size_t column = 0; column < width; column++) mean[column].real /= terms;
        for_parts(geometry, in, [&](const char* rows) {
            loops.column_spread[geometry.kind](rows, inner.in, inner.extent, width, mean, total);
        });
        finish(results, step, total, width);
        if (means != nullptr) plain(results + apart, step, mean, width);
    });
    return 1;
}

// Whether all of a float32 result is finite: squares beyond a float may have a float's root, and doubles hold them.
bool finite(PyArrayObject* out) {
    if (PyArray_TYPE(out) != NPY_FLOAT32) return true;
    if (!PyArray_ISONESEGMENT(out)) return false;
    const auto* values = reinterpret_cast<const float*>(PyArray_BYTES(out));
    const npy_intp count = PyArray_SIZE(out);
    float nothing = 0;  // nan from the first infinity on
    for (npy_intp at = 0; at < count; at++) nothing += values[at] * 0;
    return nothing == 0;
}

// Values are (self, dims, correction, keepdim); outputs one, or variance and mean. Not finite: numpy's kernel.
template <bool root, bool with_mean>
int statistics(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    double correction;
    if (count != 4 || !exact_number(values[2], correction)) return 0;
    if (!with_mean) {
        PyArrayObject* out = writable(given);
        return out != nullptr && spread(out, nullptr, values[0], values[1], correction, root) && finite(out);
    }
    if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != 2) return 0;
    PyArrayObject *out = writable(PyTuple_GET_ITEM(given, 0)), *mean = writable(PyTuple_GET_ITEM(given, 1));
    return out != nullptr && mean != nullptr && spread(out, mean, values[0], values[1], correction, root) &&
           finite(out);
}

// The places of the extremes, and the extremes themselves where `extremes` is not null.
int find(bool least, PyArrayObject* places, PyArrayObject* extremes, PyObject* array, PyObject* axes) {
    Geometry geometry;
    if (PyArray_TYPE(places) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(places) || !geometry.take(array, axes, places) ||
        geometry.reduced_count != 1)
        return 0;
    const auto& loops = arg_extreme_loops();
    if (loops.row[least][geometry.kind] == nullptr) return 0;
    auto* source = reinterpret_cast<PyArrayObject*>(array);
    const ptrdiff_t item = PyArray_ITEMSIZE(source);
    if (extremes != nullptr && (PyArray_TYPE(extremes) != PyArray_TYPE(source) || !PyArray_IS_C_CONTIGUOUS(extremes) ||
                                PyArray_SIZE(extremes) != PyArray_SIZE(places)))
        return 0;
    const Dimension inner = geometry.reduced[0];
    char* to = PyArray_BYTES(places);
    char* values = extremes == nullptr ? nullptr : PyArray_BYTES(extremes);
    auto keep = [=](char* result, const char* in, long long found) {
        *reinterpret_cast<long long*>(result) = found;
        if (values != nullptr)
            memcpy(values + (result - to) / 8 * item, in + inner.in * found, static_cast<size_t>(item));
    };
    if (geometry.by_rows()) {
        for_rows(geometry, to, [&](const char* in, char* result) {
            keep(result, in, static_cast<long long>(loops.row[least][geometry.kind](in, inner.extent)));
        });
        return 1;
    }
    if (!geometry.by_columns()) return 0;
    const ptrdiff_t step = geometry.kept[geometry.kept_count - 1].out;
    for_tiles(geometry, to, [&](const char* in, size_t width, char* results) {
        long long found[COLUMNS];
        loops.columns[least][geometry.kind](in, inner.in, inner.extent, width, found);
        for (size_t column = 0; column < width; column++)
            keep(results + step * static_cast<ptrdiff_t>(column), in + item * static_cast<ptrdiff_t>(column),
                 found[column]);
    });
    return 1;
}

// Outputs are (values, indices); values (self, dims, keepdim).
template <bool least>
int extreme(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != 2) return 0;
    PyArrayObject *found = writable(PyTuple_GET_ITEM(given, 0)), *places = writable(PyTuple_GET_ITEM(given, 1));
    return found == nullptr || places == nullptr ? 0 : find(least, places, found, values[0], values[1]);
}

// Values are (self, axis, keepdim); without an axis elements are counted in the array's order.
template <bool least>
int place(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = writable(given);
    if (count != 3 || out == nullptr || !PyArray_CheckExact(values[0])) return 0;
    if (values[1] == Py_None) {
        if (!PyArray_IS_C_CONTIGUOUS(reinterpret_cast<PyArrayObject*>(values[0]))) return 0;
        return find(least, out, nullptr, values[0], Py_None);
    }
    if (!PyLong_CheckExact(values[1])) return 0;
    Ref axes(PyTuple_Pack(1, values[1]));
    return axes ? find(least, out, nullptr, values[0], axes.get()) : -1;
}

}  // namespace

const NamedKernel reduce_kernels[] = {
    {"sum sum.dim_IntList", reduction<SUM, false>, REDUCED_PRECISION},
    {"mean mean.dim", reduction<SUM, true>, REDUCED_PRECISION},
    {"prod prod.dim_int", reduction<PROD, false>, REDUCED_PRECISION},
    {"amax max", reduction<AMAX, false>, REDUCED_PRECISION},
    {"amin min", reduction<AMIN, false>, REDUCED_PRECISION},
    {"nansum", reduction<NANSUM, false>, REDUCED_PRECISION},
    {"any any.dims any.dim", reduction<AMAX, false>},
    {"all all.dims all.dim", reduction<AMIN, false>},
    {"linalg_vector_norm", vector_norm, REDUCED_PRECISION},
    {"var.correction", statistics<false, false>},
    {"std.correction", statistics<true, false>},
    {"var_mean.correction", statistics<false, true>},
    {"std_mean.correction", statistics<true, true>},
    {"max.dim", extreme<false>},
    {"min.dim", extreme<true>},
    {"argmax", place<false>},
    {"argmin", place<true>},
    {nullptr, nullptr},
};

}  // namespace mindtorch
