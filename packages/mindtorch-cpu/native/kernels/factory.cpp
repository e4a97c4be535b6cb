// What arrays are made of without operands: equidistant numbers, places of triangles; and counts of numbers.
#include <climits>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "kernels/integer.h"
#include "kernels/operand.h"
#include "parallel.h"

namespace mindtorch {

namespace {

constexpr long MOST = long{1} << 40;  // extents and offsets whose sums do not overflow

// A number that a float is made of without rounding twice.
bool number_of(PyObject* value, double& to) {
    if (PyFloat_CheckExact(value)) {
        to = PyFloat_AS_DOUBLE(value);
    } else {
        const long whole = PyLong_CheckExact(value) ? integer_of(value) : LONG_MIN;
        if (whole < -(1 << 24) || whole > 1 << 24) return false;
        to = static_cast<double>(whole);
    }
    return true;
}

// The lower half is counted from the start and the upper one from the end, so that both are exact.
template <typename Real>
void space(Real* out, Real start, Real end, Real step, size_t steps, size_t from, size_t to) {
    const size_t half = steps / 2;
    for (size_t i = from; i < (to < half ? to : half); i++)
        out[i] = step * static_cast<Real>(static_cast<int32_t>(i)) + start;
    for (size_t i = from < half ? half : from; i < to; i++)
        out[i] = step * static_cast<Real>(static_cast<int32_t>(i) - static_cast<int32_t>(steps - 1)) + end;
}

template <typename Real>
int space_all(PyArrayObject* out, double first, double last, size_t steps) {
    const Real start = static_cast<Real>(first), end = static_cast<Real>(last);
    const Real step = (end - start) / static_cast<Real>(steps - 1);
    if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step)) return 0;
    auto* to = static_cast<Real*>(PyArray_DATA(out));
    parallel(steps, GRAIN, [&](size_t from, size_t until) { space(to, start, end, step, steps, from, until); });
    return 1;
}

// Values begin with (start, end, steps).
int linspace(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = output(given);
    double first, last;
    if (count < 3 || out == nullptr || !number_of(values[0], first) || !number_of(values[1], last)) return 0;
    const long steps = integer_of(values[2]);
    if (steps < 2 || steps >= INT_MAX || steps != PyArray_SIZE(out)) return 0;
    return kind_of(out) == 0 ? space_all<float>(out, first, last, static_cast<size_t>(steps))
                             : space_all<double>(out, first, last, static_cast<size_t>(steps));
}

long within(long value, long most) { return value < 0 ? 0 : value > most ? most : value; }

// Values are (rows, columns, offset).
template <bool upper>
int triangle(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyArray_CheckExact(given)) return 0;
    auto* out = reinterpret_cast<PyArrayObject*>(given);
    if (PyArray_NDIM(out) != 2 || PyArray_DIM(out, 0) != 2 || !PyArray_ISCARRAY(out)) return 0;
    if (PyArray_TYPE(out) != NPY_INT64) return 0;
    const long rows = integer_of(values[0]), columns = integer_of(values[1]), offset = integer_of(values[2]);
    for (const long value : {rows, columns, offset})
        if (value < -MOST || value > MOST) return 0;
    const npy_intp size = PyArray_DIM(out, 1);
    auto *row_to = static_cast<int64_t*>(PyArray_DATA(out)), *column_to = row_to + size;
    npy_intp at = 0;
    for (long row = upper ? 0 : within(-offset, rows); row < rows; row++) {
        const long begin = upper ? within(row + offset, columns) : 0;
        const long end = upper ? columns : within(row + offset + 1, columns);
        if (end - begin > size - at) return 0;
        for (long column = begin; column < end; column++) row_to[at + column - begin] = row;
        for (long column = begin; column < end; column++) column_to[at + column - begin] = column;
        at += end - begin > 0 ? end - begin : 0;
        if (at == size) break;
    }
    return at == size ? 1 : 0;
}

constexpr int64_t MOST_NUMBERS = 1 << 20;

// Values are (self, weights, minlength).
PyObject* bincount(PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyArray_CheckExact(values[0]) || values[1] != Py_None) return nullptr;
    auto* self = reinterpret_cast<PyArrayObject*>(values[0]);
    const long least = integer_of(values[2]);
    if (PyArray_NDIM(self) != 1 || PyArray_TYPE(self) != NPY_INT64 || !PyArray_ISCARRAY_RO(self)) return nullptr;
    if (least < 0 || least > MOST_NUMBERS) return nullptr;
    const auto* numbers = static_cast<const int64_t*>(PyArray_DATA(self));
    const size_t size = static_cast<size_t>(PyArray_SIZE(self));
    uint64_t bits = 0;  // no number is larger than all their bits
    for (size_t i = 0; i < size; i++) bits |= static_cast<uint64_t>(numbers[i]);
    if (bits >= static_cast<uint64_t>(MOST_NUMBERS)) return nullptr;
    // Equal numbers wait for each other: two tables in turn, where both stay in the first cache.
    const size_t bins = static_cast<size_t>(bits) + 1, tables = bins <= 2048 ? 2 : 1;
    auto* memory = static_cast<int64_t*>(PyMem_Calloc(tables * bins, sizeof(int64_t)));
    if (memory == nullptr) return PyErr_NoMemory();
    int64_t* other = memory + (tables - 1) * bins;
    for (size_t i = 0; i + 1 < size; i += 2) {
        memory[numbers[i]]++;
        other[numbers[i + 1]]++;
    }
    if (size % 2 == 1) memory[numbers[size - 1]]++;
    for (size_t i = 0; tables == 2 && i < bins; i++) memory[i] += other[i];
    size_t used = bins;
    while (used > 0 && memory[used - 1] == 0) used--;
    npy_intp length = static_cast<npy_intp>(used) > least ? static_cast<npy_intp>(used) : least;
    PyObject* made = PyArray_ZEROS(1, &length, NPY_INT64, 0);
    if (made != nullptr) memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made)), memory, used * sizeof(int64_t));
    PyMem_Free(memory);
    return made;
}

}  // namespace

const NamedKernel factory_kernels[] = {
    {"linspace", linspace},
    {"tril_indices", triangle<false>},
    {"triu_indices", triangle<true>},
    {"bincount", nullptr, FULL_PRECISION, bincount},
    {nullptr, nullptr},
};

}  // namespace mindtorch
