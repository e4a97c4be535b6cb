// The largest or smallest elements of lines. Which of equal ones they are, and in which order, is torch's: it comes of
// the C++ library's partial_sort, nth_element and sort over pairs of an element and its place.
#include "kernels/index.h"
#include "kernels/integer.h"
#include "kernels/ordered_lines.h"
#include "kernels/region.h"

#include <algorithm>

namespace mindtorch {

namespace {

// Up to so many floats are kept in order while a line is read once.
constexpr size_t MOST_BEST = 256;

template <typename T>
struct Candidate {
    T value;
    int64_t place;
};
constexpr size_t ROOM = sizeof(Candidate<double>);  // of the buffer, for each element

template <typename T>
bool is_nan(T value) {
    return value != value;
}

// Not-a-numbers are larger than all else.
template <typename T, bool largest>
struct Before {
    bool operator()(const Candidate<T>& a, const Candidate<T>& b) const {
        const T &x = a.value, &y = b.value;
        return largest ? (is_nan(x) && !is_nan(y)) || x > y : (!is_nan(x) && is_nan(y)) || x < y;
    }
};

struct Lines {
    const char* from;
    char* values;
    int64_t* places;
    size_t extent, wanted;
    bool sorted;
};

template <typename T, bool largest>
void select_line(const Lines& lines, size_t line, uint64_t* buffer) {
    auto* items = reinterpret_cast<Candidate<T>*>(buffer);
    const T* from = reinterpret_cast<const T*>(lines.from) + line * lines.extent;
    for (size_t i = 0; i < lines.extent; i++) items[i] = {from[i], static_cast<int64_t>(i)};
    const Before<T, largest> before;
    Candidate<T>*last = items + lines.wanted, *end = items + lines.extent;
    if (lines.wanted * 64 <= lines.extent) {
        std::partial_sort(items, last, end, before);
    } else {
        std::nth_element(items, last - 1, end, before);
        if (lines.sorted) std::sort(items, last - 1, before);
    }
    T* values = reinterpret_cast<T*>(lines.values) + line * lines.wanted;
    int64_t* places = lines.places + line * lines.wanted;
    for (size_t i = 0; i < lines.wanted; i++) {
        values[i] = items[i].value;
        places[i] = items[i].place;
    }
}

bool is_same(float a, float b) { return a == b || (is_nan(a) && is_nan(b)); }

// True where no two elements that were chosen are equal, nor the last of them to one that was not: the order is known.
bool without_ties(const float* chosen, size_t wanted, const float* line, size_t extent) {
    for (size_t i = 1; i < wanted; i++)
        if (is_same(chosen[i - 1], chosen[i])) return false;
    const float last = chosen[wanted - 1];
    size_t same = 0;
    for (size_t i = 0; i < extent; i++) same += is_same(line[i], last) ? 1 : 0;
    return same == 1;
}

template <typename T>
int select(const Lines& lines, size_t count, bool largest) {
    return each_line(count, lines.extent, ROOM, [&](size_t line, uint64_t* buffer) {
        if constexpr (std::is_same_v<T, float>) {
            if (lines.sorted && lines.wanted <= MOST_BEST) {
                int32_t keys[MOST_BEST];
                const float* from = reinterpret_cast<const float*>(lines.from) + line * lines.extent;
                float* values = reinterpret_cast<float*>(lines.values) + line * lines.wanted;
                index_loops().best(values, lines.places + line * lines.wanted, keys, from, lines.extent, lines.wanted,
                                   largest);
                if (without_ties(values, lines.wanted, from, lines.extent)) return;
            }
        }
        largest ? select_line<T, true>(lines, line, buffer) : select_line<T, false>(lines, line, buffer);
    });
}

// Outputs are (values, indices); values (self, k, dim, largest, sorted), with lines that lie one behind another.
int topk(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 5 || !PyBool_Check(values[4]) || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 ||
        !PyLong_CheckExact(values[1]) || !PyLong_CheckExact(values[2]) || !PyBool_Check(values[3]))
        return 0;
    PyArrayObject *best = plain_array(PyTuple_GET_ITEM(outs, 0), true),
                  *places = plain_array(PyTuple_GET_ITEM(outs, 1), true), *self = plain_array(values[0]);
    if (best == nullptr || places == nullptr || self == nullptr || PyArray_TYPE(best) != PyArray_TYPE(self) ||
        PyArray_TYPE(places) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(self) || !PyArray_IS_C_CONTIGUOUS(best) ||
        !PyArray_IS_C_CONTIGUOUS(places) || may_overlap(best, self) || may_overlap(places, self) ||
        may_overlap(places, best))
        return 0;
    const int ndim = PyArray_NDIM(self);
    const long many = integer_of(values[1]), dim = integer_of(values[2]);
    if (ndim == 0 || (dim != ndim - 1 && dim != -1)) return 0;
    const npy_intp width = PyArray_DIM(self, ndim - 1);
    if (many < 1 || many > width || PyArray_SIZE(places) != PyArray_SIZE(best) ||
        PyArray_SIZE(best) * width != PyArray_SIZE(self) * many)
        return 0;
    const Lines lines = {
        PyArray_BYTES(self),        PyArray_BYTES(best),       static_cast<int64_t*>(PyArray_DATA(places)),
        static_cast<size_t>(width), static_cast<size_t>(many), values[4] == Py_True};
    const size_t each = static_cast<size_t>(PyArray_SIZE(self)) / lines.extent;
    const bool largest = values[3] == Py_True;
    switch (PyArray_TYPE(self)) {
        case NPY_FLOAT: return select<float>(lines, each, largest);
        case NPY_DOUBLE: return select<double>(lines, each, largest);
        case NPY_LONG: return select<int64_t>(lines, each, largest);
        case NPY_INT: return select<int32_t>(lines, each, largest);
        case NPY_SHORT: return select<int16_t>(lines, each, largest);
        case NPY_BYTE: return select<int8_t>(lines, each, largest);
        case NPY_UBYTE: return select<uint8_t>(lines, each, largest);
        default: return 0;
    }
}

}  // namespace

const NamedKernel topk_kernels[] = {
    {"topk", topk},
    {nullptr, nullptr},
};

}  // namespace mindtorch
