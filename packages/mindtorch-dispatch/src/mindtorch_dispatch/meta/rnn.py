"""Meta rules of recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mindtorch_storage.dtype import uint8
from mindtorch_storage.spec import Spec

from .checks import check, shape_text
from .rule import meta_rule

RELU, TANH, LSTM, GRU = 0, 1, 2, 3
"""aten's numbers of the modes."""

GATES = (1, 1, 4, 3)
"""How many sums a unit has, by mode."""

SAVED = (0, 0, 5, 4)
"""How many numbers of a unit are kept for the backward: gates, and an LSTM's cell or a GRU's part of the state."""


def _dense(like: Spec, shape: Sequence[int]) -> Spec:
    return Spec.of(like.dtype, like.device, tuple(shape))


def _check_layer(input: Spec, weights: tuple[Spec, ...], hx: Spec, cx: Spec, mode: int, hidden: int) -> None:
    check(0 <= mode < len(GATES), lambda: f"mkldnn_rnn_layer: unknown mode {mode}")
    check(
        input.dtype.is_floating_point and all(other.dtype is input.dtype for other in (*weights, hx, cx)),
        lambda: "mkldnn_rnn_layer: expected input, weights and states of one floating point dtype",
    )
    check(input.ndim in (2, 3), lambda: f"mkldnn_rnn_layer: expected a 2-D or 3-D input, got {input.ndim}-D")
    rows = GATES[mode] * hidden
    wanted = ((rows, input.shape[-1]), (rows, hidden), (rows,), (rows,))
    for weight, shape in zip(weights, wanted, strict=True):
        check(
            tuple(weight.shape) == shape,
            lambda weight=weight, shape=shape: (
                f"mkldnn_rnn_layer: expected a weight of size {shape_text(shape)}, got {shape_text(weight.shape)}"
            ),
        )
    check(
        hx.ndim in (2, 3) and hx.shape[-1] == hidden and hx.numel == hx.shape[-2] * hidden,
        lambda: f"mkldnn_rnn_layer: expected a state of {hidden} units, got size {shape_text(hx.shape)}",
    )
    check(
        mode != LSTM or cx.shape == hx.shape,
        lambda: f"mkldnn_rnn_layer: expected a cell state of size {shape_text(hx.shape)}, got {shape_text(cx.shape)}",
    )


def _check_sequence(input: Spec, hx: Spec, sizes: list[int], num_layers: int, bidirectional: bool) -> None:
    check(num_layers == 1 and not bidirectional, lambda: "mkldnn_rnn_layer: expected one layer in one direction")
    batch = hx.shape[-2]
    if input.ndim == 3:
        good = not sizes and input.shape[1] == batch
    else:
        falling = all(size >= after >= 1 for size, after in pairwise(sizes))
        good = bool(sizes) and sizes[0] == batch and falling and sum(sizes) == input.shape[0]
    check(
        good,
        lambda: (
            f"mkldnn_rnn_layer: batch sizes {sizes} do not fit input {shape_text(input.shape)} and state "
            f"{shape_text(hx.shape)}"
        ),
    )


@meta_rule()
def layer(
    input: Spec,
    weight0: Spec,
    weight1: Spec,
    weight2: Spec,
    weight3: Spec,
    hx_: Spec,
    cx_: Spec,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Spec, Spec, Spec, Spec | None]:
    """`mkldnn_rnn_layer`: the outputs, the last states, and where `train` what the backward needs, as bytes."""
    _check_layer(input, (weight0, weight1, weight2, weight3), hx_, cx_, mode, hidden_size)
    _check_sequence(input, hx_, list(batch_sizes), num_layers, bidirectional)
    rows = 1
    for extent in input.shape[:-1]:
        rows *= extent
    kept = rows * SAVED[mode] * hidden_size * max(4, input.itemsize)
    return (
        _dense(input, (*input.shape[:-1], hidden_size)),
        _dense(input, hx_.shape),
        _dense(input, hx_.shape if mode == LSTM else (0,)),
        Spec.of(uint8, input.device, (kept,)) if train else None,
    )


@meta_rule()
def layer_backward(
    input: Spec,
    weight1: Spec,
    weight2: Spec,
    weight3: Spec,
    weight4: Spec,
    hx_: Spec,
    cx_tmp: Spec,
    output: Spec,
    hy_: Spec,
    cy_: Spec,
    grad_output: Spec | None,
    grad_hy: Spec | None,
    grad_cy: Spec | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Spec,
) -> tuple[Spec | None, ...]:
    """`mkldnn_rnn_layer_backward`: gradients of the input, the weights and the states."""
    weights = (weight1, weight2, weight3, weight4)
    _check_layer(input, weights, hx_, cx_tmp, mode, hidden_size)
    _check_sequence(input, hx_, list(batch_sizes), num_layers, bidirectional)
    cell = _dense(input, hx_.shape) if mode == LSTM else None
    return (_dense(input, input.shape), *(_dense(w, w.shape) for w in weights), _dense(input, hx_.shape), cell)
