// Copies of strided regions: dimensions are sorted and joined, and the two nearest in memory make the planes of a loop.
#include "kernels/region.h"

#include "parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <initializer_list>

namespace mindtorch {

namespace {

npy_intp size_of_step(npy_intp step) { return step < 0 ? -step : step; }

// Farthest first by the step of `to`, then of `from`.
bool is_farther(const Region& region, int a, int b) {
    const npy_intp one = size_of_step(region.to_steps[a]), other = size_of_step(region.to_steps[b]);
    return one != other ? one > other : size_of_step(region.from_steps[a]) > size_of_step(region.from_steps[b]);
}

void exchange(Region& region, int a, int b) {
    for (npy_intp* list : {region.extents, region.to_steps, region.from_steps}) {
        const npy_intp kept = list[a];
        list[a] = list[b];
        list[b] = kept;
    }
}

// Drop extents of one, sort, and join what is adjacent on both sides; 0 where there is no element.
bool simplify(Region& region) {
    int kept = 0;
    for (int dim = 0; dim < region.ndim; dim++) {
        if (region.extents[dim] == 0) return false;
        if (region.extents[dim] != 1) exchange(region, kept++, dim);
    }
    region.ndim = kept;
    for (int dim = 1; dim < region.ndim; dim++)
        for (int at = dim; at > 0 && is_farther(region, at, at - 1); at--) exchange(region, at, at - 1);
    int last = 0;
    for (int dim = 1; dim < region.ndim; dim++) {
        const npy_intp extent = region.extents[dim];
        if (region.to_steps[last] == extent * region.to_steps[dim] &&
            region.from_steps[last] == extent * region.from_steps[dim]) {
            region.extents[last] *= extent;
            region.to_steps[last] = region.to_steps[dim];
            region.from_steps[last] = region.from_steps[dim];
        } else {
            exchange(region, ++last, dim);
        }
    }
    if (region.ndim > 0) region.ndim = last + 1;
    while (region.ndim < 2) {  // a plane has two
        region.add(1, 0, 0);
        for (int at = region.ndim - 1; at > 0; at--) exchange(region, at, at - 1);
    }
    return true;
}

// One line alone is cut in two dimensions, for threads to share.
void split_line(Region& region) {
    constexpr npy_intp PIECE = 8192;
    const int line = region.ndim - 1;
    if (region.ndim != 2 || region.extents[0] != 1 || region.extents[line] < 2 * PIECE ||
        region.extents[line] % PIECE != 0)
        return;
    region.extents[0] = region.extents[line] / PIECE;
    region.to_steps[0] = PIECE * region.to_steps[line];
    region.from_steps[0] = PIECE * region.from_steps[line];
    region.extents[line] = PIECE;
}

// Run `loop` over all planes of the last two dimensions, planes cut by rows.
void run_planes(const Region& region, PlaneLoop loop) {
    const int row = region.ndim - 2, column = region.ndim - 1;
    const auto rows = static_cast<size_t>(region.extents[row]), columns = static_cast<size_t>(region.extents[column]);
    size_t planes = 1;
    for (int dim = 0; dim < row; dim++) planes *= static_cast<size_t>(region.extents[dim]);
    const size_t grain = columns >= GRAIN ? 1 : (GRAIN * 4 + columns - 1) / columns;
    parallel(planes * rows, grain, [&](size_t from, size_t to) {
        while (from < to) {
            size_t number = from / rows;
            const size_t first = from - number * rows, left = to - from;
            Plane plane;
            plane.rows = rows - first < left ? rows - first : left;
            plane.columns = columns;
            plane.to_row = region.to_steps[row];
            plane.from_row = region.from_steps[row];
            plane.to_column = region.to_steps[column];
            plane.from_column = region.from_steps[column];
            plane.to = region.to + static_cast<npy_intp>(first) * plane.to_row;
            plane.from = region.from + static_cast<npy_intp>(first) * plane.from_row;
            for (int dim = row - 1; dim >= 0; dim--) {
                const auto extent = static_cast<size_t>(region.extents[dim]);
                const auto index = static_cast<npy_intp>(number % extent);
                number /= extent;
                plane.to += index * region.to_steps[dim];
                plane.from += index * region.from_steps[dim];
            }
            loop(plane);
            from += plane.rows;
        }
    });
}

}  // namespace

int size_class(PyArrayObject* array) {
    const int type = PyArray_TYPE(array);
    if (type == NPY_OBJECT || type == NPY_VOID || type == NPY_STRING || type == NPY_UNICODE) return -1;
    switch (PyArray_ITEMSIZE(array)) {
        case 1: return 0;
        case 2: return 1;
        case 4: return 2;
        case 8: return 3;
        case 16: return 4;
        default: return -1;
    }
}

PyArrayObject* plain_array(PyObject* given, bool writable) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return (writable ? PyArray_ISBEHAVED(array) : PyArray_ISBEHAVED_RO(array)) ? array : nullptr;
}

bool may_overlap(PyArrayObject* a, PyArrayObject* b) {
    const char *low[2], *high[2];
    PyArrayObject* const both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (PyArray_SIZE(both[i]) == 0) return false;
        low[i] = high[i] = PyArray_BYTES(both[i]);
        for (int dim = 0; dim < PyArray_NDIM(both[i]); dim++) {
            const npy_intp span = (PyArray_DIM(both[i], dim) - 1) * PyArray_STRIDE(both[i], dim);
            (span < 0 ? low[i] : high[i]) += span;
        }
        high[i] += PyArray_ITEMSIZE(both[i]);
    }
    return low[0] < high[1] && low[1] < high[0];
}

int kind_of_element(PyArrayObject* array) {
    static int bfloat16 = -1;
    switch (PyArray_TYPE(array)) {
        case NPY_BOOL: return BOOL;
        case NPY_UINT8: return UINT8;
        case NPY_INT32: return INT32;
        case NPY_INT64: return INT64;
        case NPY_HALF: return HALF;
        case NPY_FLOAT: return FLOAT32;
        case NPY_DOUBLE: return FLOAT64;
    }
    const int type = PyArray_TYPE(array);
    if (!PyTypeNum_ISUSERDEF(type)) return -1;
    if (bfloat16 < 0) {
        const char* name = PyArray_DESCR(array)->typeobj->tp_name;
        const char* dot = strrchr(name, '.');
        if (strcmp(dot == nullptr ? name : dot + 1, "bfloat16") == 0) bfloat16 = type;
    }
    return type == bfloat16 ? BFLOAT16 : -1;
}

bool region_of(Region& region, PyArrayObject* out, PyArrayObject* from) {
    const int ndim = PyArray_NDIM(out), missing = ndim - PyArray_NDIM(from);
    if (missing < 0) return false;
    region.to = PyArray_BYTES(out);
    region.from = PyArray_BYTES(from);
    for (int dim = 0; dim < ndim; dim++) {
        const npy_intp extent = PyArray_DIM(out, dim), has = dim < missing ? 1 : PyArray_DIM(from, dim - missing);
        if (has != extent && has != 1) return false;
        region.add(extent, PyArray_STRIDE(out, dim), has == 1 ? 0 : PyArray_STRIDE(from, dim - missing));
    }
    return true;
}

void copy_region(Region& region, int size) {
    if (!simplify(region)) return;
    const npy_intp item = npy_intp{1} << size;
    const int column = region.ndim - 1;
    const npy_intp step = region.from_steps[column];
    if (region.to_steps[column] == item && step != item && step != 0 && size < 4) {
        for (int dim = 0; dim < column; dim++) {
            if (region.from_steps[dim] != item) continue;
            for (int at = dim; at < column - 1; at++) exchange(region, at, at + 1);
            return run_planes(region, copy_loops().transpose[size]);
        }
    }
    split_line(region);
    run_planes(region, copy_loops().move[size]);
}

void turn_plane(char* to, const char* from, size_t rows, size_t columns, ptrdiff_t step, size_t size) {
    const auto item = static_cast<ptrdiff_t>(size);
    const int width = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    copy_loops().transpose[width]({to, from, rows, columns, static_cast<ptrdiff_t>(columns) * item, item, item, step});
}

bool convert_region(Region& region, int to_kind, int from_kind) {
    const PlaneLoop loop = copy_loops().convert[to_kind][from_kind];
    if (loop == nullptr) return false;
    if (simplify(region)) {
        split_line(region);
        run_planes(region, loop);
    }
    return true;
}

void fill_region(Region& region, int size, const void* element) {
    region.from = static_cast<const char*>(element);
    for (int dim = 0; dim < region.ndim; dim++) region.from_steps[dim] = 0;
    copy_region(region, size);
}

void fill_array(PyArrayObject* out, int size, const void* element) {
    Region region;
    region.to = PyArray_BYTES(out);
    for (int dim = 0; dim < PyArray_NDIM(out); dim++) region.add(PyArray_DIM(out, dim), PyArray_STRIDE(out, dim), 0);
    fill_region(region, size, element);
}

bool element_from(PyArrayObject* array, PyObject* number, void* element) {
    const int kind = kind_of_element(array);
    if (PyLong_Check(number) && (kind == INT64 || kind == INT32 || kind == BOOL)) {
        int overflow;
        const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
        if (overflow != 0) return false;
        const auto narrow = static_cast<int32_t>(value);
        if (kind == INT64) {
            memcpy(element, &value, sizeof value);
        } else if (kind == INT32) {
            if (narrow != value) return false;
            memcpy(element, &narrow, sizeof narrow);
        } else {
            *static_cast<char*>(element) = value != 0;
        }
        return true;
    }
    double value;
    if (PyFloat_CheckExact(number)) {
        value = PyFloat_AS_DOUBLE(number);
    } else if (PyLong_Check(number)) {
        value = PyLong_AsDouble(number);
        if (value == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
    } else {
        return false;
    }
    const auto single = static_cast<float>(value);
    switch (kind) {
        case FLOAT32:
            if (fabs(value) > FLT_MAX && !isinf(value)) return false;
            memcpy(element, &single, sizeof single);
            return true;
        case FLOAT64: memcpy(element, &value, sizeof value); return true;
        case BOOL: *static_cast<char*>(element) = value != 0; return true;
        case HALF:
        case BFLOAT16: {
            if (value != single) return false;
            Plane plane = {static_cast<char*>(element), reinterpret_cast<const char*>(&single), 1, 1, 0, 0, 0, 0};
            copy_loops().convert[kind][FLOAT32](plane);
            return fabs(value) <= 65504.0 || value != value;
        }
        default: return false;
    }
}

}  // namespace mindtorch
