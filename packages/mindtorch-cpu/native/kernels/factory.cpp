// What arrays are made of without operands: equidistant numbers, places of triangles; and counts of numbers.
#include <climits>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "kernels/integer.h"
#include "kernels/operand.h"
#include "kernels/region.h"
#include "simd/element.h"
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

// base + step * place, rounded once, as torch's fused instructions do. The sum of floats is exact in double precision
// but for its last digits. A step of doubles is taken apart, so that products with its upper part are exact.
INLINE float placed(float base, float step, int32_t place) {
    return static_cast<float>(static_cast<double>(step) * place + base);
}
INLINE double placed(double base, double step, int32_t place) {
    uint64_t bits;
    memcpy(&bits, &step, sizeof bits);
    bits &= ~uint64_t{0x7fffffff};
    double upper;
    memcpy(&upper, &bits, sizeof upper);
    const double product = upper * place, sum = base + product, added = sum - base;
    const double lost = (base - (sum - added)) + (product - added);
    return sum + (lost + (step - upper) * place);
}

// The lower half is counted from the start and the upper one from the end, so that both are exact.
template <typename Real>
void space(Real* out, Real start, Real end, Real step, size_t steps, size_t from, size_t to) {
    const size_t half = steps / 2;
    for (size_t i = from; i < (to < half ? to : half); i++) out[i] = placed(start, step, static_cast<int32_t>(i));
    for (size_t i = from < half ? half : from; i < to; i++)
        out[i] = placed(end, step, static_cast<int32_t>(i) - static_cast<int32_t>(steps - 1));
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

// Numbers that are all whole and exact.
template <typename Real>
bool are_whole(double start, double step, double size) {
    constexpr double EXACT = std::is_same_v<Real, float> ? 1 << 24 : 1LL << 53;
    const double last = start + step * size;
    return start == std::floor(start) && step == std::floor(step) && std::fabs(start) <= EXACT &&
           std::fabs(last) <= EXACT;
}

// torch counts two vectors of 32 bytes at a time, each from its first number, and what is left from the start. Sums
// near zero show every digit of a product, in floats too.
template <typename Real>
int count_all(PyArrayObject* out, double start, double step) {
    constexpr size_t LANES_OF_32 = 32 / sizeof(Real);
    const size_t size = static_cast<size_t>(PyArray_SIZE(out)), whole = size / (2 * LANES_OF_32) * (2 * LANES_OF_32);
    auto* to = static_cast<Real*>(PyArray_DATA(out));
    if (are_whole<Real>(start, step, static_cast<double>(size))) {
        const int64_t first = static_cast<int64_t>(start), each = static_cast<int64_t>(step);
        for (size_t i = 0; i < size; i++) to[i] = static_cast<Real>(first + static_cast<int64_t>(i) * each);
        return 1;
    }
    for (size_t i = 0; i < whole; i += LANES_OF_32) {
        const double base = static_cast<Real>(placed(start, step, static_cast<int32_t>(i)));
        for (size_t lane = 0; lane < LANES_OF_32; lane++)
            to[i + lane] = static_cast<Real>(placed(base, step, static_cast<int32_t>(lane)));
    }
    for (size_t i = whole; i < size; i++) to[i] = static_cast<Real>(placed(start, step, static_cast<int32_t>(i)));
    return 1;
}

// Values are (start, end, step): multiples of a whole step from a whole start in int64, of any in float32 and float64.
int arange(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject* out = plain_array(given, true);
    if (count != 3 || out == nullptr || PyArray_NDIM(out) != 1 || !PyArray_IS_C_CONTIGUOUS(out)) return 0;
    const npy_intp size = PyArray_SIZE(out);
    if (PyArray_TYPE(out) == NPY_INT64 && PyLong_CheckExact(values[0]) && PyLong_CheckExact(values[2])) {
        const long long start = PyLong_AsLongLong(values[0]), step = PyLong_AsLongLong(values[2]);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        auto* to = static_cast<int64_t*>(PyArray_DATA(out));
        uint64_t value = static_cast<uint64_t>(start);  // wraps
        for (npy_intp i = 0; i < size; i++, value += static_cast<uint64_t>(step)) to[i] = static_cast<int64_t>(value);
        return 1;
    }
    double start, step;
    if (size >= INT_MAX || !number_of(values[0], start) || !number_of(values[2], step)) return 0;
    if (!std::isfinite(start) || !std::isfinite(step * static_cast<double>(size))) return 0;
    if (PyArray_TYPE(out) == NPY_FLOAT) return count_all<float>(out, start, step);
    return PyArray_TYPE(out) == NPY_DOUBLE ? count_all<double>(out, start, step) : 0;
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
    {"arange arange.start arange.start_step", arange},
    {"tril_indices", triangle<false>},
    {"triu_indices", triangle<true>},
    {"bincount", nullptr, FULL_PRECISION, bincount},
    {nullptr, nullptr},
};

}  // namespace mindtorch
