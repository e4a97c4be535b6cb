"""Recurrent layers in one direction, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel

_RELU, _TANH, _LSTM, _GRU = range(4)


def _steps(input: Any, batch_sizes: Any, reverse: bool) -> list[slice]:
    """Return the rows of each step in the order in which they are taken."""
    sizes = batch_sizes if input.ndim == 2 else [input.shape[1]] * input.shape[0]
    ends = np.cumsum(sizes)
    steps = [slice(int(end) - size, int(end)) for end, size in zip(ends, sizes, strict=True)]
    return steps[::-1] if reverse else steps


def _sigmoid(x: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (np.exp(-x) + 1)


def _lstm(sums: Any, hidden: Any, weight: Any, bias: Any, cell: Any) -> tuple[Any, Any, Any]:
    i, f, g, o = np.split(sums + (hidden @ weight.T + bias), 4, axis=1)
    i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
    cell = f * cell + i * g
    return o * np.tanh(cell), cell, np.concatenate((i, f, g, o, cell), axis=1)


def _gru(sums: Any, hidden: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    (r, z, n), (hr, hz, hn) = np.split(sums, 3, axis=1), np.split(hidden @ weight.T + bias, 3, axis=1)
    r, z = _sigmoid(r + hr), _sigmoid(z + hz)
    n = np.tanh(n + hn * r)
    return (hidden - n) * z + n, np.concatenate((r, z, hn, n), axis=1)


@kernel("mkldnn_rnn_layer")
def layer(
    outs: Any,
    input: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    hx: Any,
    cx: Any,
    reverse: bool,
    batch_sizes: Any,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> None:
    """Run the layer; the workspace keeps the gates, of an LSTM its cells, of a GRU the state's part of its third sum."""
    out, hy, cy, workspace = outs
    hy[...] = hx
    hidden = hy.reshape(-1, hidden_size)
    if mode == _LSTM:
        cy[...] = cx
    cells = cy.reshape(-1, hidden_size)
    sums = input.reshape(-1, input.shape[-1]) @ w_ih.T + b_ih
    results = out.reshape(-1, hidden_size)
    saved = None if workspace is None else workspace.view(hy.dtype).reshape(len(sums), -1)
    for rows in _steps(input, batch_sizes, reverse):
        size = rows.stop - rows.start
        before = hidden[:size]
        if mode == _LSTM:
            results[rows], cells[:size], gates = _lstm(sums[rows], before, w_hh, b_hh, cells[:size])
        elif mode == _GRU:
            results[rows], gates = _gru(sums[rows], before, w_hh, b_hh)
        else:
            total, gates = sums[rows] + (before @ w_hh.T + b_hh), None
            results[rows] = np.tanh(total) if mode == _TANH else np.where(total <= 0, 0, total)
        hidden[:size] = results[rows]
        if saved is not None and gates is not None:
            saved[rows] = gates


def _before(steps: list[slice], out: Any, first: Any, number: int) -> Any:
    """Return what the rows of a step began with: the step before's, and the first state where there is none."""
    size = steps[number].stop - steps[number].start
    if number == 0:
        return first[:size]
    earlier = out[steps[number - 1]][:size]
    return np.concatenate((earlier, first[len(earlier) : size]))


def _lstm_backward(grad: Any, saved: Any, cell_before: Any, grad_cell: Any) -> tuple[Any, Any]:
    i, f, g, o, cell = np.split(saved, 5, axis=1)
    cell = np.tanh(cell)
    grad_cell = grad_cell + grad * o * (1 - cell * cell)
    parts = (
        grad_cell * g * i * (1 - i),
        grad_cell * cell_before * f * (1 - f),
        grad_cell * i * (1 - g * g),
        grad * cell * o * (1 - o),
    )
    return np.concatenate(parts, axis=1), grad_cell * f


def _gru_backward(grad: Any, saved: Any, before: Any) -> tuple[Any, Any]:
    """Return the gradients of the input's sums and of the state's."""
    r, z, hn, n = np.split(saved, 4, axis=1)
    grad_n = grad * (1 - z) * (1 - n * n)
    shared = (grad_n * hn * r * (1 - r), grad * (before - n) * z * (1 - z))
    return np.concatenate((*shared, grad_n), axis=1), np.concatenate((*shared, grad_n * r), axis=1)


class _Saved:
    """What the forward left behind, as rows."""

    def __init__(self, steps: list[slice], hx: Any, cx: Any, out: Any, workspace: Any) -> None:
        self.steps = steps
        width = hx.shape[-1]
        self.hx, self.cx, self.out = hx.reshape(-1, width), cx.reshape(-1, width), out.reshape(-1, width)
        self.gates = workspace.view(out.dtype).reshape(len(self.out), -1) if workspace.size else None

    def hidden_before(self, number: int) -> Any:
        return _before(self.steps, self.out, self.hx, number)

    def cell_before(self, number: int) -> Any:
        return _before(self.steps, self.gates[:, -self.cx.shape[1] :], self.cx, number)


def _step_backward(mode: int, saved: _Saved, number: int, grad: Any, grad_cell: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of the input's sums, of the state's, and of the cell before."""
    rows = saved.steps[number]
    if mode == _LSTM:
        both, cell = _lstm_backward(grad, saved.gates[rows], saved.cell_before(number), grad_cell)
        return both, both, cell
    if mode == _GRU:
        return (*_gru_backward(grad, saved.gates[rows], saved.hidden_before(number)), None)
    out = saved.out[rows]
    both = grad * (1 - out * out) if mode == _TANH else np.where(out <= 0, 0, grad)
    return both, both, None


@kernel("mkldnn_rnn_layer_backward")
def layer_backward(
    outs: Any,
    input: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    hx: Any,
    cx: Any,
    output: Any,
    hy: Any,
    cy: Any,
    grad_output: Any,
    grad_hy: Any,
    grad_cy: Any,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Any,
    batch_first: bool,
    workspace: Any,
) -> None:
    """Go back through the steps, then make the gradients of inputs and weights of all of them at once."""
    to_input, to_w_ih, to_w_hh, to_b_ih, to_b_hh, to_hx, to_cx = outs
    steps = _steps(input, batch_sizes, reverse)
    saved = _Saved(steps, hx, cx, output, workspace)
    to_hx[...] = 0 if grad_hy is None else grad_hy
    hidden = to_hx.reshape(-1, hidden_size)
    cells = np.zeros_like(hidden)
    if to_cx is not None:
        to_cx[...] = 0 if grad_cy is None else grad_cy
        cells = to_cx.reshape(-1, hidden_size)
    given = None if grad_output is None else grad_output.reshape(-1, hidden_size)
    of_input, of_state = (np.empty((len(saved.out), len(b_ih)), input.dtype) for _ in range(2))
    before = np.empty_like(saved.out)
    for number in range(len(steps) - 1, -1, -1):
        rows = steps[number]
        size = rows.stop - rows.start
        grad = hidden[:size] if given is None else hidden[:size] + given[rows]
        of_input[rows], of_state[rows], cell = _step_backward(mode, saved, number, grad, cells[:size])
        before[rows] = saved.hidden_before(number)
        kept = grad * saved.gates[rows][:, hidden_size : 2 * hidden_size] if mode == _GRU else 0
        hidden[:size] = of_state[rows] @ w_hh + kept
        if cell is not None:
            cells[:size] = cell
    to_input[...] = (of_input @ w_ih).reshape(input.shape)
    to_w_ih[...], to_w_hh[...] = of_input.T @ input.reshape(-1, input.shape[-1]), of_state.T @ before
    to_b_ih[...], to_b_hh[...] = of_input.sum(0), of_state.sum(0)
