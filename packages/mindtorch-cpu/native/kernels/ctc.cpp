// Connectionist temporal classification: sums over all alignments of a target
// with a sequence, in logarithms. What is unusual, labels that are no classes
// among it, is numpy's.
#include "kernels/integer.h"
#include "kernels/operand.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>

#include <cmath>
#include <initializer_list>

#include <memory>
#include <new>

namespace mindtorch {

namespace {

constexpr size_t WORTH = 512;  // states in time that are worth a thread

// Lengths of a batch: whole numbers of a list or tuple, from 0 to `most`.
struct Lengths {
    std::unique_ptr<size_t[]> items;

    bool read(PyObject* given, size_t count, size_t most) {
        const bool is_list = PyList_CheckExact(given);
        if (!is_list && !PyTuple_CheckExact(given)) return false;
        if (static_cast<size_t>(is_list ? PyList_GET_SIZE(given) : PyTuple_GET_SIZE(given)) != count) return false;
        items.reset(new (std::nothrow) size_t[count + 1]);
        for (size_t at = 0; items != nullptr && at < count; at++) {
            const auto place = static_cast<Py_ssize_t>(at);
            const long length = integer_of(is_list ? PyList_GET_ITEM(given, place) : PyTuple_GET_ITEM(given, place));
            if (length < 0 || static_cast<size_t>(length) > most) return false;
            items[at] = static_cast<size_t>(length);
        }
        return items != nullptr;
    }
};

// A batch of sequences of `steps`, with scores (steps, batch, classes), and its
// targets.
struct Batch {
    size_t steps = 0, count = 0, classes = 0, states = 0, blank = 0;
    const char* scores = nullptr;
    std::unique_ptr<const int64_t*[]> targets;
    Lengths inputs, lengths;
    int type = NPY_FLOAT;

    bool read(PyObject* log_probs, PyObject* given, PyObject* input_lengths, PyObject* target_lengths, PyObject* number,
              npy_intp most_states);
    bool read_targets(PyArrayObject* array);
};

PyArrayObject* dense(PyObject* given, int ndim) {
    if (!PyArray_CheckExact(given)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(given);
    return PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == ndim ? array : nullptr;
}

// Targets one after another, or a row for each sequence.
bool Batch::read_targets(PyArrayObject* array) {
    if (!PyArray_ISCARRAY_RO(array) || PyArray_TYPE(array) != NPY_INT64) return false;
    const int ndim = PyArray_NDIM(array);
    if (ndim < 1 || ndim > 2 || (ndim == 2 && static_cast<size_t>(PyArray_DIM(array, 0)) != count)) return false;
    const auto* labels = static_cast<const int64_t*>(PyArray_DATA(array));
    const auto width = static_cast<size_t>(PyArray_DIM(array, ndim - 1));
    targets.reset(new (std::nothrow) const int64_t*[count + 1]);
    if (targets == nullptr) return false;
    size_t from = 0;
    for (size_t at = 0; at < count; at++) {
        const size_t begin = ndim == 1 ? from : 0;
        if (begin > width || lengths.items[at] > width - begin) return false;
        targets[at] = labels + (ndim == 1 ? from : at * width);
        from += lengths.items[at];
        for (size_t i = 0; i < lengths.items[at]; i++)
            if (targets[at][i] < 0 || targets[at][i] >= static_cast<int64_t>(classes)) return false;
    }
    return true;
}

bool Batch::read(PyObject* log_probs, PyObject* given, PyObject* input_lengths, PyObject* target_lengths,
                 PyObject* number, npy_intp most_states) {
    PyArrayObject* array = dense(log_probs, 3);
    if (array == nullptr || kind_of(array) < 0 || !PyArray_CheckExact(given)) return false;
    type = PyArray_TYPE(array);
    scores = PyArray_BYTES(array);
    steps = static_cast<size_t>(PyArray_DIM(array, 0));
    count = static_cast<size_t>(PyArray_DIM(array, 1));
    classes = static_cast<size_t>(PyArray_DIM(array, 2));
    states = static_cast<size_t>(most_states);
    const long label = integer_of(number);
    if (label < 0 || static_cast<size_t>(label) >= classes || most_states < 1) return false;
    blank = static_cast<size_t>(label);
    return inputs.read(input_lengths, count, steps) && lengths.read(target_lengths, count, (states - 1) / 2) &&
           read_targets(reinterpret_cast<PyArrayObject*>(given));
}

// The logarithm of the sum of three numbers given by theirs.
template <typename Real>
Real sum_of(Real a, Real b, Real c) {
    const Real first = a > b ? a : b, largest = first > c ? first : c;
    if (!(largest > -INFINITY)) return a + b + c;
    return std::log(std::exp(a - largest) + std::exp(b - largest) + std::exp(c - largest)) + largest;
}

template <typename Real>
Real sum_of(Real a, Real b) {
    if (a == b) return a + static_cast<Real>(M_LN2);
    if (a > b) return a + std::log1p(std::exp(b - a));
    if (a <= b) return b + std::log1p(std::exp(a - b));
    return a + b;
}

// One sequence: its states are its target's labels with blanks around.
template <typename Real>
struct Sequence {
    const Real* scores;  // of its first step
    ptrdiff_t step;
    size_t steps, states, blank;
    const int64_t* target;

    Sequence(const Batch& batch, size_t at)
        : scores(reinterpret_cast<const Real*>(batch.scores) + at * batch.classes),
          step(static_cast<ptrdiff_t>(batch.count * batch.classes)),
          steps(batch.inputs.items[at]),
          states(2 * batch.lengths.items[at] + 1),
          blank(batch.blank),
          target(batch.targets[at]) {}

    size_t label(size_t state) const { return state % 2 == 0 ? blank : static_cast<size_t>(target[state / 2]); }
    // A state may be entered from two states before where that skips a blank
    // between different labels.
    bool skips(size_t state) const { return state >= 2 && label(state) != blank && label(state) != label(state - 2); }
    const Real* scores_at(size_t time) const { return scores + static_cast<ptrdiff_t>(time) * step; }

    void forward(Real* alpha, size_t width) const {
        constexpr Real none = -static_cast<Real>(INFINITY);
        for (size_t i = 0; i < steps * width; i++) alpha[i] = none;
        for (size_t state = 0; state < states && state < 2 && steps > 0; state++) alpha[state] = scores[label(state)];
        for (size_t time = 1; time < steps; time++) {
            const Real *before = alpha + (time - 1) * width, *score = scores_at(time);
            for (size_t state = 0; state < states; state++)
                alpha[time * width + state] = sum_of(before[state], state >= 1 ? before[state - 1] : none,
                                                     skips(state) ? before[state - 2] : none) +
                                              score[label(state)];
        }
    }

    // The backward variables of a time from those of the next one, which they
    // replace; they include their own step.
    void step_back(Real* beta, size_t time) const {
        constexpr Real none = -static_cast<Real>(INFINITY);
        const Real* score = scores_at(time);
        for (size_t state = 0; state < states; state++)
            beta[state] = sum_of(beta[state], state + 1 < states ? beta[state + 1] : none,
                                 state + 2 < states && skips(state + 2) ? beta[state + 2] : none) +
                          score[label(state)];
    }

    Real likelihood(const Real* alpha, size_t width) const {
        if (steps == 0) return states == 1 ? 0 : -static_cast<Real>(INFINITY);
        const Real* last = alpha + (steps - 1) * width + states;
        return states == 1 ? last[-1] : sum_of(last[-2], last[-1]);
    }

    // Gradients of its scores; `memory` has room for its states and all classes.
    void backward(Real* to, const Real* alpha, size_t width, size_t classes, Real loss, Real grad, Real* memory) const {
        constexpr Real none = -static_cast<Real>(INFINITY);
        Real *beta = memory, *through = memory + states;
        for (size_t time = steps; time-- > 0;) {
            const Real* score = scores_at(time);
            if (time + 1 < steps) {
                step_back(beta, time);
            } else {
                for (size_t state = 0; state < states; state++)
                    beta[state] = state + 2 < states ? none : score[label(state)];
            }
            for (size_t i = 0; i < classes; i++) through[i] = none;
            for (size_t state = states; state-- > 0;) {
                Real& all = through[label(state)];
                const Real joined = alpha[time * width + state] + beta[state];
                all = all == none ? joined : joined == none ? all : sum_of(all, joined);
            }
            Real* out = to + static_cast<ptrdiff_t>(time) * step;
            for (size_t i = 0; i < classes; i++) {
                const Real share = through[i] + loss - score[i];
                out[i] = (std::exp(score[i]) - (share == none ? 0 : std::exp(share))) * grad;
            }
        }
    }
};

template <typename Real>
void run_forward(const Batch& batch, Real* losses, Real* alphas) {
    parallel(batch.count, WORTH / (batch.steps * batch.states + 1) + 1, [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++) {
            const Sequence<Real> one(batch, at);
            Real* alpha = alphas + at * batch.steps * batch.states;
            for (size_t i = one.steps * batch.states; i < batch.steps * batch.states; i++)
                alpha[i] = -static_cast<Real>(INFINITY);
            one.forward(alpha, batch.states);
            losses[at] = -one.likelihood(alpha, batch.states);
        }
    });
}

// Outputs are (loss, log_alpha); values (log_probs, targets, input_lengths,
// target_lengths, blank, zero_infinity).
int ctc_loss(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 6 || !PyTuple_CheckExact(outs) || PyTuple_GET_SIZE(outs) != 2) return 0;
    PyArrayObject *loss = output(PyTuple_GET_ITEM(outs, 0)), *alpha = output(PyTuple_GET_ITEM(outs, 1));
    Batch batch;
    if (loss == nullptr || alpha == nullptr || PyArray_NDIM(alpha) != 3 ||
        !batch.read(values[0], values[1], values[2], values[3], values[4], PyArray_DIM(alpha, 2)) ||
        PyArray_TYPE(loss) != batch.type || PyArray_TYPE(alpha) != batch.type ||
        static_cast<size_t>(PyArray_SIZE(loss)) != batch.count ||
        static_cast<size_t>(PyArray_SIZE(alpha)) != batch.count * batch.steps * batch.states)
        return 0;
    if (batch.type == NPY_FLOAT)
        run_forward(batch, static_cast<float*>(PyArray_DATA(loss)), static_cast<float*>(PyArray_DATA(alpha)));
    else
        run_forward(batch, static_cast<double*>(PyArray_DATA(loss)), static_cast<double*>(PyArray_DATA(alpha)));
    return 1;
}

template <typename Real>
bool run_backward(const Batch& batch, PyArrayObject* given, const void* grads, const void* losses, const void* alphas,
                  bool zero_infinity) {
    const size_t each = batch.states + batch.classes, whole = batch.steps * batch.states;
    std::unique_ptr<Real[]> memory(new (std::nothrow) Real[batch.count * each + 1]);
    if (memory == nullptr) return false;
    auto* out = static_cast<Real*>(PyArray_DATA(given));
    for (size_t i = 0; i < batch.steps * batch.count * batch.classes; i++) out[i] = 0;
    parallel(batch.count, WORTH / (whole + 1) + 1, [&](size_t from, size_t to) {
        for (size_t at = from; at < to; at++) {
            const Real loss = static_cast<const Real*>(losses)[at];
            if (zero_infinity && loss == static_cast<Real>(INFINITY)) continue;
            const Sequence<Real> one(batch, at);
            one.backward(out + at * batch.classes, static_cast<const Real*>(alphas) + at * whole, batch.states,
                         batch.classes, loss, static_cast<const Real*>(grads)[at], memory.get() + at * each);
        }
    });
    return true;
}

// Values are (grad, log_probs, targets, input_lengths, target_lengths,
// neg_log_likelihood, log_alpha, blank, zero_infinity).
int ctc_loss_backward(PyObject* given, PyObject* const* values, Py_ssize_t count) {
    if (count != 9 || !PyBool_Check(values[8])) return 0;
    PyArrayObject *out = output(given), *grad = dense(values[0], 1), *loss = dense(values[5], 1),
                  *alpha = dense(values[6], 3);
    Batch batch;
    if (out == nullptr || grad == nullptr || loss == nullptr || alpha == nullptr ||
        !batch.read(values[1], values[2], values[3], values[4], values[7], PyArray_DIM(alpha, 2)))
        return 0;
    for (PyArrayObject* array : {out, grad, loss, alpha})
        if (PyArray_TYPE(array) != batch.type) return 0;
    if (!PyArray_SAMESHAPE(out, reinterpret_cast<PyArrayObject*>(values[1])) ||
        static_cast<size_t>(PyArray_SIZE(grad)) != batch.count ||
        static_cast<size_t>(PyArray_SIZE(loss)) != batch.count ||
        static_cast<size_t>(PyArray_SIZE(alpha)) != batch.count * batch.steps * batch.states)
        return 0;
    const auto run = batch.type == NPY_FLOAT ? run_backward<float> : run_backward<double>;
    return run(batch, out, PyArray_DATA(grad), PyArray_DATA(loss), PyArray_DATA(alpha), values[8] == Py_True) ? 1 : 0;
}

}  // namespace

const NamedKernel ctc_kernels[] = {
    {"_ctc_loss", ctc_loss, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {"_ctc_loss_backward", ctc_loss_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
