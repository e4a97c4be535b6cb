// Gathering and scattering along one dimension, line by line.
#include "kernels/index.h"

#include "parallel.h"
#include "kernels/index_sum.h"
#include "kernels/region.h"
#include "kernels/integer.h"

#include <math.h>
#include <string.h>

namespace mindtorch {

namespace {

// The walk over all lines of `index`: how the indexed side and the other side lie beside it.
struct Walk {
    PyArrayObject* index;
    const char *start, *indexed, *other;
    int ndim, line, along;
    npy_intp extents[MOST_DIMENSIONS], index_steps[MOST_DIMENSIONS], indexed_steps[MOST_DIMENSIONS],
        other_steps[MOST_DIMENSIONS];
    npy_intp reach, high;
    bool writes = false;  // to the indexed side

    // False where the dimensions are not those of a walk, or a position is out of range.
    bool set(PyArrayObject* positions, PyArrayObject* reached, PyObject* given) {
        index = positions;
        start = PyArray_BYTES(index);
        indexed = PyArray_BYTES(reached);
        ndim = PyArray_NDIM(index);
        if (!PyLong_CheckExact(given) || ndim == 0 || PyArray_NDIM(reached) != ndim) return false;
        long dim = integer_of(given);
        if (dim < 0) dim += ndim;
        if (dim < 0 || dim >= ndim) return false;
        along = static_cast<int>(dim);
        line = ndim - 1;
        for (int at = 0; at < ndim; at++) {
            extents[at] = PyArray_DIM(index, at);
            index_steps[at] = PyArray_STRIDE(index, at);
            indexed_steps[at] = at == dim ? 0 : PyArray_STRIDE(reached, at);
            other_steps[at] = 0;
            if (at != dim && extents[at] > PyArray_DIM(reached, at)) return false;
        }
        for (int at = 0; at < ndim; at++)
            if (extents[line] < 16 && extents[at] > extents[line]) line = at;
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
        npy_intp at[MOST_DIMENSIONS] = {0};
        const char *positions = start, *there = indexed, *here = other;
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

    // Run the loop over all lines, by threads where no two of them reach the same elements.
    void run(void (*loop)(const PickedLine&)) const {
        if (PyArray_SIZE(index) == 0) return;
        const int shared = along == 0 ? 1 : 0;
        if (shared >= ndim) return run_part(loop);
        const auto many = static_cast<size_t>(extents[shared]);
        parallel(many, GRAIN * many / static_cast<size_t>(PyArray_SIZE(index)) + 1, [&](size_t from, size_t to) {
            Walk part = *this;
            const auto first = static_cast<npy_intp>(from);
            part.extents[shared] = static_cast<npy_intp>(to - from);
            part.start += first * index_steps[shared];
            part.indexed += first * indexed_steps[shared];
            part.other += first * other_steps[shared];
            part.run_part(loop);
        });
    }

    bool within() const {
        if (PyArray_SIZE(index) == 0) return true;
        const auto count = index_steps[line] == 0 ? size_t{1} : static_cast<size_t>(extents[line]);
        if (PyArray_IS_C_CONTIGUOUS(index))
            return index_loops().within(PyArray_BYTES(index), static_cast<size_t>(PyArray_SIZE(index)), 8, 0, high);
        return each([&](const char* positions, const char*, const char*) {
            return index_loops().within(positions, count, index_steps[line], 0, high);
        });
    }

private:
    void run_part(void (*loop)(const PickedLine&)) const {
        each([&](const char* positions, const char* there, const char* here) {
            const bool picks = !writes;
            loop({const_cast<char*>(picks ? here : there), picks ? there : here, positions,
                  static_cast<size_t>(extents[line]), index_steps[line], reach, indexed_steps[line],
                  other_steps[line]});
            return true;
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
    walk.run(index_loops().gather[size]);
    return 1;
}

// What a scatter writes to, and where.
struct Target {
    PyArrayObject *out, *self, *index;
    PyObject* dim;
    int size, sum;
    Walk walk;
    char element[16] = {0};

    // Take (out) and (self, dim, index, source), of which the last is an array or a number.
    bool take(PyObject* given, PyObject* const* values) {
        out = plain_array(given, true);
        self = plain_array(values[0]);
        index = positions_array(values[2]);
        dim = values[1];
        if (out == nullptr || self == nullptr || index == nullptr || PyArray_TYPE(out) != PyArray_TYPE(self))
            return false;
        size = size_class(out);
        sum = sum_of(out);
        walk.writes = true;
        return size >= 0 && !may_overlap(out, index) && walk.set(index, out, dim) && set_source(values[3]) &&
               walk.within();
    }

    // The output as `self` is; false where no loop does it.
    bool begin() {
        if (out == self) return true;
        Region region;
        if (may_overlap(out, self) || !region_of(region, out, self)) return false;
        copy_region(region, size);
        return true;
    }

    void combine(Combination how) const { walk.run(index_loops().combine[how][sum]); }

    // Write what changes nothing that is combined with it.
    void write_neutral(Combination how) const {
        char number[8];
        if (sum == LONG_SUM) {
            const int64_t each[] = {0, 1, INT64_MIN, INT64_MAX};
            memcpy(number, each + how, sizeof(int64_t));
        } else {
            const double each[] = {0, 1, -HUGE_VAL, HUGE_VAL};
            const auto single = static_cast<float>(each[how]);
            if (sum == FLOAT_SUM) memcpy(number, &single, sizeof single);
            if (sum == DOUBLE_SUM) memcpy(number, each + how, sizeof(double));
        }
        run_number(walk, number, index_loops().scatter[size]);
    }

    // Divide what was added by how many they were; -1 without memory.
    int divide(bool include_self) const {
        Ref made(PyArray_ZEROS(PyArray_NDIM(out), PyArray_DIMS(out), NPY_INT64, 0));
        if (!made) return -1;
        auto* counts = reinterpret_cast<PyArrayObject*>(made.get());
        Walk counted = walk;
        const int64_t one = 1;
        counted.set(index, counts, dim);
        run_number(counted, &one, index_loops().combine[ADDED][LONG_SUM]);
        const auto* numbers = static_cast<const int64_t*>(PyArray_DATA(counts));
        parallel(static_cast<size_t>(PyArray_SIZE(out)), GRAIN, [&](size_t from, size_t to) {
            index_loops().divide[sum](PyArray_BYTES(out) + (from << size), numbers + from, to - from,
                                      include_self ? 1 : 0);
        });
        return 1;
    }

private:
    bool set_source(PyObject* value) {
        PyArrayObject* source = plain_array(value);
        walk.other = element;
        if (source == nullptr) return element_from(out, value, element);
        return PyArray_TYPE(source) == PyArray_TYPE(out) && !may_overlap(out, source) && walk.set_other(source);
    }

    static void run_number(const Walk& walk, const void* number, void (*loop)(const PickedLine&)) {
        Walk numbers = walk;
        numbers.other = static_cast<const char*>(number);
        memset(numbers.other_steps, 0, sizeof numbers.other_steps);
        numbers.run(loop);
    }
};

// Values are (self, dim, index, source, reduce, include_self).
int scatter(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Target target;
    if (count != 6 || values[4] != Py_None || !target.take(given, values) || !target.begin()) return 0;
    target.walk.run(index_loops().scatter[target.size]);
    return 1;
}

int scatter_add(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Target target;
    if (count != 6 || !target.take(given, values) || target.sum < 0 || !target.begin()) return 0;
    target.combine(ADDED);
    return 1;
}

int scatter_reduce(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    constexpr struct {
        const char* name;
        Combination how;
    } names[] = {{"sum", ADDED}, {"mean", ADDED}, {"prod", MULTIPLIED}, {"amax", GREATER}, {"amin", LESSER}};
    Target target;
    if (count != 6 || !PyUnicode_Check(values[4]) || !PyBool_Check(values[5])) return 0;
    for (const auto& each : names) {
        if (PyUnicode_CompareWithASCIIString(values[4], each.name) != 0) continue;
        const bool mean = strcmp(each.name, "mean") == 0;
        if (!target.take(given, values) || target.sum < 0 || (mean && !PyArray_IS_C_CONTIGUOUS(target.out)) ||
            !target.begin())
            return 0;
        if (values[5] == Py_False) target.write_neutral(each.how);
        target.combine(each.how);
        return mean ? target.divide(values[5] == Py_True) : 1;
    }
    return 0;
}

}  // namespace

const NamedKernel scatter_kernels[] = {
    {"gather", gather},           {"scatter.src scatter.value", scatter},
    {"scatter_add", scatter_add}, {"scatter_reduce.two", scatter_reduce},
    {nullptr, nullptr},
};

}  // namespace mindtorch
