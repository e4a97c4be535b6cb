"""Layers that go along a sequence step by step, under torch_npu's names: they return every gate of every step."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = ["npu_gru", "npu_lstm", "npu_lstm_cell"]

Gates = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def _steps(gates: list[Tensor], c: Tensor, order: str, hidden: Tensor | None, h: Tensor) -> Gates:
    """Return outputs, states, cells, the gates i, j, f and o, and tanh of the cells, of every step.

    `gates` are the shares of the inputs; `hidden` is what a state is multiplied with, and `order` names their parts.
    """
    made: list[tuple[Tensor, ...]] = []
    for given in gates:
        total = given if hidden is None else given + h @ hidden
        part = dict(zip(order, total.chunk(4, -1), strict=True))
        i, f, o, j = part["i"].sigmoid(), part["f"].sigmoid(), part["o"].sigmoid(), part["j"].tanh()
        c = f * c + i * j
        high = c.tanh()
        h = o * high
        made.append((h, h, c, i, j, f, o, high))
    y, hs, cs, i, j, f, o, high = (torch.stack(one) for one in zip(*made, strict=True))
    return y, hs, cs, i, j, f, o, high


@operator(
    "npu_lstm(Tensor input, Tensor weight, Tensor bias, Tensor seq_mask, Tensor h, Tensor c, bool has_biases, "
    "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first, bool flag_seq, bool direction) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_lstm(
    input: Tensor, weight: Tensor, bias: Tensor, seq_mask: Tensor, h: Tensor, c: Tensor, has_biases: bool,
    num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, flag_seq: bool,
    direction: bool,
) -> Gates:  # fmt: skip
    """Return a layer over steps, batch and features: outputs, states, cells, the gates i, j, f, o, and tanh of the cells.

    The matrix is of the input's features and the state's together, by the gates i, f, j, o. With `direction` the last step
    comes first. NotImplementedError for a mask of packed sequences.
    """
    if flag_seq:
        raise NotImplementedError("torch_npu.npu_lstm: a mask of packed sequences is not supported")
    wide = input.shape[-1]
    shares = input @ weight[:wide]
    shares = shares + bias if has_biases else shares
    steps = list(shares.flip(0) if direction else shares)
    made = _steps(steps, c.reshape(c.shape[-2:]), "ifjo", weight[wide:], h.reshape(h.shape[-2:]))
    if not direction:
        return made
    y, hs, cs, i, j, f, o, high = (one.flip(0) for one in made)
    return y, hs, cs, i, j, f, o, high


@operator(
    "npu_lstm_cell(Tensor input, Tensor w_ih, Tensor w_hh, Tensor h, Tensor c, Tensor? b_ih=None, Tensor? b_hh=None) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_lstm_cell(
    input: Tensor, w_ih: Tensor, w_hh: Tensor, h: Tensor, c: Tensor, b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Gates:  # fmt: skip
    """Return one step: outputs, the state, the cell, the gates i, j, f, o, and tanh of the cell; matrices lie transposed."""
    share = input @ w_ih
    for bias in (b_ih, b_hh):
        share = share if bias is None else share + bias
    y, hs, cs, i, j, f, o, high = _steps([share], c, "ifjo", w_hh, h)
    return y, hs[0], cs[0], i, j, f, o, high


@operator(
    "npu_gru(Tensor input, Tensor hx, Tensor weight_input, Tensor weight_hidden, Tensor bias_input, Tensor bias_hidden, "
    "Tensor seq_length, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, "
    "bool batch_first) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_gru(
    input: Tensor, hx: Tensor, weight_input: Tensor, weight_hidden: Tensor, bias_input: Tensor, bias_hidden: Tensor,
    seq_length: Tensor, has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return a layer over steps, batch and features: outputs, states, the gates z, r and n, and the state's share of n.

    Matrices lie transposed, by the gates r, z, n.
    """
    shares = input @ weight_input
    shares = shares + bias_input if has_biases else shares
    h = hx.reshape(hx.shape[-2:])
    made: list[tuple[Tensor, ...]] = []
    for given in shares:
        own = h @ weight_hidden
        own = own + bias_hidden if has_biases else own
        (r, z, n), (s, t, inner) = given.chunk(3, -1), own.chunk(3, -1)
        reset, update = (r + s).sigmoid(), (z + t).sigmoid()
        new = (n + reset * inner).tanh()
        h = update * h + (1 - update) * new
        made.append((h, h, update, reset, new, inner))
    y, hs, update, reset, new, inner = (torch.stack(one) for one in zip(*made, strict=True))
    return y, hs, update, reset, new, inner
