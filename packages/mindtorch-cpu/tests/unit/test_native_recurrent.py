"""Recurrent layers natively against numpy's kernels, and against what is composed of other ops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_cpu import native
from mindtorch_dispatch.decomp.rnn import composed_layer
from mindtorch_dispatch.table import kernels

LSTM, GRU = 2, 3
MODES = range(4)
GATES, SAVED = (1, 1, 4, 3), (0, 0, 5, 4)

pytestmark = pytest.mark.skipif(native.module is None, reason="needs the native module")


def _arguments(mode: int, steps: list[int], inputs: int, hidden: int, packed: bool, dtype: str) -> list[Any]:
    random = np.random.default_rng(mode + 7 * hidden)
    rows = GATES[mode] * hidden
    first = (sum(steps),) if packed else (len(steps), steps[0])
    shapes = [(*first, inputs), (rows, inputs), (rows, hidden), (rows,), (rows,), *[(steps[0], hidden)] * 2]
    return [(random.uniform(-1, 1, shape) / 3).astype(dtype) for shape in shapes]


def _run(which: str, arrays: list[Any], mode: int, reverse: bool, sizes: list[int], train: bool) -> list[Any]:
    """Return the outputs and, where `train`, all gradients; `which` is native or numpy."""
    layer, backward = (kernels["cpu"][f"mkldnn_rnn_layer{name}"].fn for name in ("", "_backward"))
    if which == "numpy":
        layer, backward = layer.numpy, backward.numpy
    given, hx = arrays[0], arrays[5]
    rows, hidden = int(np.prod(given.shape[:-1])), hx.shape[-1]
    out, hy = np.empty((*given.shape[:-1], hidden), given.dtype), np.empty_like(hx)
    cy = np.empty_like(hx) if mode == LSTM else np.empty(0, given.dtype)
    space = np.empty(rows * SAVED[mode] * hidden * given.itemsize, np.uint8)
    options = (mode, hidden, 1, True)
    layer((out, hy, cy, space if train else None), *arrays, reverse, sizes, *options, False, False, train)
    if not train:
        return [out, hy, cy]
    grads = [np.cos(each) for each in (out, hy, cy)]
    outs = [np.empty_like(each) for each in arrays]
    if mode != LSTM:
        outs[6] = grads[2] = None
    backward(tuple(outs), *arrays, out, hy, cy, *grads, reverse, *options, True, False, sizes, False, space)
    return [out, hy, cy, *(each for each in outs if each is not None)]


LENGTHS = {"one": [3], "two": [2, 2], "many": [19] * 6, "alone": [1] * 5, "packed": [5, 4, 4, 2, 1]}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("mode", MODES)
def test_native_is_numpys(mode: int, name: str, dtype: str) -> None:
    """Whatever the sizes are, which leave parts of vectors and of tiles, and in both directions."""
    steps, packed = LENGTHS[name], name == "packed"
    for reverse, train, (inputs, hidden) in itertools.product(
        (False, True), (False, True), ((3, 1), (17, 33), (8, 130))
    ):
        arrays = _arguments(mode, steps, inputs, hidden, packed, dtype)
        sizes = steps if packed else []
        pairs = [_run(which, arrays, mode, reverse, sizes, train) for which in ("native", "numpy")]
        for ours, wanted in zip(*pairs, strict=True):
            within = (1e-5 if dtype == "float32" else 2e-14) * max(1, abs(wanted).max(initial=0))
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=within)


def test_inference_in_chunks_is_training() -> None:
    """Without a workspace the gates of some steps are made at a time: more rows than one chunk has."""
    for mode in MODES:
        arrays = _arguments(mode, [7] * 90, 5, 19, False, "float32")
        for reverse in (False, True):
            kept = _run("native", arrays, mode, reverse, [], True)
            for ours, wanted in zip(_run("native", arrays, mode, reverse, [], False), kept, strict=False):
                np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("mode", MODES)
def test_layer_is_the_composed_one(mode: int) -> None:
    """Values, gradients and gradients of gradients."""
    found = []
    for op in (mt.ops.aten.mkldnn_rnn_layer, None):
        given = [mt.tensor(a, requires_grad=True) for a in _arguments(mode, [4] * 5, 3, 6, False, "float64")]
        if op is None:
            outputs = composed_layer(*given, True, [], mode)
        else:
            outputs = op(*given, True, [], mode, 6, 1, True, False, False, True)[: 3 if mode == LSTM else 2]
        used = given if mode == LSTM else given[:6]
        total = sum((each * each).sum() for each in outputs)
        first = mt.autograd.grad(total, used, create_graph=True)
        found.append([*outputs, *first, *mt.autograd.grad(sum((g * g).sum() for g in first), used)])
    for ours, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), wanted.detach().numpy(), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradcheck(kind: str) -> None:
    """Of a stack in both directions, whose weights are arguments too."""
    net = getattr(mt.nn, kind)(3, 4, num_layers=2, bidirectional=True).double()
    x = mt.rand(4, 2, 3, dtype=mt.float64, requires_grad=True)
    names, weights = zip(*net.named_parameters(), strict=True)

    def call(x: Any, *weights: Any) -> Any:
        return mt.func.functional_call(net, dict(zip(names, weights, strict=True)), (x,))[0]

    assert mt.autograd.gradcheck(call, (x, *weights), fast_mode=True)


def test_layer_refuses_what_does_not_fit() -> None:
    """Weights, states and batch sizes of other sizes never reach the kernel."""
    good = [mt.tensor(a) for a in _arguments(GRU, [4] * 5, 3, 6, False, "float32")]
    options = (GRU, 6, 1, True, False, False, False)
    for place in range(1, 6):
        bad = [*good[:place], good[place][:-1], *good[place + 1 :]]
        with pytest.raises(RuntimeError, match="mkldnn_rnn_layer: "):
            mt.ops.aten.mkldnn_rnn_layer(*bad, False, [], *options)
    packed = good[0].reshape(20, 3)
    for sizes in ([], [4, 5, 11], [4, 4], [20], [4, 4, 4, 4, 4, 0]):
        with pytest.raises(RuntimeError, match="batch sizes"):
            mt.ops.aten.mkldnn_rnn_layer(packed, *good[1:], False, sizes, *options)
