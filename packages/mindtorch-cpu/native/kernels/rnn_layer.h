// Layers of recurrent nets as the forward and the backward see them: operands, steps, packed weights.
#pragma once

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <new>
#include <vector>

#include "mindtorch/entry.h"
#include "gemm/gemm.h"
#include "kernels/integer.h"
#include "kernels/operand.h"
#include "kernels/rnn.h"
#include "memory/scratch.h"
#include "parallel.h"

namespace mindtorch {

int rnn_layer_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count);

namespace {

constexpr double WORTH_A_THREAD = 2e6;  // multiplications between one meeting of the threads and the next
constexpr size_t UNIT = 4, PART = 8;    // rows that stay together, and that a thread has at least
constexpr size_t PACKED_STEPS = 3;      // fewer are not worth packed weights

template <typename Real>
const RnnLoops<Real>& loops();
template <>
inline const RnnLoops<float>& loops() {
    return rnn_loops();
}
template <>
inline const RnnLoops<double>& loops() {
    return rnn_double_loops();
}

inline size_t least(size_t a, size_t b) { return a < b ? a : b; }
inline size_t tiles(size_t count, size_t unit) { return (count + unit - 1) / unit; }

// An operand as a dense array, of a copy where it is none.
class Dense {
public:
    Dense() = default;
    Dense(const Dense&) = delete;
    Dense& operator=(const Dense&) = delete;
    ~Dense() { Py_XDECREF(array_); }
    bool take(PyObject* value, int type) {
        if (!PyArray_CheckExact(value) || PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) != type) return false;
        array_ = PyArray_FROM_OF(value, NPY_ARRAY_CARRAY_RO);
        if (array_ == nullptr) throw PythonError();
        return true;
    }
    bool take_optional(PyObject* value, int type) { return value == Py_None || take(value, type); }
    template <typename Real>
    const Real* data() const {
        return array_ == nullptr ? nullptr : static_cast<const Real*>(PyArray_DATA(array()));
    }
    PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(array_); }
    bool holds(size_t count) const { return array_ == nullptr || static_cast<size_t>(PyArray_SIZE(array())) == count; }

private:
    PyObject* array_ = nullptr;
};

// What a layer is: its steps in the order in which they are taken, and how many sums a row of gates has.
struct Layer {
    int mode = 0;
    size_t inputs = 0, hidden = 0, batch = 0, total = 0;
    std::vector<size_t> sizes, starts;  // rows of each step, and the first of them

    size_t steps() const { return sizes.size(); }
    size_t gates() const { return mode == RNN_LSTM ? 4 : mode == RNN_GRU ? 3 : 1; }
    size_t saved() const { return mode == RNN_LSTM ? 5 : mode == RNN_GRU ? 4 : 0; }  // of a row of the workspace
    size_t grads() const { return mode == RNN_LSTM || mode == RNN_GRU ? 4 : 1; }     // of a row of gradients
    bool lstm() const { return mode == RNN_LSTM; }

    // False for what is no layer, or an empty one.
    bool describe(PyArrayObject* input, PyArrayObject* state, PyObject* reverse, PyObject* batch_sizes,
                  PyObject* number, PyObject* width) {
        mode = static_cast<int>(integer_of(number));
        const long units = integer_of(width);
        const int ndim = PyArray_NDIM(input);
        if (mode < 0 || mode >= RNN_MODES || units < 1 || !PyBool_Check(reverse) || ndim < 2 || ndim > 3) return false;
        if (PyArray_SIZE(input) == 0) return false;
        hidden = static_cast<size_t>(units);
        inputs = static_cast<size_t>(PyArray_DIM(input, ndim - 1));
        total = static_cast<size_t>(PyArray_SIZE(input)) / inputs;
        batch = static_cast<size_t>(PyArray_SIZE(state)) / hidden;
        if (!PyList_CheckExact(batch_sizes) && !PyTuple_CheckExact(batch_sizes)) return false;
        const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(batch_sizes));
        if (ndim == 3) {
            if (count != 0 || static_cast<size_t>(PyArray_DIM(input, 1)) != batch) return false;
            sizes.assign(static_cast<size_t>(PyArray_DIM(input, 0)), batch);
        }
        for (size_t at = 0; ndim == 2 && at < count; at++) {
            const long size = integer_of(PySequence_Fast_ITEMS(batch_sizes)[at]);
            const size_t before = at > 0 ? sizes[at - 1] : batch;
            if (size < 1 || static_cast<size_t>(size) > before) return false;
            sizes.push_back(static_cast<size_t>(size));
        }
        size_t row = 0;
        for (const size_t size : sizes) {
            starts.push_back(row);
            row += size;
        }
        if (row != total || sizes.empty() || sizes[0] != batch) return false;
        if (reverse == Py_True) {
            std::reverse(sizes.begin(), sizes.end());
            std::reverse(starts.begin(), starts.end());
        }
        return true;
    }
};

// Weights of the state for all steps, as panels of tiles, or as they are for a few steps.
template <typename Real>
struct Recurrence {
    const RnnLoops<Real>& l = loops<Real>();
    const Real* weights;
    size_t depth, columns, groups, panels;  // columns of each group
    bool packs;
    Real *panel_memory = nullptr, *rows_memory = nullptr;  // every unit of rows has place for a part that begins there

    Recurrence(const Layer& layer, const Real* w, size_t of_depth, size_t of_groups)
        : weights(w),
          depth(of_depth),
          columns(layer.hidden),
          groups(of_groups),
          panels(tiles(columns, l.columns)),
          packs(layer.steps() >= PACKED_STEPS) {}

    size_t panel() const { return l.columns * depth; }
    size_t width(size_t number) const { return least(l.columns, columns - number * l.columns); }

    size_t memory(size_t batch) const {
        return packs ? groups * panels * panel() + tiles(batch, UNIT) * (UNIT + l.rows) * depth : 0;
    }
    // Work in `memory(batch)` elements; what follows them is the answer.
    Real* place(Real* from, size_t batch) {
        panel_memory = from;
        rows_memory = from + (packs ? groups * panels * panel() : 0);
        return from + memory(batch);
    }
    void pack(ptrdiff_t line, ptrdiff_t along, size_t group_step) const {
        if (!packs) return;
        parallel(groups * panels, GRAIN / panel() + 1, [&](size_t from, size_t to) {
            for (size_t at = from; at < to; at++) {
                const Real* first =
                    weights + at / panels * group_step + static_cast<ptrdiff_t>(at % panels * l.columns) * line;
                l.pack_columns(panel_memory + at * panel(), first, line, along, width(at % panels), depth);
            }
        });
    }
    Real* place_of_rows(size_t first) const { return rows_memory + first / UNIT * (UNIT + l.rows) * depth; }
    // Call body(first, last) for parts of the sequences, at the same time: they do not depend on each other.
    template <typename Body>
    void each_part(const Layer& layer, size_t rows, const Body& body) const {
        const double work = static_cast<double>(rows * columns * groups) * static_cast<double>(depth);
        const size_t units = tiles(layer.batch, UNIT), threads = static_cast<size_t>(thread_count());
        const size_t parts = work < WORTH_A_THREAD || !packs ? 1 : least(threads, layer.batch / PART);
        if (parts <= 1) return body(size_t{0}, layer.batch);
        parallel(units, tiles(units, parts),
                 [&](size_t from, size_t to) { body(from * UNIT, least(to * UNIT, layer.batch)); });
    }
    // Call body(panel, from, to) for every panel's columns.
    template <typename Body>
    void each_panel(size_t rows, const Body& body) const {
        const double work = static_cast<double>(rows * columns * groups) * static_cast<double>(depth);
        const size_t threads = work < WORTH_A_THREAD ? 1 : static_cast<size_t>(thread_count());
        parallel(panels, tiles(panels, threads), [&](size_t from, size_t to) {
            for (size_t at = from; at < to; at++) body(at, at * l.columns, at * l.columns + width(at));
        });
    }
    // out += packed rows, of a part that begins at `first`, times a group's panel
    void add(Real* out, size_t out_row, size_t group, size_t number, size_t first, size_t rows) const {
        l.add_product(out, out_row, place_of_rows(first), panel_memory + (group * panels + number) * panel(), rows,
                      width(number), depth);
    }
};

template <typename Real>
void multiply(Real* out, size_t out_row, size_t rows, size_t columns, size_t depth, Matrix<Real> left,
              Matrix<Real> right, Matrix<Real> addend) {
    Batch<Real> batch = {};
    batch.first = {rows, columns, depth,   left,  right, out, static_cast<ptrdiff_t>(out_row),
                   1,    Real(1), Real(1), addend};
    batch.count = 1;
    if (!multiply_all(batch)) throw std::bad_alloc();
}

template <typename Real>
Matrix<Real> rows_of(const Real* data, size_t row) {
    return {data, static_cast<ptrdiff_t>(row), 1};
}
template <typename Real>
Matrix<Real> columns_of(const Real* data, size_t column) {
    return {data, 1, static_cast<ptrdiff_t>(column)};
}
template <typename Real>
constexpr Matrix<Real> NOTHING = {nullptr, 0, 0};

template <typename Real>
struct Weights {
    const Real *input, *state, *input_bias, *state_bias;
};

// Values from `input` on are (input, w_ih, w_hh, b_ih, b_hh, hx, cx); false where one does not fit the layer.
struct Operands {
    Dense input, weights[4], hx, cx;

    bool take(PyObject* const* values, int type) {
        for (int at = 0; at < 4; at++)
            if (!weights[at].take(values[1 + at], type)) return false;
        return input.take(values[0], type) && hx.take(values[5], type) && cx.take(values[6], type);
    }
    bool fit(const Layer& layer) const {
        const size_t h = layer.hidden, sums = layer.gates() * h;
        return weights[0].holds(sums * layer.inputs) && weights[1].holds(sums * h) && weights[2].holds(sums) &&
               weights[3].holds(sums) && hx.holds(layer.batch * h) && (!layer.lstm() || cx.holds(layer.batch * h));
    }
    template <typename Real>
    Weights<Real> all_weights() const {
        return {weights[0].data<Real>(), weights[1].data<Real>(), weights[2].data<Real>(), weights[3].data<Real>()};
    }
};

// The memory of a dense output of `count` elements; null for any other. `optional` ones may be None or absent.
template <typename Real>
bool take_output(PyObject* given, size_t count, Real*& data, bool optional = false) {
    data = nullptr;
    if (given == Py_None) return optional;
    PyArrayObject* array = output(given);
    if (array == nullptr || PyArray_ITEMSIZE(array) != sizeof(Real)) return false;
    data = static_cast<Real*>(PyArray_DATA(array));
    return static_cast<size_t>(PyArray_SIZE(array)) == count;
}

// The workspace is bytes; null where there is none.
template <typename Real>
bool take_workspace(PyObject* given, const Layer& layer, Real*& data) {
    data = nullptr;
    if (given == Py_None) return true;
    if (!PyArray_CheckExact(given)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    data = static_cast<Real*>(PyArray_DATA(array));
    return PyArray_ISCARRAY_RO(array) && reinterpret_cast<uintptr_t>(data) % alignof(Real) == 0 &&
           static_cast<size_t>(PyArray_NBYTES(array)) == layer.total * layer.saved() * layer.hidden * sizeof(Real);
}

inline bool is_tuple_of(PyObject* outs, Py_ssize_t count) {
    return PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == count;
}

inline int type_of(PyObject* value) {
    return PyArray_CheckExact(value) ? PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) : NPY_NOTYPE;
}

}  // namespace
}  // namespace mindtorch
