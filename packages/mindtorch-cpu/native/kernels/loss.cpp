// Losses and their gradients on float32 operands; everything else is numpy's.
#include "kernels/loss.h"

#include "kernels/elementwise.h"
#include "kernels/operand.h"
#include "parallel.h"
#include "kernels/reduce.h"
#include "kernels/integer.h"

#include <stdlib.h>
#include <string.h>

#include <initializer_list>

namespace mindtorch {

namespace {

enum Reduced { NONE, MEAN, TOTAL };  // torch's numbers of reductions

constexpr size_t BLOCK = 1024;   // elements that are computed at once
constexpr size_t SHARE = 32768;  // elements that are summed at once, whatever the threads

bool reduction_of(PyObject* value, Reduced& reduced) {
    if (!PyLong_CheckExact(value)) return false;
    const long number = integer_of(value);
    reduced = static_cast<Reduced>(number);
    return number >= NONE && number <= TOTAL;
}

// The sum, in parts that do not depend on the threads; -1 without memory.
int sum_of(Map map, const float* input, const float* target, size_t count, const double* numbers, double& total) {
    const size_t blocks = (count + SHARE - 1) / SHARE;
    auto* parts = static_cast<Accumulator*>(calloc(blocks + 1, sizeof(Accumulator)));
    if (parts == nullptr) return PyErr_NoMemory(), -1;
    const Reducer& sum = reduce_loops().reducer[SUM][FLOAT_KIND];
    parallel(blocks, 1, [&](size_t from, size_t to) {
        float buffer[BLOCK];
        for (size_t block = from; block < to; block++) {
            const size_t end = block * SHARE + SHARE < count ? block * SHARE + SHARE : count;
            for (size_t at = block * SHARE; at < end; at += BLOCK) {
                const size_t here = end - at < BLOCK ? end - at : BLOCK;
                const void* const in[] = {input + at, target + at};
                map(buffer, in, here, numbers);
                sum.row(buffer, here, parts + block);
            }
        }
    });
    total = 0;
    for (size_t block = 0; block < blocks; block++) total += parts[block].real;
    free(parts);
    return 1;
}

int run_loss(Map map, PyObject* given, PyObject* self, PyObject* target, PyObject* reduction, double bound) {
    const double numbers[MOST_NUMBERS] = {1, bound};
    Reduced reduced;
    if (!reduction_of(reduction, reduced)) return 0;
    if (reduced == NONE) {
        const Forms by_kind[KINDS] = {{{map}}};
        PyObject* const values[] = {self, target};
        return run_map({by_kind}, given, values, 2, numbers);
    }
    float* out = output_floats(given, 1);
    if (out == nullptr || !PyArray_CheckExact(self) || !PyArray_CheckExact(target)) return 0;
    auto *left = reinterpret_cast<PyArrayObject*>(self), *right = reinterpret_cast<PyArrayObject*>(target);
    const npy_intp count = PyArray_SIZE(left);
    if (count == 0 || !PyArray_SAMESHAPE(left, right)) return 0;
    const float *input = floats(self, count, nullptr), *wanted = floats(target, count, nullptr);
    if (input == nullptr || wanted == nullptr) return 0;
    double total;
    if (sum_of(map, input, wanted, static_cast<size_t>(count), numbers, total) < 0) return -1;
    *out = static_cast<float>(reduced == MEAN ? total / static_cast<double>(count) : total);
    return 1;
}

int run_backward(Map map, PyObject* given, PyObject* const* values, PyObject* reduction, double bound) {
    Reduced reduced;
    if (!reduction_of(reduction, reduced) || !PyArray_CheckExact(values[1])) return 0;
    const npy_intp count = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(values[1]));  // as torch, where shapes differ
    const double numbers[MOST_NUMBERS] = {reduced == MEAN && count > 0 ? 1.0 / static_cast<double>(count) : 1.0, bound};
    const Forms by_kind[KINDS] = {{{map}}};
    return run_map({by_kind}, given, values, 3, numbers);
}

// Values are (self, target, reduction), and beta or delta.
template <Map LossLoops::* op, bool bounded>
int loss(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double bound = 0;
    if (count != (bounded ? 4 : 3) || (bounded && !exact_number(values[3], bound))) return 0;
    return run_loss(loss_loops().*op, out, values[0], values[1], values[2], bound);
}

// Values are (grad_output, self, target, reduction), and beta or delta.
template <Map LossLoops::* op, bool bounded>
int loss_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    double bound = 0;
    // numpy's kernel follows torch's comparisons where the bound is not positive.
    if (count != (bounded ? 5 : 4) || (bounded && !(exact_number(values[4], bound) && bound > 0))) return 0;
    return run_backward(loss_loops().*op, out, values, values[3], bound);
}

// Values are (self, target, weight, pos_weight, reduction). Of halves each step is rounded: numpy's kernel does that.
int cross_entropy_of_logits(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 5 || values[2] != Py_None || values[3] != Py_None || !PyArray_CheckExact(values[0])) return 0;
    if (PyArray_ITEMSIZE(reinterpret_cast<PyArrayObject*>(values[0])) == 2) return 0;
    return run_loss(loss_loops().binary_cross_entropy_with_logits, out, values[0], values[1], values[4], 0);
}

// True where all floats lie from 0 to 1. What cannot be read as floats is left to numpy's kernel.
bool are_probabilities(PyObject* array) {
    if (!PyArray_CheckExact(array)) return false;
    const npy_intp size = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(array));
    const float* in = floats(array, size, nullptr);
    if (in == nullptr) return false;
    for (const Reduction op : {AMAX, AMIN}) {
        const Reducer& extreme = reduce_loops().reducer[op][FLOAT_KIND];
        Accumulator found = extreme.identity;
        extreme.row(in, static_cast<size_t>(size), &found);
        if (size > 0 && !(found.real >= 0 && found.real <= 1)) return false;
    }
    return true;
}

// Values are (self, target, weight, reduction); numpy's kernel refuses what is no probability.
int cross_entropy(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    if (count != 4 || values[2] != Py_None) return 0;
    if (!are_probabilities(values[0]) || !are_probabilities(values[1])) return 0;
    return run_loss(loss_loops().binary_cross_entropy, out, values[0], values[1], values[3], 0);
}

int cross_entropy_backward(PyObject* out, PyObject* const* values, Py_ssize_t count) {
    return count == 5 && values[3] == Py_None
               ? run_backward(loss_loops().binary_cross_entropy_backward, out, values, values[4], 0)
               : 0;
}

// Targets that are all classes or ignored, of scores (images, classes, places), and the classes' weights. A row is what
// one target belongs to; scores of two dimensions have one place each.
struct Targets {
    const long long* classes = nullptr;
    const float* weights = nullptr;
    npy_intp rows = 0, width = 0, places = 1;
    long long ignored = 0;

    bool take(PyObject* scores, PyObject* target, PyObject* weight, PyObject* ignore) {
        if (!PyArray_CheckExact(scores) || !PyArray_CheckExact(target) || !PyLong_CheckExact(ignore)) return false;
        auto *frame = reinterpret_cast<PyArrayObject*>(scores), *given = reinterpret_cast<PyArrayObject*>(target);
        const int ndim = PyArray_NDIM(frame);
        if ((ndim != 2 && ndim != 4) || PyArray_TYPE(given) != NPY_INT64 || !PyArray_ISCARRAY_RO(given)) return false;
        width = PyArray_DIM(frame, 1);
        places = ndim == 4 ? PyArray_DIM(frame, 2) * PyArray_DIM(frame, 3) : 1;
        rows = PyArray_DIM(frame, 0) * places;
        if (rows == 0 || PyArray_SIZE(given) != rows) return false;
        if (weight != Py_None && (weights = floats(weight, width, nullptr)) == nullptr) return false;
        classes = static_cast<const long long*>(PyArray_DATA(given));
        ignored = PyLong_AsLongLong(ignore);
        if (ignored == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
        for (npy_intp row = 0; row < rows; row++)
            if (classes[row] != ignored && (classes[row] < 0 || classes[row] >= width)) return false;
        return true;
    }
    // Where the score of a row's target lies.
    npy_intp place(npy_intp row) const {
        if (places == 1) return row * width + classes[row];
        return (row / places * width + classes[row]) * places + row % places;
    }
    float weight(npy_intp row) const {
        if (classes[row] == ignored) return 0;
        return weights == nullptr ? 1 : weights[classes[row]];
    }
};

// Outputs are (output, total_weight); values (self, target, weight, reduction, ignore_index).
int nll_loss(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Targets targets;
    Reduced reduced;
    if (count != 5 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2 || !reduction_of(values[3], reduced) ||
        !targets.take(values[0], values[1], values[2], values[4]))
        return 0;
    const float* scores = floats(values[0], targets.rows * targets.width, nullptr);
    float* out = output_floats(PyTuple_GET_ITEM(outs, 0), reduced == NONE ? targets.rows : 1);
    float* total = output_floats(PyTuple_GET_ITEM(outs, 1), 1);
    if (scores == nullptr || out == nullptr || total == nullptr) return 0;
    double sum = 0, all = 0;
    for (npy_intp row = 0; row < targets.rows; row++) {
        const float weight = targets.weight(row);
        const bool ignored = targets.classes[row] == targets.ignored;
        const float found = ignored ? 0 : -scores[targets.place(row)] * weight;
        if (reduced == NONE) out[row] = found;
        sum += found;
        all += weight;
    }
    *total = reduced == NONE ? 0 : static_cast<float>(all);
    if (reduced != NONE) *out = static_cast<float>(reduced == MEAN ? sum / all : sum);
    return 1;
}

// Values are (grad_output, self, target, weight, reduction, ignore_index, total_weight).
int nll_loss_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    Targets targets;
    Reduced reduced;
    if (count != 7 || !reduction_of(values[4], reduced) || !targets.take(given, values[2], values[3], values[5]))
        return 0;
    float* out = output_floats(given, targets.rows * targets.width);
    const float* grad = floats(values[0], reduced == NONE ? targets.rows : 1, nullptr);
    const float* total = floats(values[6], 1, nullptr);
    if (out == nullptr || grad == nullptr || total == nullptr) return 0;
    memset(out, 0, static_cast<size_t>(targets.rows * targets.width) * sizeof(float));
    for (npy_intp row = 0; row < targets.rows; row++) {
        const float weight = targets.weight(row);
        if (targets.classes[row] == targets.ignored) continue;
        const float scale = -weight * grad[reduced == NONE ? row : 0];
        out[targets.place(row)] = reduced != MEAN ? scale : weight == 0 ? 0 : scale / *total;
    }
    return 1;
}

}  // namespace

const NamedKernel loss_kernels[] = {
    {"mse_loss", loss<&LossLoops::mse_loss, false>},
    {"smooth_l1_loss", loss<&LossLoops::smooth_l1_loss, true>},
    {"huber_loss", loss<&LossLoops::huber_loss, true>},
    {"binary_cross_entropy", cross_entropy},
    {"binary_cross_entropy_with_logits", cross_entropy_of_logits},
    {"mse_loss_backward", loss_backward<&LossLoops::mse_loss_backward, false>},
    {"smooth_l1_loss_backward", loss_backward<&LossLoops::smooth_l1_loss_backward, true>},
    {"huber_loss_backward", loss_backward<&LossLoops::huber_loss_backward, true>},
    {"binary_cross_entropy_backward", cross_entropy_backward},
    {"nll_loss_forward nll_loss2d_forward", nll_loss, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"nll_loss_backward nll_loss2d_backward", nll_loss_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
