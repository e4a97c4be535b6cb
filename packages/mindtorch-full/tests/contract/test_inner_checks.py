"""Overloads and inner functions called directly, with what does not fit: refused as torch refuses it."""

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


def positions(m: Any, *shape: int) -> Any:
    return m.zeros(shape, dtype=m.int64)


def windows(m: Any, given: Any, shape: tuple[int, ...], kernel: int = 2, **options: Any) -> Any:
    name = f"max_pool{len(shape) - 2}d_with_indices_backward" if len(shape) > 3 else "max_pool2d_with_indices_backward"
    indices = options.get("indices", positions(m, *given.shape))
    return getattr(m.ops.aten, name)(given, m.zeros(shape), [kernel], [2], [0], [1], False, indices)


def averages(m: Any, given: Any, shape: tuple[int, ...], kernel: list[int], divisor: int | None = None) -> Any:
    return m.ops.aten.avg_pool2d_backward(given, m.zeros(shape), kernel, [2], [0], False, True, divisor)


POOLS: list[Callable[[Any], Any]] = [
    lambda m: windows(m, m.zeros(2, 3, 1, 1), (2, 3, 4, 4)),
    lambda m: windows(m, m.zeros(2, 2, 2, 2), (2, 3, 4, 4)),
    lambda m: windows(m, m.zeros(3, 2, 2), (2, 3, 4, 4)),
    lambda m: windows(m, m.zeros(2, 2, 2, 2, 2), (2, 3, 4, 4, 4)),
    lambda m: windows(m, m.zeros(2, 3, 2, 2).double(), (2, 3, 4, 4)),
    lambda m: windows(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), indices=m.zeros(2, 3, 2, 2)),
    lambda m: windows(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), indices=positions(m, 3, 2, 2)),
    lambda m: windows(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), kernel=2**31),
    lambda m: windows(m, m.zeros(2, 0, 2), (2, 0, 2)),
    lambda m: m.nn.functional.max_pool2d(m.zeros(2, 3, 4, 4), 2**31),
    lambda m: averages(m, m.zeros(2, 3, 1, 1), (2, 3, 4, 4), [2]),
    lambda m: averages(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), [2], 0),
    lambda m: averages(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), [2, 2, 2]),
    lambda m: averages(m, m.zeros(2, 3, 2, 2), (2, 3, 4, 4), [-(2**63)]),
    lambda m: averages(m, m.zeros(2), (2,), [2]),
    lambda m: m.ops.aten._adaptive_avg_pool2d_backward(m.zeros(3, 2, 2), m.zeros(2, 3, 4, 4)),
    lambda m: m.ops.aten._adaptive_avg_pool2d_backward(m.zeros(2, 0, 2), m.zeros(2, 0, 2)),
    lambda m: m.ops.aten._adaptive_avg_pool2d_backward(m.zeros(2, 3, 2, 2).double(), m.zeros(2, 3, 4, 4)),
    lambda m: m.ops.aten._adaptive_avg_pool3d_backward(m.zeros(0, 2), m.zeros(0, 2)),
    lambda m: m.ops.aten.adaptive_max_pool2d_backward(m.zeros(2), m.zeros(2), positions(m, 2)),
    lambda m: m.ops.aten.adaptive_max_pool3d_backward(
        m.zeros(2, 3, 3, 0), m.zeros(2, 3, 3, 0), positions(m, 2, 3, 3, 0)
    ),
    lambda m: m.ops.aten.adaptive_max_pool2d_backward(m.zeros(3, 2, 2), m.zeros(2, 3, 4, 4), positions(m, 3, 2, 2)),
    lambda m: m.ops.aten.fractional_max_pool2d_backward(
        m.zeros(2, 3, 1, 1), m.zeros(2, 3, 4, 4), [2, 2], [2, 2], positions(m, 2, 3, 1, 1)
    ),
    lambda m: m.ops.aten.fractional_max_pool3d_backward(m.zeros(2), m.zeros(2), [2] * 3, [2] * 3, positions(m, 2)),
]

OVERLOADS: list[Callable[[Any], Any]] = [
    lambda m: m.ops.aten.arccosh.out(m.ones(2), out=None),
    lambda m: m.ops.aten.clamp_min.Tensor(m.ones(2), m.ones(2), out=None),
    lambda m: m.ops.aten.isin.Scalar_Tensor(0, m.ones(2), out=None),
    lambda m: m.ops.aten.hardtanh_backward.grad_input(m.ones(2), m.ones(2), 0, 0, grad_input=None),
    lambda m: m.isin(m.ones(2), 1j),
    lambda m: m.isin(m.ones(2), True),
    lambda m: m.ops.aten._pad_circular.default(m.tensor(0.5), []),
    lambda m: m.ops.aten._fft_r2c.default(m.ones(2, dtype=m.complex64), [0], 0, True),
    lambda m: m.ops.aten._fft_c2c.default(m.ones(2), [0], 0, True),
    lambda m: m.ops.aten.embedding_backward.default(m.ones(4, 4, 4), m.ones(4, 3), 0, 1, False, True),
    lambda m: m.ops.aten.repeat_interleave.self_int(m.ones(2), 2, output_size=3),
    lambda m: m.ones(4).tensor_split(2**40),
    lambda m: m.ones(2).__neg__(1),
    lambda m: over(m.ones(2), lambda a: m.special.polygamma(3, a, out=a[:1])),
]

DTYPES: list[Callable[[Any], Any]] = [
    lambda m: m.median(m.ones(2), 0, out=(m.ones(2), m.ones(2))),
    lambda m: m.nanmedian(m.ones(2), 0, out=(m.ones(2).double(), positions(m, 2))),
    lambda m: m.kthvalue(m.ones(2), 1, out=(m.ones(2).double(), positions(m, 2))),
    lambda m: m.kthvalue(m.ones(2), 1, out=(m.ones(2), m.ones(2))),
    lambda m: m.mode(m.ones(2), out=(m.ones(2), m.ones(2))),
    lambda m: m.mode(m.ones(2), out=(m.ones(2).double(), positions(m, 2))),
    lambda m: m.cummin(m.ones(2), 0, out=(m.ones(2), m.ones(2))),
    lambda m: m.searchsorted(m.ones(2), m.ones(2), out=m.ones(2)),
    lambda m: m.nonzero_static(m.ones(2), size=2, out=m.ones(2)),
    lambda m: m.signbit(m.ones(2), out=m.ones(2)),
    lambda m: m.ops.aten.sub.Scalar_out(m.ones(2), 0, out=m.ones(2).bfloat16()),
    lambda m: m.ops.aten.view_as_real_copy.out(m.ones(2, dtype=m.complex64), out=m.ones(2, dtype=m.complex64)),
    lambda m: m.ops.aten._softmax.out(m.ones(2).double(), 0, False, out=m.ones(2)),
    lambda m: m.ops.aten.silu.out(m.ones(2), out=m.ones(2).bfloat16()),
    lambda m: m.linalg.lu_factor_ex(m.eye(2), out=(m.eye(2), m.ones(2), m.ones(0).int())),
    lambda m: m.ops.aten.argsort.stable_out(m.ones(2), stable=False, out=m.ones(2)),
    lambda m: m.ops.aten.svd.U(m.eye(2), U=m.ones(0).half(), S=m.ones(0), V=m.ones(0)),
]


ACTIVATIONS: list[Callable[[Any], Any]] = [
    lambda m: m.ops.aten.leaky_relu_backward(m.ones(2), m.ones(2), -0.5, True),
    lambda m: m.ops.aten.elu_backward(m.ones(2), -0.5, 1.0, 1.0, True, m.ones(2)),
    lambda m: m.nn.functional.glu(m.ones(4, dtype=m.int64)),
    lambda m: m.nn.functional.glu(m.ones(4, dtype=m.complex64)),
    lambda m: m.nn.functional.glu(m.ones(3, dtype=m.bool)),
    lambda m: m.nn.functional.kl_div(m.ones(2), m.ones(2, dtype=m.complex64), reduction="sum"),
    lambda m: m.ones(2).float_power_(2),
    lambda m: m.ones(2, dtype=m.int64).float_power_(m.ones(2)),
    lambda m: m.ones(2, dtype=m.float64).float_power_(2j),
]


def over(a: Any, call: Callable[[Any], Any]) -> Any:
    return call(a)


@pytest.mark.parametrize("call", [*POOLS, *OVERLOADS, *DTYPES, *ACTIVATIONS])
def test_refused(call: Callable[[Any], Any]) -> None:
    assert_torch_error(lambda: call(mt), lambda: call(torch))


def test_slopes_are_looked_at_in_every_call() -> None:
    def gradients(m: Any) -> list[Any]:
        found: list[Any] = []
        for slope in (0.5, -0.5, 2.0):
            for name in ("leaky_relu_", "elu_"):
                x = m.tensor([1.0, -2.0], requires_grad=True)
                try:
                    getattr(m.nn.functional, name)(x * 1, slope).sum().backward()
                    found.append([round(value, 6) for value in x.grad.tolist()])
                except RuntimeError as error:
                    found.append(str(error))
        return found

    assert gradients(mt) == gradients(torch)


def test_cosines_of_lengths_beyond_float32() -> None:
    def angles(m: Any) -> Any:
        x = m.tensor([[1e30, 1.0], [0.0, 0.0], [3.0, 4.0]], requires_grad=True)
        cosines = m.cosine_similarity(x, m.tensor([[1e30, 2.0], [0.0, 0.0], [1.0, 0.0]]), dim=1)
        cosines.sum().backward()
        return cosines.tolist(), x.grad.tolist()

    ours, torchs = angles(mt), angles(torch)
    assert ours[0] == pytest.approx(torchs[0])
    assert ours[0][0] == 0
    for one, other in zip(ours[1], torchs[1], strict=True):
        assert one == pytest.approx(other)
