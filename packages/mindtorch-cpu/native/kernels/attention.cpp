// Attention of float32 operands whose last step is 1, and its gradients; everything else is numpy's.
#include "kernels/attention.h"

#include <math.h>

#include "kernels/operand.h"
#include "parallel.h"
#include "memory/scratch.h"

namespace mindtorch {

namespace {

constexpr double WORTH_A_THREAD = 2e5;  // multiplications

bool takes(PyObject* value, int ndim) {
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    if (PyArray_TYPE(array) != NPY_FLOAT || PyArray_NDIM(array) != ndim || !PyArray_ISALIGNED(array) ||
        !PyArray_ISNOTSWAPPED(array))
        return false;
    for (int at = 0; at < ndim; at++)
        if (PyArray_STRIDE(array, at) % static_cast<npy_intp>(sizeof(float)) != 0) return false;
    return true;
}

ptrdiff_t step(PyArrayObject* array, int at) {
    return PyArray_STRIDE(array, at) / static_cast<npy_intp>(sizeof(float));
}

// An operand of the given extents whose last step is 1.
template <typename Real>
bool heads_of(PyObject* value, size_t batch, size_t heads, size_t rows, size_t width, Heads<Real>& made) {
    if (!takes(value, 4)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const size_t wanted[] = {batch, heads, rows, width};
    for (int at = 0; at < 4; at++)
        if (static_cast<size_t>(PyArray_DIM(array, at)) != wanted[at]) return false;
    if (width > 1 && step(array, 3) != 1) return false;
    made = {static_cast<float*>(PyArray_DATA(array)), step(array, 0), step(array, 1), step(array, 2)};
    return true;
}

bool written(PyObject* value, size_t batch, size_t heads, size_t rows, size_t width, Heads<float>& made) {
    return heads_of(value, batch, heads, rows, width, made) &&
           PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(value));
}

// A mask of two or four dimensions, each of which is 1 or the scores'.
bool mask_of(PyObject* value, Attention& a) {
    a.mask = nullptr;
    if (value == Py_None) return true;
    if (!PyArray_CheckExact(value)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const int ndim = PyArray_NDIM(array);
    if ((ndim != 2 && ndim != 4) || !takes(value, ndim)) return false;
    const size_t wanted[] = {a.batch, a.heads, a.rows, a.columns};
    for (int at = 0; at < 4; at++) {
        const int own = at - (4 - ndim);
        a.mask_steps[at] = 0;
        if (own < 0 || PyArray_DIM(array, own) == 1) continue;
        if (static_cast<size_t>(PyArray_DIM(array, own)) != wanted[at]) return false;
        a.mask_steps[at] = step(array, own);
    }
    a.mask = static_cast<const float*>(PyArray_DATA(array));
    return true;
}

// The row sums (batch, heads, rows).
bool sums_of(PyObject* value, const Attention& a, float*& data, ptrdiff_t* steps) {
    if (!takes(value, 3)) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const size_t wanted[] = {a.batch, a.heads, a.rows};
    for (int at = 0; at < 3; at++) {
        if (static_cast<size_t>(PyArray_DIM(array, at)) != wanted[at]) return false;
        steps[at] = step(array, at);
    }
    data = static_cast<float*>(PyArray_DATA(array));
    return true;
}

// Query, key, value; and what says how: (is_causal, mask, scale).
bool describe(PyObject* const* inputs, PyObject* const* options, Attention& a) {
    if (!takes(inputs[0], 4) || !takes(inputs[1], 4)) return false;
    const npy_intp* query = PyArray_DIMS(reinterpret_cast<PyArrayObject*>(inputs[0]));
    const npy_intp* key = PyArray_DIMS(reinterpret_cast<PyArrayObject*>(inputs[1]));
    a.batch = static_cast<size_t>(query[0]);
    a.heads = static_cast<size_t>(query[1]);
    a.rows = static_cast<size_t>(query[2]);
    a.width = static_cast<size_t>(query[3]);
    a.key_heads = static_cast<size_t>(key[1]);
    a.columns = static_cast<size_t>(key[2]);
    if (a.batch * a.heads * a.rows * a.width * a.key_heads * a.columns == 0 || a.heads % a.key_heads != 0) return false;
    if (!PyBool_Check(options[0])) return false;
    a.causal = options[0] == Py_True;
    double scale = 1.0 / sqrt(static_cast<double>(a.width));
    if (options[2] != Py_None) {
        if (!PyFloat_CheckExact(options[2])) return false;
        scale = PyFloat_AS_DOUBLE(options[2]);
    }
    a.scale = static_cast<float>(scale);
    return mask_of(options[1], a) && heads_of(inputs[0], a.batch, a.heads, a.rows, a.width, a.query) &&
           heads_of(inputs[1], a.batch, a.key_heads, a.columns, a.width, a.key) &&
           heads_of(inputs[2], a.batch, a.key_heads, a.columns, a.width, a.value);
}

double work_of(const Attention& a) {
    return 2.0 * static_cast<double>(a.batch * a.heads) * static_cast<double>(a.rows) * static_cast<double>(a.columns) *
           static_cast<double>(a.width);
}

// Run body(index, memory) for each of `count` parts, with memory of its own for each thread; false without memory.
template <typename Body>
bool share(size_t count, double work, size_t floats, const Body& body) {
    const size_t threads = static_cast<size_t>(thread_count());
    const size_t workers = work < WORTH_A_THREAD ? 1 : count < threads ? count : threads;
    auto* memory = static_cast<float*>(scratch(workers * floats * sizeof(float)));
    if (memory == nullptr) return false;
    // A whole pool's work lets go of Python's lock even where it is one thread's.
    parallel(count, work < WORTH_A_THREAD ? count : 0, [&](size_t from, size_t to) {
        float* own = memory + (from * workers + count - 1) / count * floats;
        for (size_t at = from; at < to; at++) body(at, own);
    });
    return true;
}

// Outputs are (out, logsumexp); values (query, key, value, dropout_p, is_causal, mask, scale).
int attention(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Attention a;
    AttentionResult r;
    if (count != 7 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 || !describe(values, values + 4, a))
        return 0;
    PyObject* sums = PyTuple_GET_ITEM(outs, 1);
    if (!written(PyTuple_GET_ITEM(outs, 0), a.batch, a.heads, a.rows, a.width, r.out) ||
        !sums_of(sums, a, r.sums, r.sums_steps) || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(sums)))
        return 0;
    const AttentionLoops& loops = attention_loops();
    const double work = work_of(a);
    const size_t all = a.batch * a.heads, threads = static_cast<size_t>(thread_count());
    // A head's rows are cut only where there are fewer heads than threads, in multiples of what every tile divides.
    size_t pieces = all < threads && work >= WORTH_A_THREAD ? (threads + all - 1) / all : 1;
    size_t rows = (a.rows + pieces - 1) / pieces;
    if (pieces > 1) rows = (rows + 959) / 960 * 960;
    pieces = (a.rows + rows - 1) / rows;
    const bool done = share(all * pieces, work, loops.scratch(a), [&](size_t at, float* memory) {
        const size_t from = at % pieces * rows, to = from + rows < a.rows ? from + rows : a.rows;
        loops.forward(a, r, at / pieces, from, to, memory);
    });
    return done ? 1 : 0;
}

// Outputs are the gradients of (query, key, value); values (grad, query, key, value, out, logsumexp, dropout_p,
// is_causal, mask, scale).
int attention_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Attention a;
    AttentionGradients g;
    if (count != 10 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 3 || !describe(values + 1, values + 7, a))
        return 0;
    float* sums;
    if (!sums_of(values[5], a, sums, g.sums_steps) || !heads_of(values[0], a.batch, a.heads, a.rows, a.width, g.grad) ||
        !heads_of(values[4], a.batch, a.heads, a.rows, a.width, g.out) ||
        !written(PyTuple_GET_ITEM(outs, 0), a.batch, a.heads, a.rows, a.width, g.query) ||
        !written(PyTuple_GET_ITEM(outs, 1), a.batch, a.key_heads, a.columns, a.width, g.key) ||
        !written(PyTuple_GET_ITEM(outs, 2), a.batch, a.key_heads, a.columns, a.width, g.value))
        return 0;
    g.sums = sums;
    const AttentionLoops& loops = attention_loops();
    const bool done = share(a.batch * a.key_heads, work_of(a), loops.backward_scratch(a),
                            [&](size_t at, float* memory) { loops.backward(a, g, at, memory); });
    return done ? 1 : 0;
}

}  // namespace

const NamedKernel attention_kernels[] = {
    {"_scaled_dot_product_flash_attention_for_cpu", attention},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
