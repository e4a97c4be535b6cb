// Layers of recurrent nets in one direction, over padded or packed sequences of float32 or float64: one product for all
// inputs, then step by step the product of the state with weights that are packed once, and the gates.
#include "kernels/rnn_layer.h"

namespace mindtorch {

namespace {

constexpr size_t CHUNK = 256;  // rows of inputs at least whose gates are made together

// Sums of biases, such that they are added with the inputs' product: r, z and n of a GRU, whose n has its own.
template <typename Real>
void add_biases(const Layer& layer, const Weights<Real>& w, Real* to) {
    const size_t shared = (layer.mode == RNN_GRU ? 2 : layer.gates()) * layer.hidden;
    for (size_t at = 0; at < layer.gates() * layer.hidden; at++)
        to[at] = at < shared ? w.input_bias[at] + w.state_bias[at] : w.input_bias[at];
}

// What of some rows' sums comes of their inputs.
template <typename Real>
void input_sums(const Layer& layer, const Weights<Real>& w, const Real* input, const Real* biases, Real* gates,
                size_t gates_row, size_t rows) {
    const size_t h = layer.hidden, e = layer.inputs, first = layer.mode == RNN_GRU ? 2 : layer.gates();
    const Matrix<Real> left = rows_of(input, e);
    multiply<Real>(gates, gates_row, rows, first * h, e, left, columns_of(w.input, e), {biases, 0, 1});
    if (layer.mode != RNN_GRU) return;
    multiply<Real>(gates + 3 * h, gates_row, rows, h, e, left, columns_of(w.input + 2 * h * e, e),
                   {biases + 2 * h, 0, 1});
    for (size_t row = 0; row < rows; row++)
        memcpy(gates + row * gates_row + 2 * h, w.state_bias + 2 * h, h * sizeof(Real));
}

template <typename Real>
struct States {
    Real *out, *hy, *cy, *workspace;
};

// The sequences first .. last of a step.
template <typename Real>
void forward_step(const Layer& layer, const Weights<Real>& w, const Recurrence<Real>& recurrence, RnnStep<Real> step,
                  size_t first, size_t last) {
    const size_t h = layer.hidden;
    if (first >= step.rows) return;
    step.rows = least(step.rows, last) - first;
    step.gates += first * step.gates_row;
    step.out += first * h;
    step.hy += first * h;
    if (layer.lstm()) step.cy += first * h;
    if (!recurrence.packs)
        multiply<Real>(step.gates, step.gates_row, step.rows, layer.gates() * h, h, rows_of<Real>(step.hy, h),
                       columns_of(w.state, h), rows_of<Real>(step.gates, step.gates_row));
    else
        loops<Real>().pack_rows(recurrence.place_of_rows(first), step.hy, static_cast<ptrdiff_t>(h), step.rows, h);
    recurrence.each_panel(step.rows, [&](size_t panel, size_t from, size_t to) {
        if (recurrence.packs)
            for (size_t group = 0; group < layer.gates(); group++)
                recurrence.add(step.gates + group * h + from, step.gates_row, group, panel, first, step.rows);
        loops<Real>().forward[layer.mode](step, from, to);
    });
}

template <typename Real>
void run_forward(const Layer& layer, const Weights<Real>& w, const Real* input, const States<Real>& to) {
    const size_t h = layer.hidden, width = layer.saved() > 0 ? layer.saved() * h : h;
    Recurrence<Real> recurrence(layer, w.state, h, layer.gates());
    const bool apart = layer.saved() > 0 && to.workspace == nullptr;  // nothing is kept: a chunk's gates at a time
    size_t most = 0;
    for (const size_t size : layer.sizes) most = size > most ? size : most;
    const size_t kept = apart ? least(layer.total, CHUNK + most) * width : 0;
    const size_t needed = recurrence.memory(layer.batch) + kept + layer.gates() * h;
    auto* memory = static_cast<Real*>(outer_scratch(needed * sizeof(Real)));
    if (memory == nullptr) throw std::bad_alloc();
    Real* gates = recurrence.place(memory, layer.batch);
    Real* biases = gates + kept;
    recurrence.pack(static_cast<ptrdiff_t>(h), 1, h * h);
    add_biases(layer, w, biases);
    for (size_t at = 0; at < layer.steps();) {
        size_t end = at, rows = 0;
        while (end < layer.steps() && rows < CHUNK) rows += layer.sizes[end++];
        const size_t first = least(layer.starts[at], layer.starts[end - 1]);
        Real* base = apart ? gates : (layer.saved() > 0 ? to.workspace : to.out) + first * width;
        input_sums(layer, w, input + first * layer.inputs, biases, base, width, rows);
        recurrence.each_part(layer, rows, [&](size_t from, size_t last) {
            for (size_t number = at; number < end; number++) {
                const size_t start = layer.starts[number];
                forward_step(
                    layer, w, recurrence,
                    {layer.sizes[number], h, base + (start - first) * width, width, to.out + start * h, to.hy, to.cy},
                    from, last);
            }
        });
        at = end;
    }
}

template <typename Real>
int layer_forward(PyObject* outs, PyObject* const* values, int type) {
    Operands operands;
    Layer layer;
    States<Real> to;
    if (!operands.take(values, type) ||
        !layer.describe(operands.input.array(), operands.hx.array(), values[7], values[8], values[9], values[10]) ||
        !operands.fit(layer))
        return 0;
    const size_t state = layer.batch * layer.hidden;
    if (!take_output(PyTuple_GET_ITEM(outs, 0), layer.total * layer.hidden, to.out) ||
        !take_output(PyTuple_GET_ITEM(outs, 1), state, to.hy) ||
        !take_output(PyTuple_GET_ITEM(outs, 2), layer.lstm() ? state : 0, to.cy) ||
        !take_workspace(PyTuple_GET_ITEM(outs, 3), layer, to.workspace))
        return 0;
    memcpy(to.hy, operands.hx.data<Real>(), state * sizeof(Real));
    if (layer.lstm()) memcpy(to.cy, operands.cx.data<Real>(), state * sizeof(Real));
    run_forward(layer, operands.all_weights<Real>(), operands.input.data<Real>(), to);
    return 1;
}

// Outputs are (output, hy, cy, workspace); values (input, w_ih, w_hh, b_ih, b_hh, hx, cx, reverse, batch_sizes, mode,
// hidden_size, num_layers, has_biases, bidirectional, batch_first, train).
int rnn_layer(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 16 || !is_tuple_of(outs, 4)) return 0;
    const int type = type_of(values[0]);
    if (type == NPY_FLOAT) return layer_forward<float>(outs, values, type);
    return type == NPY_DOUBLE ? layer_forward<double>(outs, values, type) : 0;
}

}  // namespace

const NamedKernel rnn_kernels[] = {
    {"mkldnn_rnn_layer", rnn_layer},
    {"mkldnn_rnn_layer_backward", rnn_layer_backward, FULL_PRECISION, nullptr, DENSE_LAYOUT},
    {nullptr, nullptr},
};

}  // namespace mindtorch
