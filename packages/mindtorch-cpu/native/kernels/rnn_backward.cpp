// The backward of recurrent layers: back through the steps, then one product each for inputs and weights.
#include "kernels/rnn_layer.h"

namespace mindtorch {

namespace {

template <typename Real>
struct Gradients {
    Real *input, *weights[4], *hx, *cx;
};

template <typename Real>
struct Saved {
    const Real *input, *hx, *cx, *out, *grad_out;
    Real* workspace;
};

// The state before every row's step.
template <typename Real>
void fill_before(const Layer& layer, const Saved<Real>& saved, Real* before) {
    const size_t h = layer.hidden;
    for (size_t at = 0; at < layer.steps(); at++) {
        const size_t rows = layer.sizes[at], kept = at == 0 ? 0 : least(rows, layer.sizes[at - 1]);
        Real* to = before + layer.starts[at] * h;
        if (kept > 0) memcpy(to, saved.out + layer.starts[at - 1] * h, kept * h * sizeof(Real));
        memcpy(to + kept * h, saved.hx + kept * h, (rows - kept) * h * sizeof(Real));
    }
}

// What the backward of one step works with; none before the first.
template <typename Real>
struct Back {
    const Layer& layer;
    const Saved<Real>& saved;
    const Real* before;
    Real* grads;
    const Gradients<Real>& to;

    // The sequences first .. last of a step.
    RnnBackwardStep<Real> step(size_t number, size_t first, size_t last) const {
        const size_t h = layer.hidden, row = layer.grads() * h, start = layer.starts[number] + first;
        const size_t width = layer.saved() > 0 ? layer.saved() * h : h;
        const Real* gates = layer.saved() > 0 ? saved.workspace : saved.out;
        RnnBackwardStep<Real> made = {};
        if (first >= layer.sizes[number]) return made;
        made.rows = least(last, layer.sizes[number]) - first;
        made.hidden = h;
        made.gates = gates + start * width;
        made.gates_row = width;
        made.out = saved.out + start * h;
        made.grad_out = saved.grad_out == nullptr ? nullptr : saved.grad_out + start * h;
        made.hidden_before = before + start * h;
        made.grads = grads + start * row;
        made.grads_row = row;
        made.grad_hidden = to.hx + first * h;
        if (!layer.lstm()) return made;
        made.grad_cell = to.cx + first * h;
        made.cx = saved.cx + first * h;
        const size_t kept = number == 0 ? 0 : layer.sizes[number - 1];
        if (kept <= first) return made;
        made.kept = least(made.rows, kept - first);
        made.cells_before = gates + (layer.starts[number - 1] + first) * width + 4 * h;
        return made;
    }
};

// Go back through the steps with some sequences: their gradients of all sums, and of the first states.
template <typename Real>
void backward_steps(const Back<Real>& back, const Recurrence<Real>& recurrence, size_t first, size_t last) {
    const Layer& layer = back.layer;
    const size_t h = layer.hidden, row = layer.grads() * h;
    Real* hidden = back.to.hx + first * h;
    RnnBackwardStep<Real> after = {};
    for (size_t at = layer.steps() + 1; at-- > 0;) {
        const RnnBackwardStep<Real> step = at > 0 ? back.step(at - 1, first, last) : RnnBackwardStep<Real>{};
        if (after.rows > 0 && !recurrence.packs)
            multiply<Real>(hidden, h, after.rows, h, recurrence.depth, rows_of<Real>(after.grads, row),
                           rows_of(recurrence.weights, h), rows_of<Real>(hidden, h));
        else if (after.rows > 0)
            loops<Real>().pack_rows(recurrence.place_of_rows(first), after.grads, static_cast<ptrdiff_t>(row),
                                    after.rows, recurrence.depth);
        recurrence.each_panel(after.rows > 0 ? after.rows : step.rows, [&](size_t panel, size_t from, size_t end) {
            if (after.rows > 0 && recurrence.packs) recurrence.add(hidden + from, h, 0, panel, first, after.rows);
            if (step.rows > 0) loops<Real>().backward[layer.mode](step, from, end);
        });
        after = step;
    }
}

// Gradients of inputs, weights and biases from those of the sums.
template <typename Real>
void sums_backward(const Layer& layer, const Saved<Real>& saved, const Real* w_ih, const Real* before,
                   const Real* grads, const Gradients<Real>& to) {
    const size_t h = layer.hidden, e = layer.inputs, n = layer.total, row = layer.grads() * h;
    const size_t first = (layer.mode == RNN_GRU ? 2 : layer.gates()) * h;
    multiply<Real>(to.input, e, n, e, first, rows_of(grads, row), rows_of(w_ih, e), NOTHING<Real>);
    multiply<Real>(to.weights[0], e, first, e, n, columns_of(grads, row), rows_of(saved.input, e), NOTHING<Real>);
    multiply<Real>(to.weights[1], h, layer.gates() * h, h, n, columns_of(grads, row), rows_of(before, h),
                   NOTHING<Real>);
    loops<Real>().sum_rows(to.weights[3], grads, row, n, layer.gates() * h);
    memcpy(to.weights[2], to.weights[3], first * sizeof(Real));
    if (layer.mode != RNN_GRU) return;
    const Real* last = grads + 3 * h;
    multiply<Real>(to.input, e, n, e, h, rows_of(last, row), rows_of(w_ih + first * e, e), rows_of<Real>(to.input, e));
    multiply<Real>(to.weights[0] + first * e, e, h, e, n, columns_of(last, row), rows_of(saved.input, e),
                   NOTHING<Real>);
    loops<Real>().sum_rows(to.weights[2] + first, last, row, n, h);
}

template <typename Real>
void run_backward(const Layer& layer, const Weights<Real>& w, const Saved<Real>& saved, const Gradients<Real>& to) {
    const size_t h = layer.hidden;
    Recurrence<Real> recurrence(layer, w.state, layer.gates() * h, 1);
    const size_t kept = layer.total * (layer.grads() + 1) * h;
    auto* memory = static_cast<Real*>(outer_scratch((recurrence.memory(layer.batch) + kept) * sizeof(Real)));
    if (memory == nullptr) throw std::bad_alloc();
    Real* grads = recurrence.place(memory, layer.batch);
    Real* before = grads + layer.total * layer.grads() * h;
    recurrence.pack(1, static_cast<ptrdiff_t>(h), 0);
    fill_before(layer, saved, before);
    const Back<Real> back = {layer, saved, before, grads, to};
    recurrence.each_part(layer, layer.total,
                         [&](size_t first, size_t last) { backward_steps(back, recurrence, first, last); });
    sums_backward(layer, saved, w.input, before, grads, to);
}

template <typename Real>
bool take_gradients(PyObject* outs, const Layer& layer, Gradients<Real>& to) {
    const size_t h = layer.hidden, sums = layer.gates() * h, state = layer.batch * h;
    const size_t sizes[] = {sums * layer.inputs, sums * h, sums, sums};
    for (int at = 0; at < 4; at++)
        if (!take_output(PyTuple_GET_ITEM(outs, 1 + at), sizes[at], to.weights[at])) return false;
    return take_output(PyTuple_GET_ITEM(outs, 0), layer.total * layer.inputs, to.input) &&
           take_output(PyTuple_GET_ITEM(outs, 5), state, to.hx) &&
           take_output(PyTuple_GET_ITEM(outs, 6), state, to.cx, !layer.lstm());
}

template <typename Real>
void start_from(Real* to, const Dense& grad, size_t count) {
    if (grad.data<Real>() == nullptr)
        memset(to, 0, count * sizeof(Real));
    else
        memcpy(to, grad.data<Real>(), count * sizeof(Real));
}

template <typename Real>
int layer_backward(PyObject* outs, PyObject* const* values, int type) {
    Operands operands;
    Dense out, grad_out, grad_hy, grad_cy;
    Layer layer;
    Gradients<Real> to;
    Saved<Real> saved;
    if (!operands.take(values, type) || !out.take(values[7], type) || !grad_out.take_optional(values[10], type) ||
        !grad_hy.take_optional(values[11], type) || !grad_cy.take_optional(values[12], type) ||
        !layer.describe(operands.input.array(), operands.hx.array(), values[13], values[20], values[14], values[15]) ||
        !operands.fit(layer))
        return 0;
    const size_t results = layer.total * layer.hidden, state = layer.batch * layer.hidden;
    if (!out.holds(results) || !grad_out.holds(results) || !grad_hy.holds(state) ||
        (layer.lstm() && !grad_cy.holds(state)) || !take_gradients(outs, layer, to) ||
        !take_workspace(values[22], layer, saved.workspace) || saved.workspace == nullptr)
        return 0;
    start_from(to.hx, grad_hy, state);
    if (layer.lstm()) start_from(to.cx, grad_cy, state);
    saved.input = operands.input.data<Real>();
    saved.hx = operands.hx.data<Real>();
    saved.cx = operands.cx.data<Real>();
    saved.out = out.data<Real>();
    saved.grad_out = grad_out.data<Real>();
    run_backward(layer, operands.all_weights<Real>(), saved, to);
    return 1;
}

}  // namespace

// Outputs are the gradients of (input, w_ih, w_hh, b_ih, b_hh, hx, cx); values (input, w_ih, w_hh, b_ih, b_hh, hx, cx,
// output, hy, cy, grad_output, grad_hy, grad_cy, reverse, mode, hidden_size, num_layers, has_biases, train,
// bidirectional, batch_sizes, batch_first, workspace).
int rnn_layer_backward(PyObject* outs, PyObject* const* values, Py_ssize_t count) {
    if (count != 23 || !is_tuple_of(outs, 7)) return 0;
    const int type = type_of(values[0]);
    if (type == NPY_FLOAT) return layer_backward<float>(outs, values, type);
    return type == NPY_DOUBLE ? layer_backward<double>(outs, values, type) : 0;
}

}  // namespace mindtorch
