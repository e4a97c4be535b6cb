"""Dtypes that kernels lack: what torch's CPU kernels refuse is refused, by torch's error; the meta device refuses nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing.compare import call_for_error, error_difference

torch = pytest.importorskip("torch", reason="oracle")

DTYPES = (
    "bool", "uint8", "int8", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

Call = Callable[[Any, Any, Any], Any]

MATRICES: dict[str, Call] = {
    "mm": lambda t, a, _: t.mm(a(2, 2), a(2, 2)),
    "addmm": lambda t, a, _: t.addmm(a(2, 2), a(2, 2), a(2, 2)),
    "bmm": lambda t, a, _: t.bmm(a(1, 2, 2), a(1, 2, 2)),
    "baddbmm": lambda t, a, _: t.baddbmm(a(1, 2, 2), a(1, 2, 2), a(1, 2, 2)),
    "addbmm": lambda t, a, _: t.addbmm(a(2, 2), a(1, 2, 2), a(1, 2, 2)),
    "mv": lambda t, a, _: t.mv(a(2, 2), a(2)),
    "dot": lambda t, a, _: t.dot(a(2), a(2)),
    "addr": lambda t, a, _: t.addr(a(2, 2), a(2), a(2)),
    "cross": lambda t, a, _: t.linalg.cross(a(3), a(3)),
    "trace": lambda t, a, _: t.trace(a(2, 2)),
    "conv1d": lambda t, a, _: t.conv1d(a(1, 1, 4), a(1, 1, 2)),
    "conv2d": lambda t, a, _: t.conv2d(a(1, 1, 4, 4), a(1, 1, 2, 2)),
    "conv3d": lambda t, a, _: t.conv3d(a(1, 1, 4, 4, 4), a(1, 1, 2, 2, 2)),
    "cholesky": lambda t, a, _: t.linalg.cholesky_ex(a(2, 2)),
    "svd": lambda t, a, _: t.linalg.svdvals(a(2, 2)),
}
WINDOWS: dict[str, Call] = {
    "max_pool2d": lambda t, a, _: t.nn.functional.max_pool2d(a(1, 1, 4, 4), 2, return_indices=True),
    "max_pool3d": lambda t, a, _: t.nn.functional.max_pool3d(a(1, 1, 4, 4, 4), 2, return_indices=True),
    "avg_pool2d": lambda t, a, _: t.nn.functional.avg_pool2d(a(1, 1, 4, 4), 2),
    "avg_pool3d": lambda t, a, _: t.nn.functional.avg_pool3d(a(1, 1, 4, 4, 4), 2),
    "adaptive_avg_pool3d": lambda t, a, _: t.nn.functional.adaptive_avg_pool3d(a(1, 1, 4, 4, 4), 2),
    "adaptive_max_pool3d": lambda t, a, _: t.nn.functional.adaptive_max_pool3d(a(1, 1, 4, 4, 4), 2),
    "grid_sample 2": lambda t, a, _: t.grid_sampler_2d(a(1, 1, 4, 4), a(1, 2, 2, 2), 0, 0, False),
    "grid_sample 3": lambda t, a, _: t.grid_sampler_3d(a(1, 1, 4, 4, 4), a(1, 2, 2, 2, 3), 0, 0, False),
    "interpolate": lambda t, a, _: t.nn.functional.interpolate(a(1, 1, 4, 4), scale_factor=2, mode="bilinear"),
}
ACTIVATIONS: dict[str, Call] = {
    name: lambda t, a, _, name=name: getattr(t.nn.functional, name)(a(4))
    for name in (
        "elu",
        "gelu",
        "mish",
        "silu",
        "hardswish",
        "hardsigmoid",
        "hardshrink",
        "softplus",
        "leaky_relu",
        "relu",
    )
} | {
    "rrelu": lambda t, a, _: t.nn.functional.rrelu(a(4), training=True),
    "softmax": lambda t, a, _: t.softmax(a(4), 0),
}
GRADIENTS: dict[str, Call] = {
    name: lambda t, a, _, name=name: getattr(t.ops.aten, name)(a(4), a(4))
    for name in (
        "tanh_backward", "sigmoid_backward", "silu_backward", "gelu_backward", "mish_backward", "hardswish_backward",
        "hardsigmoid_backward",
    )
} | {
    "hardtanh_backward": lambda t, a, _: t.ops.aten.hardtanh_backward(a(4), a(4), 0, 1),
    "elu_backward": lambda t, a, _: t.ops.aten.elu_backward(a(4), 1, 1, 1, False, a(4)),
}  # fmt: skip
OTHERS: dict[str, Call] = {
    "multi_margin_loss": lambda t, a, _: t.nn.functional.multi_margin_loss(a(2, 3), a(2).long()),
    "multilabel_margin_loss": lambda t, a, _: t.nn.functional.multilabel_margin_loss(a(2, 3), a(2, 3).long()),
    "soft_margin_loss": lambda t, a, _: t.nn.functional.soft_margin_loss(a(4), a(4)),
    "cumsum": lambda t, a, given: t.cumsum(a(4), 0, dtype=given["dtype"]),
    "median": lambda t, a, _: t.median(a(4)),
    "searchsorted": lambda t, a, _: t.searchsorted(a(4), a(4)),
    "igamma": lambda t, a, _: t.igamma(a(4), a(4)),
    "bitwise_and": lambda t, a, _: t.bitwise_and(a(4), a(4)),
    "logical_and": lambda t, a, _: t.logical_and(a(4), a(4)),
    "random_": lambda t, a, _: a(4).random_(),
    "gamma": lambda t, a, _: t._standard_gamma(a(4)),
    "arange": lambda t, _, given: t.arange(0, 3, **given),
    "linspace": lambda t, _, given: t.linspace(0, 1, 3, **given),
    "eye": lambda t, _, given: t.eye(2, **given),
}
CALLS = MATRICES | WINDOWS | ACTIVATIONS | GRADIENTS | OTHERS
REFUSED_ON_META = (
    "relu",
    "elu",
    "leaky_relu",
    "avg_pool2d",
    "avg_pool3d",
    "svd",
    "multi_margin_loss",
    "igamma",
    "soft_margin_loss",
)
"""Whose meta function in torch raises errors of its own for some dtypes."""


def _error(call: Call, side: Any, dtype: str, device: str) -> Exception | None:
    given = {"dtype": getattr(side, dtype), "device": device}
    return call_for_error(lambda: call(side, lambda *shape: side.zeros(shape, **given), given))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_torchs(name: str, dtype: str) -> None:
    ours, theirs = (_error(CALLS[name], side, dtype, "cpu") for side in (mt, torch))
    if theirs is None:
        assert ours is None
    else:
        assert not error_difference(theirs, ours)


@pytest.mark.parametrize("name", [one for one in CALLS if one not in REFUSED_ON_META])
def test_the_meta_device_describes_all_dtypes(name: str) -> None:
    refusing = [dtype for dtype in DTYPES if _error(CALLS[name], mt, dtype, "meta") is not None]
    assert refusing == [dtype for dtype in DTYPES if _error(CALLS[name], torch, dtype, "meta") is not None]
