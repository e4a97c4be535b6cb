// Elements of a rank, medians among them: which they are is known without sorting what is smaller and what is larger.
#include "mindtorch/entry.h"
#include "kernels/integer.h"
#include "kernels/ordered_lines.h"
#include "kernels/region.h"

#include <algorithm>

namespace mindtorch {

namespace {

// Which element of a line is looked for.
struct Rank {
    enum { GIVEN, MEDIAN, NUMBERS_MEDIAN } kind;
    size_t given = 0;

    // Of a line that has `missing` elements that are no numbers, which are the last in order.
    size_t of(size_t count, size_t missing) const {
        if (kind == GIVEN) return given;
        if (kind == NUMBERS_MEDIAN) return (count > missing ? count - missing - 1 : 0) / 2;
        return missing > 0 ? count - missing : (count - 1) / 2;
    }
};

// So many elements are first told apart by their highest bits, by more of them where there are very many.
constexpr size_t MANY = 96, VERY_MANY = 4096;
constexpr int MOST_GROUP_BITS = 11;

int group_bits(size_t count) { return count > VERY_MANY ? MOST_GROUP_BITS : 8; }

// The item of a rank. What group_of gives of one, below 2 to the power of group_bits, never falls with its order.
template <typename Item, typename GroupOf>
Item item_of_rank(Item* items, size_t count, size_t rank, const GroupOf& group_of) {
    if (count > MANY) {
        uint32_t sizes[1 << MOST_GROUP_BITS];
        size_t group = 0, kept = 0;
        memset(sizes, 0, sizeof sizes[0] << group_bits(count));
        for (size_t i = 0; i < count; i++) sizes[group_of(items[i])]++;
        for (; rank >= sizes[group]; group++) rank -= sizes[group];
        for (size_t i = 0; i < count; i++) {
            items[kept] = items[i];
            kept += group_of(items[i]) == group ? 1 : 0;
        }
        count = kept;
    }
    std::nth_element(items, items + rank, items + count);
    return items[rank];
}

constexpr size_t ROOM = 3 * sizeof(uint64_t);  // of the buffer, for each element

// Where the element of the rank is among `count` that lie `step` bytes apart; the first of equal ones is the smaller.
template <typename Item>
struct PlaceOfRank {
    static size_t run(const char* from, ptrdiff_t step, size_t count, const Rank& rank, uint64_t* buffer) {
        const Orders orders = read_orders<Item>(from, step, count, buffer);
        const int rest = std::max(orders.bits - group_bits(count), 0), shift = orders.shift;
        const size_t wanted = rank.of(count, orders.missing);
        if (orders.fits()) {
            return orders.place(item_of_rank(orders.packed(), count, wanted, [=](uint64_t item) {
                return static_cast<size_t>(shift + rest < 64 ? item >> (shift + rest) : 0);
            }));
        }
        return item_of_rank(orders.placed(), count, wanted,
                            [=](const Placed& item) { return static_cast<size_t>(item.order >> rest); })
            .place;
    }
};

// One element of each line along `axis`, and its place; both outputs are dense, and the second may be null.
int find(PyArrayObject* values, PyArrayObject* places, PyArrayObject* self, int axis, const Rank& rank) {
    const auto loop = ordered_loop<PlaceOfRank>(self);
    const npy_intp size = PyArray_SIZE(self);
    if (loop == nullptr || size == 0 || !PyArray_IS_C_CONTIGUOUS(values) || may_overlap(values, self) ||
        PyArray_TYPE(values) != PyArray_TYPE(self))
        return 0;
    const auto extent = static_cast<size_t>(axis < 0 ? size : PyArray_DIM(self, axis));
    const size_t lines = static_cast<size_t>(size) / extent, item = static_cast<size_t>(PyArray_ITEMSIZE(self));
    const ptrdiff_t step = axis < 0 ? PyArray_ITEMSIZE(self) : PyArray_STRIDE(self, axis);
    if (static_cast<size_t>(PyArray_SIZE(values)) != lines || rank.given >= extent || extent > UINT32_MAX) return 0;
    auto* at = places == nullptr ? nullptr : static_cast<int64_t*>(PyArray_DATA(places));
    return each_line(lines, extent, ROOM, [&](size_t line, uint64_t* buffer) {
        const char* start = axis < 0 ? PyArray_BYTES(self) : start_of(self, line, axis);
        const size_t place = loop(start, step, extent, rank, buffer);
        memcpy(PyArray_BYTES(values) + line * item, start + static_cast<ptrdiff_t>(place) * step, item);
        if (at != nullptr) at[line] = static_cast<int64_t>(place);
    });
}

// Along the one dimension of `dims`, of which an array without dimensions has none.
int find_along(PyObject* outs, PyObject* given, PyObject* dims, const Rank& rank) {
    if (!PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 || !PyTuple_CheckExact(dims) ||
        PyTuple_GET_SIZE(dims) != 1 || !PyLong_CheckExact(PyTuple_GET_ITEM(dims, 0)))
        return 0;
    PyArrayObject *values = plain_array(PyTuple_GET_ITEM(outs, 0), true),
                  *places = plain_array(PyTuple_GET_ITEM(outs, 1), true), *self = plain_array(given);
    const long axis = integer_of(PyTuple_GET_ITEM(dims, 0));
    if (values == nullptr || places == nullptr || self == nullptr || axis < 0 || axis >= PyArray_NDIM(self) ||
        PyArray_TYPE(places) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(places) || may_overlap(places, self) ||
        may_overlap(places, values) || PyArray_SIZE(places) != PyArray_SIZE(values))
        return PyErr_Clear(), 0;
    return find(values, places, self, static_cast<int>(axis), rank);
}

// Values are (self, k, dims, keepdim).
int kthvalue(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 4 || !PyLong_CheckExact(values[1])) return 0;
    const long k = integer_of(values[1]);
    if (k < 1) return PyErr_Clear(), 0;
    return find_along(outs, values[0], values[2], {Rank::GIVEN, static_cast<size_t>(k - 1)});
}

// Values are (self, dims, keepdim).
template <bool numbers>
int median_dim(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    return count == 3 ? find_along(outs, values[0], values[1], {numbers ? Rank::NUMBERS_MEDIAN : Rank::MEDIAN}) : 0;
}

// Values are (self).
template <bool numbers>
int median(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject *out = plain_array(given, true), *self = count == 1 ? plain_array(values[0]) : nullptr;
    if (out == nullptr || self == nullptr || !PyArray_IS_C_CONTIGUOUS(self)) return 0;
    return find(out, nullptr, self, -1, {numbers ? Rank::NUMBERS_MEDIAN : Rank::MEDIAN});
}

}  // namespace

const NamedKernel kthvalue_kernels[] = {
    {"kthvalue", kthvalue, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"median", median<false>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"nanmedian", median<true>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"median.dim", median_dim<false>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"nanmedian.dim", median_dim<true>, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
