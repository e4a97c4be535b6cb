// Batches of small matrices: where each lies, and the memory in which one is worked on.
#pragma once

#include "kernels/factor.h"
#include "kernels/region.h"
#include "memory/scratch.h"
#include "mindtorch/entry.h"
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <complex>

namespace mindtorch {

// The kind of the array's elements; FACTOR_KINDS for others.
inline FactorKind factor_kind(PyArrayObject* array) {
    switch (PyArray_TYPE(array)) {
        case NPY_FLOAT: return FACTOR_FLOAT;
        case NPY_DOUBLE: return FACTOR_DOUBLE;
        case NPY_CFLOAT: return FACTOR_COMPLEX_FLOAT;
        case NPY_CDOUBLE: return FACTOR_COMPLEX_DOUBLE;
        default: return FACTOR_KINDS;
    }
}

// What `call` gives for a zero of the kind's type.
template <typename Call>
int by_kind(FactorKind kind, const Call& call) {
    switch (kind) {
        case FACTOR_FLOAT: return call(float{});
        case FACTOR_DOUBLE: return call(double{});
        case FACTOR_COMPLEX_FLOAT: return call(std::complex<float>{});
        default: return call(std::complex<double>{});
    }
}

// The matrices of an array, spread to a batch.
class Batch {
public:
    size_t rows = 0, columns = 0;
    ptrdiff_t row_step = 0, column_step = 0;

    // The last dimensions are an item's: two of matrices, one of columns, which are matrices of one column. The others
    // spread to the `count` extents of the batch; false where they do not.
    bool take(PyArrayObject* array, int item, const npy_intp* extents, int count) {
        const int own = PyArray_NDIM(array) - item;
        if (own < 0 || own > count) return false;
        data_ = PyArray_BYTES(array);
        rows = item > 0 ? static_cast<size_t>(PyArray_DIM(array, own)) : 1;
        columns = item > 1 ? static_cast<size_t>(PyArray_DIM(array, own + 1)) : 1;
        row_step = item > 0 ? PyArray_STRIDE(array, own) : 0;
        column_step = item > 1 ? PyArray_STRIDE(array, own + 1) : PyArray_ITEMSIZE(array);
        ndim_ = 0;
        for (int dim = 0; dim < count; dim++) {
            const int at = dim - (count - own);
            const npy_intp extent = at < 0 ? 1 : PyArray_DIM(array, at);
            if (extent != 1 && extent != extents[dim]) return false;
            add(extents[dim], extent == 1 ? 0 : PyArray_STRIDE(array, at));
        }
        return true;
    }

    // The transposes of the items.
    Batch transposed() const {
        Batch other = *this;
        std::swap(other.rows, other.columns);
        std::swap(other.row_step, other.column_step);
        return other;
    }

    char* at(size_t number) const {
        if (ndim_ == 1) return data_ + static_cast<ptrdiff_t>(number) * steps_[0];
        char* place = data_;
        for (int dim = ndim_ - 1; dim >= 0; dim--) {
            const auto extent = static_cast<size_t>(extents_[dim]);
            place += static_cast<ptrdiff_t>(number % extent) * steps_[dim];
            number /= extent;
        }
        return place;
    }

    void read(const FactorLoops& loops, size_t number, void* to, bool conjugate = false) const {
        loops.read(to, at(number), row_step, column_step, rows, columns, conjugate);
    }
    void write(const FactorLoops& loops, size_t number, const void* from, bool conjugate = false) const {
        loops.write(at(number), row_step, column_step, from, rows, columns, conjugate);
    }

private:
    void add(npy_intp extent, npy_intp step) {
        if (extent == 1) return;
        if (ndim_ > 0 && steps_[ndim_ - 1] == step * extent) {
            extents_[ndim_ - 1] *= extent;
            steps_[ndim_ - 1] = step;
            return;
        }
        extents_[ndim_] = extent;
        steps_[ndim_++] = step;
    }

    char* data_ = nullptr;
    int ndim_ = 0;
    npy_intp extents_[MOST_DIMENSIONS], steps_[MOST_DIMENSIONS];
};

// The array `given` is where it is an output of the elements' type that shares no memory with any of `operands`.
inline PyArrayObject* apart_output(PyObject* given, int type, std::initializer_list<PyArrayObject*> operands) {
    PyArrayObject* out = plain_array(given, true);
    if (out == nullptr || PyArray_TYPE(out) != type) return nullptr;
    for (PyArrayObject* operand : operands)
        if (may_overlap(out, operand)) return nullptr;
    return out;
}

// Its dense int32 elements, so many of them; null for what is none.
inline int* numbers_output(PyObject* given, size_t count) {
    PyArrayObject* out = plain_array(given, true);
    if (out == nullptr || PyArray_TYPE(out) != NPY_INT || !PyArray_IS_C_CONTIGUOUS(out) ||
        static_cast<size_t>(PyArray_SIZE(out)) != count)
        return nullptr;
    return static_cast<int*>(PyArray_DATA(out));
}

// Call work(number, buffer) for each of `count` matrices, `room` bytes of the buffer for each; 1, or -1 and a
// MemoryError. `operations` is about what one costs.
template <typename Work>
int each_matrix(size_t count, size_t operations, size_t room, const Work& work) {
    std::atomic<bool> failed{false};
    const size_t cost = operations + 64;
    parallel(count, std::max<size_t>(1, 4 * GRAIN / cost), [&](size_t from, size_t to) {
        auto* buffer = static_cast<char*>(scratch(room));
        if (buffer == nullptr) {
            failed = true;
            return;
        }
        for (size_t number = from; number < to; number++) work(number, buffer);
    });
    return failed ? no_memory(room) : 1;
}

// The outputs of a tuple; null for what is none of `count`.
inline PyObject* const* outputs(PyObject* given, Py_ssize_t count) {
    if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != count) return nullptr;
    return &PyTuple_GET_ITEM(given, 0);
}

// A batch of matrices with at most `most` rows and columns.
struct Matrices {
    PyArrayObject* array = nullptr;
    const FactorLoops* loops = nullptr;
    Batch batch;
    size_t count = 1, item = 0;

    bool take(PyObject* given, size_t most = MOST_SMALL) {
        array = plain_array(given);
        if (array == nullptr || PyArray_NDIM(array) < 2 || factor_kind(array) == FACTOR_KINDS) return false;
        loops = &factor_loops().of[factor_kind(array)];
        item = static_cast<size_t>(PyArray_ITEMSIZE(array));
        if (!batch.take(array, 2, PyArray_DIMS(array), dims()) || PyArray_SIZE(array) == 0 ||
            std::max(batch.rows, batch.columns) > most)
            return false;
        count = static_cast<size_t>(PyArray_SIZE(array)) / (batch.rows * batch.columns);
        return true;
    }

    FactorKind kind() const { return factor_kind(array); }
    bool complex() const { return kind() == FACTOR_COMPLEX_FLOAT || kind() == FACTOR_COMPLEX_DOUBLE; }
    // What absolute values of the elements are.
    FactorKind real_kind() const {
        return kind() == FACTOR_FLOAT || kind() == FACTOR_COMPLEX_FLOAT ? FACTOR_FLOAT : FACTOR_DOUBLE;
    }
    int real_type() const { return real_kind() == FACTOR_FLOAT ? NPY_FLOAT : NPY_DOUBLE; }
    const FactorLoops& loops_of_reals() const { return factor_loops().of[real_kind()]; }

    bool square() const { return batch.rows == batch.columns; }
    int dims() const { return PyArray_NDIM(array) - 2; }
    size_t size() const { return batch.rows; }
    size_t pivots() const { return std::min(batch.rows, batch.columns); }
    size_t bytes() const { return batch.rows * batch.columns * item; }
    size_t operations() const { return batch.rows * batch.columns * pivots(); }

    // A result of the matrices' type and batch, with items of so many dimensions.
    bool take_result(Batch& result, PyObject* given, int item_dims) const {
        PyArrayObject* out = apart_output(given, PyArray_TYPE(array), {array});
        if (out == nullptr || PyArray_NDIM(out) != dims() + item_dims) return false;
        for (int dim = 0; dim < PyArray_NDIM(out); dim++)
            if (PyArray_DIM(out, dim) != PyArray_DIM(array, dim)) return false;
        return result.take(out, item_dims, PyArray_DIMS(array), dims());
    }
};

}  // namespace mindtorch
