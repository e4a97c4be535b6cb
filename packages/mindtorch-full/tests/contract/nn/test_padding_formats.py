"""Strides of padded tensors and of their gradients, and where padding copies, against torch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

MODES = ("constant", "reflect", "replicate", "circular")
SIDES = ((1, 1, 1, 1), (0, 0, 0, 0), (0, 1, 0, 1), (-1, 0, -1, 0), (1, -1, 0, 0))


def _laid_out(m: Any, shape: tuple[int, ...], order: str) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    x = m.arange(float(count)).reshape(shape)
    if order == "channels last":
        return x.contiguous(memory_format=m.channels_last if x.dim() == 4 else m.channels_last_3d)
    return {"plain": x, "transposed": x.transpose(-1, -2).contiguous().transpose(-1, -2), "sliced": x[..., ::2]}[order]


def _outcome(m: Any, shape: tuple[int, ...], order: str, mode: str, sides: tuple[int, ...]) -> Any:
    x = _laid_out(m, shape, order).detach().requires_grad_()
    padded = m.nn.functional.pad(x, sides, mode=mode)
    (grad,) = m.autograd.grad(padded, x, m.ones_like(padded))
    shared = padded.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return padded.tolist(), padded.stride(), padded._is_view(), shared, grad.tolist(), grad.stride()


@pytest.mark.parametrize("order", ["plain", "channels last", "transposed", "sliced"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 3, 4, 5)])
def test_padding_keeps_the_format_that_torch_keeps(shape: tuple[int, ...], order: str) -> None:
    for mode, sides in itertools.product(MODES, SIDES):
        given = sides if len(shape) == 4 else (*sides, *sides[:2])
        ours, theirs = (_outcome(m, shape, order, mode, given) for m in (mt, torch))
        assert ours == theirs, (mode, given)


def test_one_channel_is_channels_last_already() -> None:
    for m in (mt, torch):
        x = m.rand(2, 1, 4, 4)
        assert x.contiguous(memory_format=m.channels_last) is x
        assert x.clone(memory_format=m.channels_last).stride() == (16, 1, 4, 1)


def test_padding_may_leave_nothing_along_one_dimension() -> None:
    for m, mode in itertools.product((mt, torch), ("reflect", "replicate")):
        assert m.nn.functional.pad(m.ones(2, 1, 4), (-1, 0, -1, 0), mode=mode).shape == (2, 0, 3)
