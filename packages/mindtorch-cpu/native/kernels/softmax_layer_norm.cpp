// Softmax and layer norm of rows, and their backwards, on dense float32 operands; everything else is numpy's.
#include "mindtorch/entry.h"
#include "kernels/softmax_layer_norm.h"

#include "kernels/operand.h"
#include "parallel.h"
#include "memory/scratch.h"
#include "kernels/transfer.h"
#include "kernels/integer.h"

#include <stdlib.h>

namespace mindtorch {

namespace {

// An array as (outer, count, inner), `count` being the extent of `dim`; false when it is empty.
struct Shape {
    size_t outer = 1, count = 1, inner = 1;

    bool take(PyArrayObject* array, PyObject* dim) {
        const int ndim = PyArray_NDIM(array);
        if (ndim == 0 || PyArray_SIZE(array) == 0 || !PyLong_CheckExact(dim)) return false;
        const long number = integer_of(dim), place = number < 0 ? number + ndim : number;
        if (place < 0 || place >= ndim) return PyErr_Clear(), false;
        for (int each = 0; each < ndim; each++)
            (each < place ? outer : each == place ? count : inner) *= static_cast<size_t>(PyArray_DIM(array, each));
        return true;
    }
};

constexpr size_t BLOCKS = 16;    // of rows at most, where rows are summed
constexpr size_t COLUMNS = 128;  // that are worked on together

size_t grain_of(size_t elements) { return elements >= GRAIN ? 1 : GRAIN / elements; }

// Call rows(from, to) for parts of the rows, or columns(start, width) for tiles of columns, by threads.
template <typename Rows, typename Columns>
void each_part(const Shape& shape, const Rows& rows, const Columns& columns) {
    if (shape.inner == 1) {
        parallel(shape.outer, grain_of(shape.count), rows);
        return;
    }
    const size_t tiles = (shape.inner + COLUMNS - 1) / COLUMNS, width = shape.inner < COLUMNS ? shape.inner : COLUMNS;
    parallel(shape.outer * tiles, grain_of(shape.count * width), [&](size_t from, size_t to) {
        for (size_t tile = from; tile < to; tile++) {
            const size_t first = tile % tiles * COLUMNS, rest = shape.inner - first;
            columns(tile / tiles * shape.count * shape.inner + first, rest < COLUMNS ? rest : COLUMNS);
        }
    });
}

// Dense elements, float or bfloat16.
struct Stretch {
    char* data = nullptr;
    bool bfloat16 = false;

    // False for what is neither, or not `count` elements apart from `out`.
    bool take(PyObject* value, npy_intp count, PyArrayObject* out) {
        if (!PyArray_CheckExact(value)) return false;
        auto* array = reinterpret_cast<PyArrayObject*>(value);
        bfloat16 = PyArray_TYPE(array) == bfloat16_type;
        data = PyArray_BYTES(array);
        return (bfloat16 || PyArray_TYPE(array) == NPY_FLOAT) && PyArray_ISCARRAY_RO(array) &&
               PyArray_SIZE(array) == count && (out == nullptr || apart(out, data, PyArray_NBYTES(array)));
    }
    bool take_output(PyObject* value, npy_intp count) {
        return take(value, count, nullptr) && PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(value));
    }
    // `count` elements from `from` on: in `buffer` where they are not floats.
    const float* load(float* buffer, size_t from, size_t count) const {
        if (!bfloat16) return reinterpret_cast<const float*>(data) + from;
        transfer_loops().load[BFLOAT16](buffer, data + 2 * from, 2, count);
        return buffer;
    }
    float* place(float* buffer, size_t from) const { return bfloat16 ? buffer : reinterpret_cast<float*>(data) + from; }
    void store(const float* buffer, size_t from, size_t count) const {
        if (bfloat16) transfer_loops().store[BFLOAT16](data + 2 * from, buffer, 2, count);
    }
};

constexpr size_t CONVERTED = 2048;  // elements of an operand that are converted at a time

// Run body(from, rows, memory) for blocks of rows, `memory` being `each` floats for every row of a block; false without
// memory.
template <typename Body>
bool by_blocks(size_t rows, size_t width, size_t each, const Body& body) {
    const size_t block = width < CONVERTED ? CONVERTED / width : 1, grain = grain_of(width);
    const size_t threads = static_cast<size_t>(thread_count()), parts = (rows + grain - 1) / grain;
    const size_t workers = parts < threads ? parts : threads, size = (block * each + 15) / 16 * 16;
    auto* memory = static_cast<float*>(scratch(workers * size * sizeof(float)));
    if (memory == nullptr) return false;
    parallel(rows, grain, [&](size_t from, size_t to) {
        // Parts of the pool are rows * i / workers: the one that begins at `from` is i.
        float* own = memory + (from * workers + rows - 1) / rows * size;
        for (; from < to; from += block) body(from, to - from < block ? to - from : block, own);
    });
    return true;
}

// Of rows that are not all floats.
template <SoftmaxForm op>
int softmax_bfloat16(PyObject* given, PyObject* value, const Shape& shape) {
    Stretch to, in;
    const npy_intp size = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(given));
    if (shape.inner != 1 || !to.take_output(given, size) ||
        !in.take(value, size, reinterpret_cast<PyArrayObject*>(given)))
        return 0;
    const size_t width = shape.count;
    return by_blocks(shape.outer, width, 2 * width, [&](size_t from, size_t rows, float* memory) {
        const float* input = in.load(memory, from * width, rows * width);
        float* out = to.place(memory + rows * width, from * width);
        normalization_loops().softmax[op](out, input, rows, width);
        to.store(out, from * width, rows * width);
    });
}

template <SoftmaxForm op>
int softmax_backward_bfloat16(PyObject* given, PyObject* grad_output, PyObject* value, const Shape& shape) {
    Stretch to, grad, result;
    auto* out = reinterpret_cast<PyArrayObject*>(given);
    const npy_intp size = PyArray_SIZE(out);
    if (shape.inner != 1 || !to.take_output(given, size) || !grad.take(grad_output, size, out) ||
        !result.take(value, size, out))
        return 0;
    const size_t width = shape.count;
    return by_blocks(shape.outer, width, 3 * width, [&](size_t from, size_t rows, float* memory) {
        const size_t start = from * width, count = rows * width;
        const float *g = grad.load(memory, start, count), *y = result.load(memory + count, start, count);
        float* made = to.place(memory + 2 * count, start);
        normalization_loops().softmax_backward[op](made, g, y, rows, width);
        to.store(made, start, count);
    });
}

bool is_bfloat16(PyObject* value) {
    return PyArray_CheckExact(value) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value)) == bfloat16_type;
}

// Values are (self, dim, half_to_float).
template <SoftmaxForm op>
int softmax(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Shape shape;
    if (count == 3 && is_bfloat16(values[0]))
        return PyArray_CheckExact(given) && shape.take(reinterpret_cast<PyArrayObject*>(given), values[1])
                   ? softmax_bfloat16<op>(given, values[0], shape)
                   : 0;
    PyArrayObject* out = output(given);
    if (count != 3 || out == nullptr || kind_of(out) != 0 || !shape.take(out, values[1])) return 0;
    const float* in = floats(values[0], PyArray_SIZE(out), out);
    if (in == nullptr) return 0;
    auto* to = static_cast<float*>(PyArray_DATA(out));
    const auto& loops = normalization_loops();
    each_part(
        shape,
        [&](size_t from, size_t end) {
            loops.softmax[op](to + from * shape.count, in + from * shape.count, end - from, shape.count);
        },
        [&](size_t start, size_t width) {
            loops.share_columns[op](to + start, in + start, shape.count, shape.inner, width);
        });
    return 1;
}

// Values are (grad_output, output, dim, input_dtype).
template <SoftmaxForm op>
int softmax_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Shape shape;
    if (count == 4 && is_bfloat16(given))
        return shape.take(reinterpret_cast<PyArrayObject*>(given), values[2])
                   ? softmax_backward_bfloat16<op>(given, values[0], values[1], shape)
                   : 0;
    PyArrayObject* out = output(given);
    if (count != 4 || out == nullptr || kind_of(out) != 0 || !shape.take(out, values[2])) return 0;
    const npy_intp size = PyArray_SIZE(out);
    const float *grad = floats(values[0], size, out), *result = floats(values[1], size, out);
    if (grad == nullptr || result == nullptr) return 0;
    auto* to = static_cast<float*>(PyArray_DATA(out));
    const auto& loops = normalization_loops();
    each_part(
        shape,
        [&](size_t from, size_t end) {
            const size_t start = from * shape.count;
            loops.softmax_backward[op](to + start, grad + start, result + start, end - from, shape.count);
        },
        [&](size_t start, size_t width) {
            loops.share_columns_backward[op](to + start, grad + start, result + start, shape.count, shape.inner, width);
        });
    return 1;
}

// Values are (self, dims, keepdim): over the last dimensions.
int logsumexp(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 3 || !PyArray_CheckExact(values[0]) || !PyTuple_CheckExact(values[1])) return 0;
    auto* array = reinterpret_cast<PyArrayObject*>(values[0]);
    const Py_ssize_t dims = PyTuple_GET_SIZE(values[1]);
    npy_intp width = 1;
    for (Py_ssize_t each = 0; each < dims; each++) {
        const long dim = integer_of(PyTuple_GET_ITEM(values[1], each));
        if (dim < PyArray_NDIM(array) - dims || dim >= PyArray_NDIM(array)) return PyErr_Clear(), 0;
        width *= PyArray_DIM(array, static_cast<int>(dim));
    }
    const npy_intp size = PyArray_SIZE(array);
    if (size == 0 || dims == 0) return 0;
    const float* in = floats(values[0], size, nullptr);
    float* out = output_floats(given, size / width);
    if (in == nullptr || out == nullptr) return 0;
    const auto extent = static_cast<size_t>(width);
    parallel(static_cast<size_t>(size / width), grain_of(extent), [&](size_t from, size_t to) {
        normalization_loops().logsumexp(out + from, in + from * extent, to - from, extent);
    });
    return 1;
}

bool is_triple(PyObject* outs) { return PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == 3; }

// How many rows and how wide, from the statistics' array and the whole; false when it is none or empty.
bool row_sizes(PyObject* whole, PyObject* statistics, npy_intp& rows, npy_intp& width) {
    if (!PyArray_CheckExact(whole) || !PyArray_CheckExact(statistics)) return false;
    const npy_intp size = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(whole));
    rows = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(statistics));
    if (rows == 0 || size == 0) return false;
    width = size / rows;
    return true;
}

// An operand that may be None: false when it is there but no loop takes it.
bool optional(PyObject* value, npy_intp count, const float*& data) {
    data = nullptr;
    if (value == Py_None) return true;
    data = floats(value, count, nullptr);
    return data != nullptr;
}

bool optional_output(PyObject* given, npy_intp count, float*& data) {
    data = nullptr;
    if (given == Py_None) return true;
    data = output_floats(given, count);
    return data != nullptr;
}

// Of bfloat16, with weights and statistics of either kind.
int layer_norm_bfloat16(PyObject* outs, PyObject* const* values, npy_intp rows, npy_intp width) {
    Stretch to, middle, size, in, weight, bias;
    if (!to.take_output(PyTuple_GET_ITEM(outs, 0), rows * width) ||
        !middle.take_output(PyTuple_GET_ITEM(outs, 1), rows) || !size.take_output(PyTuple_GET_ITEM(outs, 2), rows) ||
        !in.take(values[0], rows * width, nullptr) ||
        (values[2] != Py_None && !weight.take(values[2], width, nullptr)) ||
        (values[3] != Py_None && !bias.take(values[3], width, nullptr)))
        return 0;
    const auto extent = static_cast<size_t>(width);
    auto* parameters = static_cast<float*>(malloc(2 * extent * sizeof(float)));
    if (parameters == nullptr) return no_memory(2 * extent * sizeof(float));
    const float* factors = values[2] == Py_None ? nullptr : weight.load(parameters, 0, extent);
    const float* shifts = values[3] == Py_None ? nullptr : bias.load(parameters + extent, 0, extent);
    const double eps = PyFloat_AS_DOUBLE(values[4]);
    const bool done =
        by_blocks(static_cast<size_t>(rows), extent, 2 * extent + 2, [&](size_t from, size_t count, float* memory) {
            const size_t start = from * extent, elements = count * extent;
            const float* input = in.load(memory, start, elements);
            float* statistics = memory + 2 * elements;
            const LayerNorm part = {to.place(memory + elements, start), middle.place(statistics, from),
                                    size.place(statistics + count, from)};
            normalization_loops().layer_norm(part, input, factors, shifts, count, extent, eps);
            to.store(part.out, start, elements);
            middle.store(part.mean, from, count);
            size.store(part.scale, from, count);
        });
    free(parameters);
    return done;
}

// Outputs are (out, mean, rstd); values (input, normalized_shape, weight, bias, eps).
int layer_norm(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    npy_intp rows, width;
    if (count != 5 || !is_triple(outs) || !PyFloat_CheckExact(values[4]) ||
        !row_sizes(PyTuple_GET_ITEM(outs, 0), PyTuple_GET_ITEM(outs, 1), rows, width))
        return 0;
    if (is_bfloat16(values[0])) return layer_norm_bfloat16(outs, values, rows, width);
    LayerNorm to;
    to.out = output_floats(PyTuple_GET_ITEM(outs, 0), rows * width);
    to.mean = output_floats(PyTuple_GET_ITEM(outs, 1), rows);
    to.scale = output_floats(PyTuple_GET_ITEM(outs, 2), rows);
    const float *in = floats(values[0], rows * width, nullptr), *weight, *bias;
    if (to.out == nullptr || to.mean == nullptr || to.scale == nullptr || in == nullptr ||
        !optional(values[2], width, weight) || !optional(values[3], width, bias))
        return 0;
    const double eps = PyFloat_AS_DOUBLE(values[4]);
    const auto extent = static_cast<size_t>(width);
    parallel(static_cast<size_t>(rows), grain_of(extent), [&](size_t from, size_t end) {
        const LayerNorm part = {to.out + from * extent, to.mean + from, to.scale + from};
        normalization_loops().layer_norm(part, in + from * extent, weight, bias, end - from, extent, eps);
    });
    return 1;
}

// Outputs are the gradients of (input, weight, bias); values (grad, input, normalized_shape, mean, rstd, weight, bias,
// mask).
int layer_norm_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    npy_intp rows, width;
    if (count != 8 || !is_triple(outs) || !row_sizes(values[1], values[3], rows, width)) return 0;
    LayerNormGradients to;
    const float *grad = floats(values[0], rows * width, nullptr), *in = floats(values[1], rows * width, nullptr);
    const float *mean = floats(values[3], rows, nullptr), *scale = floats(values[4], rows, nullptr), *weight;
    if (grad == nullptr || in == nullptr || mean == nullptr || scale == nullptr ||
        !optional(values[5], width, weight) || !optional_output(PyTuple_GET_ITEM(outs, 0), rows * width, to.input) ||
        !optional_output(PyTuple_GET_ITEM(outs, 1), width, to.weight) ||
        !optional_output(PyTuple_GET_ITEM(outs, 2), width, to.bias))
        return 0;
    const auto count_of_rows = static_cast<size_t>(rows), extent = static_cast<size_t>(width);
    // The gradients of weight and bias are sums of blocks' sums, which do not depend on the threads.
    const size_t least = (count_of_rows + BLOCKS - 1) / BLOCKS, block = least < 32 ? 32 : least;
    const size_t blocks = (count_of_rows + block - 1) / block;
    auto* sums = static_cast<float*>(calloc(blocks * 2 * extent, sizeof(float)));
    if (sums == nullptr) return PyErr_NoMemory(), -1;
    parallel(blocks, 1, [&](size_t from, size_t end) {
        for (size_t each = from; each < end; each++) {
            const size_t first = each * block, last = first + block < count_of_rows ? first + block : count_of_rows;
            float* sum = sums + each * 2 * extent;
            const LayerNormGradients part = {to.input == nullptr ? nullptr : to.input + first * extent,
                                             to.weight == nullptr ? nullptr : sum,
                                             to.bias == nullptr ? nullptr : sum + extent};
            normalization_loops().layer_norm_backward(part, grad + first * extent, in + first * extent, mean + first,
                                                      scale + first, weight, last - first, extent);
        }
    });
    for (size_t column = 0; column < extent; column++) {
        double along = 0, total = 0;
        for (size_t each = 0; each < blocks; each++) {
            along += sums[each * 2 * extent + column];
            total += sums[(each * 2 + 1) * extent + column];
        }
        if (to.weight != nullptr) to.weight[column] = static_cast<float>(along);
        if (to.bias != nullptr) to.bias[column] = static_cast<float>(total);
    }
    free(sums);
    return 1;
}

}  // namespace

const NamedKernel softmax_layer_norm_kernels[] = {
    {"_softmax", softmax<SOFTMAX>, REDUCED_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {"_log_softmax", softmax<LOG_SOFTMAX>, REDUCED_PRECISION, nullptr, DENSE_LAYOUT, 1},
    {"_softmax_backward_data", softmax_backward<SOFTMAX>, REDUCED_PRECISION, nullptr, DENSE_LAYOUT, 2},
    {"_log_softmax_backward_data", softmax_backward<LOG_SOFTMAX>, REDUCED_PRECISION, nullptr, DENSE_LAYOUT, 2},
    {"logsumexp", logsumexp, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"native_layer_norm", layer_norm, REDUCED_PRECISION, nullptr, DENSE_LAYOUT},
    {"native_layer_norm_backward", layer_norm_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
