// Batch norm and group norm with their backwards, on dense float32 operands; everything else is numpy's.
#include "kernels/batch_norm.h"

#include "kernels/channels_last.h"
#include "kernels/operand.h"
#include "parallel.h"
#include "kernels/reduce.h"

#include <math.h>
#include <stdlib.h>

#include <initializer_list>

namespace mindtorch {

namespace {

// Memory for `count` numbers of eight bytes, zeros, given back when the scope is left.
template <typename T>
class Room {
public:
    explicit Room(npy_intp count) : data(static_cast<T*>(calloc(static_cast<size_t>(count) + 1, sizeof(T)))) {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { free(data); }
    T* const data;
};

bool is_triple(PyObject* outs) { return PyTuple_CheckExact(outs) && PyTuple_GET_SIZE(outs) == 3; }

// An operand that may be None: false when it is there but no loop takes it.
bool optional(PyObject* value, npy_intp count, const float*& data) {
    data = nullptr;
    return value == Py_None || (data = floats(value, count, nullptr)) != nullptr;
}

bool optional_output(PyObject* given, npy_intp count, float*& data) {
    data = nullptr;
    return given == Py_None || (data = output_floats(given, count)) != nullptr;
}

size_t grain_of(npy_intp elements) {
    return elements >= static_cast<npy_intp>(GRAIN) ? 1 : GRAIN / static_cast<size_t>(elements);
}

// A batch: (count, channels, positions).
struct Batch {
    npy_intp count = 0, channels = 0, positions = 1;

    bool take(PyObject* input) {
        if (!PyArray_CheckExact(input)) return false;
        auto* array = reinterpret_cast<PyArrayObject*>(input);
        if (PyArray_NDIM(array) < 2 || PyArray_SIZE(array) == 0) return false;
        count = PyArray_DIM(array, 0);
        channels = PyArray_DIM(array, 1);
        for (int dim = 2; dim < PyArray_NDIM(array); dim++) positions *= PyArray_DIM(array, dim);
        return true;
    }
    // Channels that lie side by side are those of rows.
    void take_rows() {
        count *= positions;
        positions = 1;
    }
    npy_intp size() const { return count * channels * positions; }
    npy_intp each() const { return count * positions; }  // elements of a channel
    npy_intp at(npy_intp item, npy_intp channel) const { return (item * channels + channel) * positions; }
};

// True where all of the arrays have their channels side by side.
bool channels_are_last(std::initializer_list<PyObject*> values) {
    for (PyObject* value : values)
        if (!is_channels_last(value, NPY_FLOAT)) return false;
    return true;
}

// The elements of an array with as many as the batch has, dense or, where `last`, with channels side by side.
float* elements(const Batch& batch, PyObject* value, bool last) {
    if (!last) return const_cast<float*>(floats(value, batch.size(), nullptr));
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    return PyArray_SIZE(array) == batch.size() ? static_cast<float*>(PyArray_DATA(array)) : nullptr;
}

float* output_elements(const Batch& batch, PyObject* value, bool last) {
    if (!last) return output_floats(value, batch.size());
    return PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(value)) ? elements(batch, value, last) : nullptr;
}

// Means and sums of squared distances from them, by channels.
void find_moments(const Batch& batch, const float* in, double* means, double* squares) {
    const auto& loops = reduce_loops();
    const Reducer& sum = loops.reducer[SUM][FLOAT_KIND];
    const auto positions = static_cast<size_t>(batch.positions), rows = static_cast<size_t>(batch.count);
    const auto each = static_cast<double>(batch.each());
    if (batch.positions == 1) {
        const auto step = static_cast<ptrdiff_t>(batch.channels * static_cast<npy_intp>(sizeof(float)));
        const auto width = static_cast<size_t>(batch.channels);
        parallel((width + COLUMNS - 1) / COLUMNS, grain_of(batch.count * static_cast<npy_intp>(COLUMNS)),
                 [&](size_t from, size_t to) {
                     for (size_t first = from * COLUMNS; first < to * COLUMNS && first < width; first += COLUMNS) {
                         const size_t n = width - first < COLUMNS ? width - first : COLUMNS;
                         auto* mean = reinterpret_cast<Accumulator*>(means + first);
                         sum.columns(in + first, step, rows, n, mean);
                         for (size_t at = 0; at < n; at++) mean[at].real /= each;
                         loops.column_spread[FLOAT_KIND](in + first, step, rows, n, mean,
                                                         reinterpret_cast<Accumulator*>(squares + first));
                     }
                 });
        return;
    }
    parallel(static_cast<size_t>(batch.channels), grain_of(batch.each()), [&](size_t from, size_t to) {
        for (auto channel = static_cast<npy_intp>(from); channel < static_cast<npy_intp>(to); channel++) {
            Accumulator mean{0}, square{0};
            for (npy_intp item = 0; item < batch.count; item++) sum.row(in + batch.at(item, channel), positions, &mean);
            mean.real /= each;
            for (npy_intp item = 0; item < batch.count; item++)
                loops.row_spread[FLOAT_KIND](in + batch.at(item, channel), positions, &mean, &square);
            means[channel] = mean.real;
            squares[channel] = square.real;
        }
    });
}

void apply(const Batch& batch, float* out, const float* in, const float* mean, const float* factor,
           const float* shift) {
    const auto& loops = channel_norm_loops();
    const auto channels = static_cast<size_t>(batch.channels);
    if (batch.positions == 1) {
        parallel(static_cast<size_t>(batch.count), grain_of(batch.channels), [&](size_t from, size_t to) {
            loops.affine_columns(out + from * channels, in + from * channels, to - from, channels, mean, factor, shift);
        });
        return;
    }
    const auto positions = static_cast<size_t>(batch.positions);
    parallel(static_cast<size_t>(batch.count) * channels, grain_of(batch.positions), [&](size_t from, size_t to) {
        for (size_t row = from; row < to; row++) {
            const size_t at = row * positions, channel = row % channels;
            loops.affine(out + at, in + at, positions, mean[channel], factor[channel], shift[channel]);
        }
    });
}

// Move running statistics, which may be null, towards new ones.
void move(float* running, const double* found, npy_intp count, double momentum, double factor) {
    for (npy_intp at = 0; running != nullptr && at < count; at++)
        running[at] = static_cast<float>(momentum * (found[at] * factor) + (1 - momentum) * running[at]);
}

// Outputs are (out, mean, inverse deviation); values (input, weight, bias, running_mean, running_var, training,
// momentum, eps).
int batch_norm(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Batch batch;
    if (count != 8 || !is_triple(outs) || !batch.take(values[0]) || !PyBool_Check(values[5]) ||
        !PyFloat_CheckExact(values[6]) || !PyFloat_CheckExact(values[7]))
        return 0;
    const bool training = values[5] == Py_True, last = channels_are_last({values[0], PyTuple_GET_ITEM(outs, 0)});
    if (last) batch.take_rows();
    const npy_intp channels = batch.channels;
    const double momentum = PyFloat_AS_DOUBLE(values[6]), eps = PyFloat_AS_DOUBLE(values[7]);
    const float *in = elements(batch, values[0], last), *weight, *bias;
    float *running_mean, *running_var, *to = output_elements(batch, PyTuple_GET_ITEM(outs, 0), last);
    if (in == nullptr || to == nullptr || !optional(values[1], channels, weight) ||
        !optional(values[2], channels, bias) || !optional_output(values[3], channels, running_mean) ||
        !optional_output(values[4], channels, running_var) ||
        (!training && (running_mean == nullptr || running_var == nullptr)))
        return 0;
    float* saved_mean = training ? output_floats(PyTuple_GET_ITEM(outs, 1), channels) : nullptr;
    float* saved_scale = training ? output_floats(PyTuple_GET_ITEM(outs, 2), channels) : nullptr;
    if (training && (saved_mean == nullptr || saved_scale == nullptr)) return 0;
    const Room<double> means(channels), squares(channels);
    const Room<float> mean(channels), factor(channels), shift(channels);
    if (means.data == nullptr || squares.data == nullptr || mean.data == nullptr || factor.data == nullptr ||
        shift.data == nullptr)
        return PyErr_NoMemory(), -1;
    const auto each = static_cast<double>(batch.each());
    if (training) find_moments(batch, in, means.data, squares.data);
    for (npy_intp at = 0; at < channels; at++) {
        const double scale = 1.0 / sqrt((training ? squares.data[at] / each : running_var[at]) + eps);
        mean.data[at] = training ? static_cast<float>(means.data[at]) : running_mean[at];
        factor.data[at] = static_cast<float>(weight == nullptr ? scale : scale * weight[at]);
        shift.data[at] = bias == nullptr ? 0 : bias[at];
        if (training) {
            saved_mean[at] = mean.data[at];
            saved_scale[at] = static_cast<float>(scale);
        }
    }
    if (training) {
        move(running_mean, means.data, channels, momentum, 1);
        move(running_var, squares.data, channels, momentum, 1 / (each - 1));
    }
    apply(batch, to, in, mean.data, factor.data, shift.data);
    return 1;
}

void find_sums(const Batch& batch, const float* grad, const float* in, const float* mean, double* total,
               double* along) {
    const auto& loops = channel_norm_loops();
    if (batch.positions == 1) {
        loops.sums_of_columns(grad, in, static_cast<size_t>(batch.count), static_cast<size_t>(batch.channels), mean,
                              total, along);
        return;
    }
    parallel(static_cast<size_t>(batch.channels), grain_of(batch.each()), [&](size_t from, size_t to) {
        for (auto channel = static_cast<npy_intp>(from); channel < static_cast<npy_intp>(to); channel++)
            for (npy_intp item = 0; item < batch.count; item++) {
                const npy_intp at = batch.at(item, channel);
                loops.sums(grad + at, in + at, static_cast<size_t>(batch.positions), mean[channel], total + channel,
                           along + channel);
            }
    });
}

void find_gradient(const Batch& batch, float* out, const float* grad, const float* in, const float* mean,
                   const float* total, const float* along, const float* factor) {
    const auto& loops = channel_norm_loops();
    const auto channels = static_cast<size_t>(batch.channels), positions = static_cast<size_t>(batch.positions);
    if (positions == 1) {
        parallel(static_cast<size_t>(batch.count), grain_of(batch.channels), [&](size_t from, size_t to) {
            const size_t at = from * channels;
            loops.gradient_of_columns(out + at, grad + at, in + at, to - from, channels, mean, total, along, factor);
        });
        return;
    }
    parallel(static_cast<size_t>(batch.count) * channels, grain_of(batch.positions), [&](size_t from, size_t to) {
        for (size_t row = from; row < to; row++) {
            const size_t at = row * positions, channel = row % channels;
            loops.gradient(out + at, grad + at, in + at, positions, mean[channel], 1, total[channel], along[channel],
                           factor[channel]);
        }
    });
}

// Outputs are the gradients of (input, weight, bias); values (grad, input, weight, running_mean, running_var, mean,
// inverse deviation, train, eps, mask).
int batch_norm_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Batch batch;
    if (count != 10 || !is_triple(outs) || !batch.take(values[1]) || !PyBool_Check(values[7]) ||
        !PyFloat_CheckExact(values[8]))
        return 0;
    PyObject* gradient = PyTuple_GET_ITEM(outs, 0);
    const bool train = values[7] == Py_True;
    const bool last = channels_are_last({values[0], values[1], gradient == Py_None ? values[0] : gradient});
    if (last) batch.take_rows();
    const npy_intp channels = batch.channels;
    const double eps = PyFloat_AS_DOUBLE(values[8]);
    const float *grad = elements(batch, values[0], last), *in = elements(batch, values[1], last), *weight;
    const float* mean = floats(values[train ? 5 : 3], channels, nullptr);
    const float* scale = floats(values[train ? 6 : 4], channels, nullptr);
    float *to = nullptr, *to_weight, *to_bias;
    if (gradient != Py_None && (to = output_elements(batch, gradient, last)) == nullptr) return 0;
    if (grad == nullptr || in == nullptr || mean == nullptr || scale == nullptr ||
        !optional(values[2], channels, weight) || !optional_output(PyTuple_GET_ITEM(outs, 1), channels, to_weight) ||
        !optional_output(PyTuple_GET_ITEM(outs, 2), channels, to_bias))
        return 0;
    const Room<double> total(channels), along(channels);
    const Room<float> middle(channels), coefficient(channels), factor(channels);
    if (total.data == nullptr || along.data == nullptr || middle.data == nullptr || coefficient.data == nullptr ||
        factor.data == nullptr)
        return PyErr_NoMemory(), -1;
    find_sums(batch, grad, in, mean, total.data, along.data);
    const auto each = static_cast<double>(batch.each());
    for (npy_intp at = 0; at < channels; at++) {
        const double size_of = train ? scale[at] : 1.0 / sqrt(scale[at] + eps);
        if (to_weight != nullptr) to_weight[at] = static_cast<float>(along.data[at] * size_of);
        if (to_bias != nullptr) to_bias[at] = static_cast<float>(total.data[at]);
        middle.data[at] = train ? static_cast<float>(total.data[at] / each) : 0.0f;
        coefficient.data[at] = train ? static_cast<float>(along.data[at] * size_of * size_of / each) : -0.0f;
        factor.data[at] = static_cast<float>(weight == nullptr ? size_of : size_of * weight[at]);
    }
    if (to == nullptr) return 1;
    if (train)
        find_gradient(batch, to, grad, in, mean, middle.data, coefficient.data, factor.data);
    else  // whatever the input is: it may be infinite
        apply(batch, to, grad, middle.data, factor.data, coefficient.data);
    return 1;
}

// A group norm's sizes: values (..., N, C, HxW, group, ...) from `first` on.
struct Groups {
    npy_intp count, channels, positions, groups;

    bool take(PyObject* const* values) {
        npy_intp* const each[] = {&count, &channels, &positions, &groups};
        for (int at = 0; at < 4; at++) {
            if (!PyLong_CheckExact(values[at])) return false;
            *each[at] = PyLong_AsSsize_t(values[at]);
        }
        return count > 0 && channels > 0 && positions > 0 && groups > 0 && channels % groups == 0;
    }
    npy_intp size() const { return count * channels * positions; }
    npy_intp members() const { return channels / groups; }
    npy_intp each() const { return members() * positions; }
};

// Outputs are (out, mean, inverse deviation); values (input, weight, bias, N, C, HxW, group, eps).
int group_norm(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Groups sizes;
    if (count != 8 || !is_triple(outs) || !sizes.take(values + 3) || !PyFloat_CheckExact(values[7])) return 0;
    const npy_intp rows = sizes.count * sizes.groups;
    const float *in = floats(values[0], sizes.size(), nullptr), *weight, *bias;
    float* out = output_floats(PyTuple_GET_ITEM(outs, 0), sizes.size());
    float *means = output_floats(PyTuple_GET_ITEM(outs, 1), rows),
          *scales = output_floats(PyTuple_GET_ITEM(outs, 2), rows);
    if (in == nullptr || out == nullptr || means == nullptr || scales == nullptr ||
        !optional(values[1], sizes.channels, weight) || !optional(values[2], sizes.channels, bias))
        return 0;
    const double eps = PyFloat_AS_DOUBLE(values[7]);
    const auto& loops = reduce_loops();
    const auto each = static_cast<size_t>(sizes.each()), positions = static_cast<size_t>(sizes.positions);
    parallel(static_cast<size_t>(rows), grain_of(sizes.each()), [&](size_t from, size_t to) {
        for (size_t row = from; row < to; row++) {
            const float* start = in + row * each;
            Accumulator mean{0}, square{0};
            loops.reducer[SUM][FLOAT_KIND].row(start, each, &mean);
            mean.real /= static_cast<double>(each);
            loops.row_spread[FLOAT_KIND](start, each, &mean, &square);
            means[row] = static_cast<float>(mean.real);
            scales[row] = static_cast<float>(1.0 / sqrt(square.real / static_cast<double>(each) + eps));
            const auto group = static_cast<npy_intp>(row) % sizes.groups;
            for (npy_intp member = 0; member < sizes.members(); member++) {
                const npy_intp channel = group * sizes.members() + member;
                const size_t at = row * each + static_cast<size_t>(member) * positions;
                channel_norm_loops().affine(out + at, in + at, positions, means[row],
                                            weight == nullptr ? scales[row] : scales[row] * weight[channel],
                                            bias == nullptr ? 0 : bias[channel]);
            }
        }
    });
    return 1;
}

// Outputs are the gradients of (input, weight, bias); values (grad, input, mean, inverse deviation, weight, N, C, HxW,
// group, mask).
int group_norm_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    Groups sizes;
    if (count != 10 || !is_triple(outs) || !sizes.take(values + 5)) return 0;
    const npy_intp rows = sizes.count * sizes.groups, channels = sizes.channels;
    const float *grad = floats(values[0], sizes.size(), nullptr), *in = floats(values[1], sizes.size(), nullptr),
                *weight;
    const float *mean = floats(values[2], rows, nullptr), *scale = floats(values[3], rows, nullptr);
    float *out, *to_weight, *to_bias;
    if (grad == nullptr || in == nullptr || mean == nullptr || scale == nullptr ||
        !optional(values[4], channels, weight) || !optional_output(PyTuple_GET_ITEM(outs, 0), sizes.size(), out) ||
        !optional_output(PyTuple_GET_ITEM(outs, 1), channels, to_weight) ||
        !optional_output(PyTuple_GET_ITEM(outs, 2), channels, to_bias))
        return 0;
    const Room<double> totals(sizes.count * channels), alongs(sizes.count * channels);
    if (totals.data == nullptr || alongs.data == nullptr) return PyErr_NoMemory(), -1;
    const auto& loops = channel_norm_loops();
    const npy_intp members = sizes.members(), each = sizes.each();
    const auto positions = static_cast<size_t>(sizes.positions);
    parallel(static_cast<size_t>(rows), grain_of(each), [&](size_t from, size_t to) {
        for (auto row = static_cast<npy_intp>(from); row < static_cast<npy_intp>(to); row++) {
            double total = 0, along = 0;
            for (npy_intp member = 0; member < members; member++) {
                const npy_intp at = row * members + member;
                const float factor = weight == nullptr ? 1 : weight[at % channels];
                loops.sums(grad + at * sizes.positions, in + at * sizes.positions, positions, mean[row],
                           totals.data + at, alongs.data + at);
                alongs.data[at] *= scale[row];
                total += totals.data[at] * factor;
                along += alongs.data[at] * factor;
            }
            for (npy_intp member = 0; out != nullptr && member < members; member++) {
                const npy_intp at = row * members + member, start = at * sizes.positions;
                loops.gradient(out + start, grad + start, in + start, positions, mean[row],
                               weight == nullptr ? 1 : weight[at % channels],
                               static_cast<float>(total / static_cast<double>(each)),
                               static_cast<float>(along / static_cast<double>(each) * scale[row]), scale[row]);
            }
        }
    });
    for (npy_intp channel = 0; channel < channels; channel++) {
        double total = 0, along = 0;
        for (npy_intp item = 0; item < sizes.count; item++) {
            total += totals.data[item * channels + channel];
            along += alongs.data[item * channels + channel];
        }
        if (to_weight != nullptr) to_weight[channel] = static_cast<float>(along);
        if (to_bias != nullptr) to_bias[channel] = static_cast<float>(total);
    }
    return 1;
}

}  // namespace

const NamedKernel batch_norm_kernels[] = {
    {"native_batch_norm", batch_norm},
    {"native_batch_norm_backward", batch_norm_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"native_group_norm", group_norm, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"native_group_norm_backward", group_norm_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
