// Sorting along one dimension: elements become whole numbers of the same order, which are sorted by their digits, the
// lowest first. Equal elements stay in their order, and a nan is larger than every number.
#include "mindtorch/entry.h"
#include "kernels/integer.h"
#include "kernels/operand.h"
#include "kernels/ordered_lines.h"
#include "kernels/region.h"

#include <stdint.h>
#include <string.h>

#include <algorithm>

namespace mindtorch {

namespace {

constexpr int DIGIT = 8, DIGITS = 64 / DIGIT, VALUES = 1 << DIGIT;
constexpr size_t FEW = 64;  // so many are sorted sooner by comparisons

uint64_t digits_of(uint64_t item, int shift) { return item >> shift; }
uint64_t digits_of(const Placed& item, int shift) { return item.order >> shift; }

// Sort by `bits` of the items from `shift` on; the result is in one of the two blocks.
template <typename Item>
Item* sort_by_digits(Item* items, Item* other, size_t count, int shift, int bits) {
    if (count <= FEW) {
        std::sort(items, items + count);
        return items;
    }
    size_t ends[DIGITS][VALUES];
    const int passes = (bits + DIGIT - 1) / DIGIT;
    memset(ends, 0, static_cast<size_t>(passes) * sizeof ends[0]);
    for (size_t i = 0; i < count; i++) {
        uint64_t digits = digits_of(items[i], shift);
        for (int pass = 0; pass < passes; pass++, digits >>= DIGIT) ends[pass][digits % VALUES]++;
    }
    for (int pass = 0; pass < passes; pass++, shift += DIGIT) {
        size_t* begin = ends[pass];
        if (begin[digits_of(items[0], shift) % VALUES] == count) continue;
        size_t total = 0;
        for (int value = 0; value < VALUES; value++) {
            const size_t many = begin[value];
            begin[value] = total;
            total += many;
        }
        for (size_t i = 0; i < count; i++) other[begin[digits_of(items[i], shift) % VALUES]++] = items[i];
        std::swap(items, other);
    }
    return items;
}

// One line of elements and where the sorted ones and their places go; steps are in bytes.
struct Line {
    const char* from;
    char *values, *places;
    ptrdiff_t from_step, values_step, places_step;
    size_t count;

    template <typename Item>
    void put(size_t rank, uint64_t place) const {
        const auto at = static_cast<ptrdiff_t>(rank), source = static_cast<ptrdiff_t>(place);
        memcpy(values + at * values_step, from + source * from_step, sizeof(Item));
        memcpy(places + at * places_step, &source, sizeof(int64_t));
    }
};

constexpr size_t ROOM = 5 * sizeof(uint64_t);  // of the buffer, for each element

template <typename Item>
struct SortLine {
    static void run(const Line& line, bool descending, uint64_t* buffer) {
        const size_t count = line.count;
        const Orders orders = read_orders<Item>(line.from, line.from_step, count, buffer, descending ? UINT64_MAX : 0);
        if (orders.fits()) {
            const uint64_t* sorted = sort_by_digits(orders.packed(), buffer + count, count, orders.shift, orders.bits);
            for (size_t i = 0; i < count; i++) line.put<Item>(i, orders.place(sorted[i]));
        } else {
            Placed* items = orders.placed();
            const Placed* sorted = sort_by_digits(items, items + count, count, 0, orders.bits);
            for (size_t i = 0; i < count; i++) line.put<Item>(i, sorted[i].place);
        }
    }
};

// Outputs are (values, indices); values (self, dim, descending).
int sort(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 || !PyLong_CheckExact(values[1]) ||
        !PyBool_Check(values[2]))
        return 0;
    PyArrayObject *sorted = plain_array(PyTuple_GET_ITEM(outs, 0), true),
                  *places = plain_array(PyTuple_GET_ITEM(outs, 1), true), *self = plain_array(values[0]);
    if (sorted == nullptr || places == nullptr || self == nullptr || PyArray_TYPE(sorted) != PyArray_TYPE(self) ||
        PyArray_TYPE(places) != NPY_INT64 || !PyArray_SAMESHAPE(sorted, self) || !PyArray_SAMESHAPE(places, self) ||
        may_overlap(sorted, self) || may_overlap(places, self) || may_overlap(sorted, places))
        return 0;
    const auto loop = ordered_loop<SortLine>(self);
    const int ndim = PyArray_NDIM(self);
    const long dim = integer_of(values[1]);
    const int axis = static_cast<int>(dim < 0 ? dim + ndim : dim);
    if (loop == nullptr || axis < 0 || axis >= ndim) return PyErr_Clear(), 0;
    if (PyArray_SIZE(self) == 0) return 1;
    const auto extent = static_cast<size_t>(PyArray_DIM(self, axis));
    const size_t lines = static_cast<size_t>(PyArray_SIZE(self)) / extent;
    const bool descending = values[2] == Py_True;
    return each_line(lines, extent, ROOM, [&](size_t line, uint64_t* buffer) {
        loop({start_of(self, line, axis), start_of(sorted, line, axis), start_of(places, line, axis),
              PyArray_STRIDE(self, axis), PyArray_STRIDE(sorted, axis), PyArray_STRIDE(places, axis), extent},
             descending, buffer);
    });
}

}  // namespace

const NamedKernel sort_kernels[] = {
    {"sort sort.stable", sort, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
