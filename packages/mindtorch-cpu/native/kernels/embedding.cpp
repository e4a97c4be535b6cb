// Rows of an embedding table, and the sums that are their gradients.
#include "kernels/index.h"

#include "parallel.h"
#include "kernels/region.h"
#include "kernels/integer.h"

#include <string.h>

#include <memory>
#include <new>

namespace mindtorch {

namespace {

// Row numbers of int64 or int32 as int64; false where one is outside 0..extent-1.
struct Numbers {
    std::unique_ptr<int64_t[]> owned;
    const int64_t* items = nullptr;
    size_t count = 0;

    bool read(PyObject* given, npy_intp extent) {
        PyArrayObject* array = plain_array(given);
        if (array == nullptr || !PyArray_IS_C_CONTIGUOUS(array)) return false;
        count = static_cast<size_t>(PyArray_SIZE(array));
        if (PyArray_TYPE(array) == NPY_INT64) {
            items = static_cast<const int64_t*>(PyArray_DATA(array));
        } else if (PyArray_TYPE(array) == NPY_INT32) {
            owned.reset(new (std::nothrow) int64_t[count > 0 ? count : 1]);
            if (owned == nullptr) return false;
            const auto* narrow = static_cast<const int32_t*>(PyArray_DATA(array));
            for (size_t i = 0; i < count; i++) owned[i] = narrow[i];
            items = owned.get();
        } else {
            return false;
        }
        return index_loops().within(reinterpret_cast<const char*>(items), count, 8, 0, extent);
    }
};

bool is_table(PyArrayObject* array) {
    return array != nullptr && PyArray_NDIM(array) == 2 && PyArray_IS_C_CONTIGUOUS(array) && size_class(array) >= 0;
}

constexpr size_t PART = 256;  // offsets that are made at a time

// Values are (weight, indices, padding_idx, scale, sparse).
int embedding(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    PyArrayObject *out = plain_array(given, true), *weight = count == 5 ? plain_array(values[0]) : nullptr;
    Numbers numbers;
    if (out == nullptr || !is_table(weight) || PyArray_TYPE(out) != PyArray_TYPE(weight) ||
        !PyArray_IS_C_CONTIGUOUS(out) || may_overlap(out, weight) || !numbers.read(values[1], PyArray_DIM(weight, 0)))
        return 0;
    const size_t bytes = static_cast<size_t>(PyArray_DIM(weight, 1) * PyArray_ITEMSIZE(weight));
    if (static_cast<size_t>(PyArray_NBYTES(out)) != numbers.count * bytes) return 0;
    if (bytes == 0) return 1;
    parallel(numbers.count, GRAIN * 4 / bytes + 1, [&](size_t from, size_t to) {
        int64_t offsets[PART];
        for (size_t start = from; start < to; start += PART) {
            const size_t part = to - start < PART ? to - start : PART;
            for (size_t i = 0; i < part; i++) offsets[i] = numbers.items[start + i] * static_cast<int64_t>(bytes);
            index_loops().pick_rows({PyArray_BYTES(out) + start * bytes, PyArray_BYTES(weight), offsets, part, bytes,
                                     static_cast<ptrdiff_t>(bytes)});
        }
    });
    return 1;
}

// Values are (grad, indices, num_weights, padding_idx, scale). Each thread has the rows of a range of the table, so
// that a row's sum is made in the order of its numbers.
int embedding_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 5 || values[4] != Py_False || !PyLong_CheckExact(values[3])) return 0;
    PyArrayObject *out = plain_array(given, true), *grad = plain_array(values[0]);
    if (!is_table(out) || grad == nullptr || PyArray_TYPE(out) != PyArray_TYPE(grad) ||
        !PyArray_IS_C_CONTIGUOUS(grad) || may_overlap(out, grad) ||
        (PyArray_TYPE(out) != NPY_FLOAT && PyArray_TYPE(out) != NPY_DOUBLE))
        return 0;
    Numbers numbers;
    const size_t bytes = static_cast<size_t>(PyArray_DIM(out, 1) * PyArray_ITEMSIZE(out));
    const long padding = integer_of(values[3]);
    if (!numbers.read(values[1], PyArray_DIM(out, 0)) ||
        static_cast<size_t>(PyArray_NBYTES(grad)) != numbers.count * bytes)
        return 0;
    if (PyArray_SIZE(out) == 0) return 1;
    const char zero[16] = {0};
    const Sum sum = PyArray_TYPE(out) == NPY_FLOAT ? FLOAT_SUM : DOUBLE_SUM;
    fill_array(out, size_class(out), zero);
    const auto table = static_cast<size_t>(PyArray_DIM(out, 0));
    const size_t grain = numbers.count * bytes < GRAIN * 8 ? table : (table + 63) / 64;
    parallel(table, grain, [&](size_t from, size_t to) {
        for (size_t i = 0; i < numbers.count; i++) {
            const auto number = static_cast<size_t>(numbers.items[i]);
            if (number < from || number >= to || numbers.items[i] == padding) continue;
            const auto offset = static_cast<int64_t>(number * bytes);
            index_loops().add_rows[sum]({PyArray_BYTES(out), PyArray_BYTES(grad) + i * bytes, &offset, 1, bytes, 0},
                                        1.0);
        }
    });
    return 1;
}

// Where bags begin: int64 that start at zero and never fall; false for anything else.
struct Bags {
    const int64_t* begins;
    size_t count, total, offsets;

    bool read(PyObject* given, size_t bags, size_t numbers) {
        PyArrayObject* array = plain_array(given);
        count = bags;
        total = numbers;
        if (array == nullptr || PyArray_TYPE(array) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(array) ||
            PyArray_NDIM(array) != 1)
            return false;
        begins = static_cast<const int64_t*>(PyArray_DATA(array));
        const auto size = static_cast<size_t>(PyArray_SIZE(array));
        offsets = size;
        if (size < bags || size == 0 || bags == 0 || begins[0] != 0) return false;
        for (size_t i = 1; i < size; i++)
            if (begins[i] < begins[i - 1]) return false;
        return static_cast<size_t>(begins[size - 1]) <= numbers;
    }

    size_t begin(size_t bag) const { return static_cast<size_t>(begins[bag]); }
    size_t end(size_t bag) const { return bag + 1 < count ? begin(bag + 1) : total; }
    // Where what is added to a bag ends: numbers after an offset behind the last bag's count, but are not added to it.
    size_t end_of_sum(size_t bag) const { return bag + 1 < offsets ? begin(bag + 1) : total; }
};

constexpr long SUM_OF_BAG = 0, MEAN_OF_BAG = 1;

// What else is known of the bags: the bag of each number where that is asked for, and the sizes, twice; zeros for sums.
bool describe(PyObject* outs, const Bags& bags, long mode) {
    int64_t* data[3];
    npy_intp sizes[3];
    for (int i = 0; i < 3; i++) {
        PyArrayObject* array = plain_array(PyTuple_GET_ITEM(outs, i + 1), true);
        if (array == nullptr || PyArray_TYPE(array) != NPY_INT64 || !PyArray_IS_C_CONTIGUOUS(array)) return false;
        data[i] = static_cast<int64_t*>(PyArray_DATA(array));
        sizes[i] = PyArray_SIZE(array);
    }
    const auto whole = static_cast<npy_intp>(bags.count);
    const bool numbered = sizes[0] > 0;
    if ((numbered && sizes[0] != static_cast<npy_intp>(bags.total)) || sizes[1] != whole || sizes[2] != whole)
        return false;
    for (size_t bag = 0; bag < bags.count; bag++) {
        const bool plain = mode == SUM_OF_BAG;
        data[1][bag] = data[2][bag] = plain ? 0 : static_cast<int64_t>(bags.end(bag) - bags.begin(bag));
        for (size_t i = bags.begin(bag); numbered && i < bags.end(bag); i++) data[0][i] = static_cast<int64_t>(bag);
    }
    return true;
}

// The weights of the numbers in their bags, where there are any.
struct Samples {
    const char* data = nullptr;
    bool single = true;

    bool read(PyObject* given, int type, size_t count) {
        if (given == Py_None) return true;
        PyArrayObject* array = plain_array(given);
        if (array == nullptr || PyArray_TYPE(array) != type || !PyArray_IS_C_CONTIGUOUS(array) ||
            static_cast<size_t>(PyArray_SIZE(array)) != count)
            return false;
        data = PyArray_BYTES(array);
        single = type == NPY_FLOAT;
        return true;
    }

    // From the first of a bag on, where they are of the elements' type; null where they are not, or there are none.
    const void* factors(size_t first, bool of_single) const {
        if (data == nullptr || single != of_single) return nullptr;
        return data + first * (single ? sizeof(float) : sizeof(double));
    }

    double of(size_t number) const {
        if (data == nullptr) return 1;
        return single ? static_cast<double>(reinterpret_cast<const float*>(data)[number])
                      : reinterpret_cast<const double*>(data)[number];
    }
};

void add_row(Sum sum, char* to, const char* from, size_t bytes, double factor) {
    const int64_t begin = 0;
    index_loops().add_rows[sum]({to, from, &begin, 1, bytes, 0}, factor);
}

template <typename Number>
void divide(char* row, size_t width, size_t count) {
    auto* numbers = reinterpret_cast<Number*>(row);
    for (size_t i = 0; i < width && count > 1; i++) numbers[i] /= static_cast<Number>(count);
}

// Outputs are (bags, bag of each number, sizes, winners); values (weight, indices, offsets, scale, mode, sparse,
// samples, include_last, padding_idx): sums and means of whole bags.
int embedding_bag(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 9 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 4 || !PyLong_CheckExact(values[4]) ||
        !PyLong_CheckExact(values[8]) || integer_of(values[8]) >= 0)
        return 0;
    const long mode = integer_of(values[4]);
    PyArrayObject *out = plain_array(PyTuple_GET_ITEM(outs, 0), true), *weight = plain_array(values[0]);
    if ((mode != SUM_OF_BAG && mode != MEAN_OF_BAG) || !is_table(weight) || !is_table(out) ||
        PyArray_TYPE(out) != PyArray_TYPE(weight) || may_overlap(out, weight) ||
        (PyArray_TYPE(out) != NPY_FLOAT && PyArray_TYPE(out) != NPY_DOUBLE))
        return 0;
    Numbers numbers;
    Bags bags;
    if (!numbers.read(values[1], PyArray_DIM(weight, 0)) ||
        !bags.read(values[2], static_cast<size_t>(PyArray_DIM(out, 0)), numbers.count) || !describe(outs, bags, mode))
        return 0;
    Samples samples;
    if (!samples.read(values[6], PyArray_TYPE(out), numbers.count)) return 0;
    const auto width = static_cast<size_t>(PyArray_DIM(out, 1));
    const bool single = PyArray_TYPE(out) == NPY_FLOAT;
    const size_t bytes = width * (single ? 4 : 8);
    if (width == 0) return 1;
    // torch adds rows of float64, or of one element that lie apart, in another way, in which the last bag has all that
    // is left.
    const bool one_pass = single && PyArray_STRIDE(weight, 1) == PyArray_ITEMSIZE(weight);
    parallel(bags.count, GRAIN * 4 / bytes + 1, [&](size_t from, size_t to) {
        for (size_t bag = from; bag < to; bag++) {
            char* row = PyArray_BYTES(out) + bag * bytes;
            const Sum sum = single ? FLOAT_SUM : DOUBLE_SUM;
            const size_t end = one_pass ? bags.end_of_sum(bag) : bags.end(bag);
            const void* factors = samples.factors(bags.begin(bag), single);
            if (samples.data != nullptr && factors == nullptr) {
                memset(row, 0, bytes);
                for (size_t i = bags.begin(bag); i < end; i++)
                    add_row(sum, row, PyArray_BYTES(weight) + static_cast<size_t>(numbers.items[i]) * bytes, bytes,
                            samples.of(i));
            } else {
                index_loops().sum_rows[sum](row, PyArray_BYTES(weight), numbers.items + bags.begin(bag),
                                            end - bags.begin(bag), bytes, factors);
            }
            if (mode != MEAN_OF_BAG) continue;
            if (single) {
                divide<float>(row, width, bags.end(bag) - bags.begin(bag));
            } else {
                divide<double>(row, width, bags.end(bag) - bags.begin(bag));
            }
        }
    });
    return 1;
}

// Values are (grad, indices, bags, sizes, winners, num_weights, scale, mode, samples, padding_idx): gradients of the
// table of sums and means. Each thread has the rows of a range of it, as above.
int embedding_bag_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 10 || values[6] != Py_False || !PyLong_CheckExact(values[7]) || !PyLong_CheckExact(values[9]))
        return 0;
    const long mode = integer_of(values[7]), padding = integer_of(values[9]);
    PyArrayObject *out = plain_array(given, true), *grad = plain_array(values[0]);
    if ((mode != SUM_OF_BAG && mode != MEAN_OF_BAG) || !is_table(out) || !is_table(grad) ||
        PyArray_TYPE(out) != PyArray_TYPE(grad) || PyArray_DIM(out, 1) != PyArray_DIM(grad, 1) ||
        may_overlap(out, grad) || (PyArray_TYPE(out) != NPY_FLOAT && PyArray_TYPE(out) != NPY_DOUBLE))
        return 0;
    Numbers numbers, bags, sizes;
    Samples samples;
    if (!numbers.read(values[1], PyArray_DIM(out, 0)) || !bags.read(values[2], PyArray_DIM(grad, 0)) ||
        bags.count != numbers.count || !samples.read(values[8], PyArray_TYPE(out), numbers.count))
        return 0;
    const bool mean = mode == MEAN_OF_BAG;
    const auto most = static_cast<npy_intp>(numbers.count) + 1;
    if (mean && (!sizes.read(values[3], most) || static_cast<npy_intp>(sizes.count) != PyArray_DIM(grad, 0))) return 0;
    const char zero[16] = {0};
    const Sum sum = PyArray_TYPE(out) == NPY_FLOAT ? FLOAT_SUM : DOUBLE_SUM;
    const auto table = static_cast<size_t>(PyArray_DIM(out, 0));
    const size_t bytes = static_cast<size_t>(PyArray_DIM(out, 1) * PyArray_ITEMSIZE(out));
    if (PyArray_SIZE(out) == 0) return 1;
    fill_array(out, size_class(out), zero);
    parallel(table, numbers.count * bytes < GRAIN * 8 ? table : (table + 63) / 64, [&](size_t from, size_t to) {
        for (size_t i = 0; i < numbers.count; i++) {
            const auto number = static_cast<size_t>(numbers.items[i]), bag = static_cast<size_t>(bags.items[i]);
            if (number < from || number >= to || numbers.items[i] == padding) continue;
            const double share = mean ? 1.0 / static_cast<double>(sizes.items[bag]) : 1.0;
            add_row(sum, PyArray_BYTES(out) + number * bytes, PyArray_BYTES(grad) + bag * bytes, bytes,
                    share * samples.of(i));
        }
    });
    return 1;
}

}  // namespace

const NamedKernel embedding_kernels[] = {
    {"embedding", embedding},
    {"embedding_dense_backward", embedding_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"_embedding_bag _embedding_bag_forward_only", embedding_bag},
    {"_embedding_bag_dense_backward", embedding_bag_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
