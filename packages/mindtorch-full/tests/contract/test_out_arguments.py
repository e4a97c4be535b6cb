"""`out=` beside arguments that require grad or share its memory: refused where torch refuses it."""

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_dispatch.plan.out_dtypes import EXACT, SAME
from mindtorch_dispatch.registry import registry
from mindtorch_testing import assert_same_value, assert_torch_error
from mindtorch_testing.compare import call_for_error

torch = pytest.importorskip("torch", reason="oracle")

REFUSED = """
acos arccos asinh arcsinh deg2rad square fix special.erf special.expit special.digamma special.multigammaln linalg.inv
linalg.det linalg.cholesky linalg.eigvalsh linalg.svd fft.fft fft.irfft fft.fftn var std logsumexp cumsum nanmean matmul
outer kron stack hstack cat mul divide true_divide subtract xlogy special.xlogy float_power maximum inverse nansum ldexp
""".split()
TAKEN = """
eq lt isneginf signbit argmax any all logical_and logical_not heaviside floor_divide bucketize histc special.bessel_j0
special.chebyshev_polynomial_t softmax quantile linalg.norm conj_physical squeeze_copy special.ndtr
""".split()
EXTRA: dict[str, list[Any]] = {
    "special.multigammaln": [1], "var": [0], "std": [0], "logsumexp": [0], "cumsum": [0], "nanmean": [0], "quantile": [0.5],
    "softmax": [0], "histc": [2],
}  # fmt: skip
LISTS = ("stack", "hstack", "cat")
PAIRS = """matmul kron mul divide true_divide subtract xlogy special.xlogy float_power maximum ldexp eq lt logical_and heaviside
floor_divide special.chebyshev_polynomial_t""".split()
VECTORS = ("outer", "bucketize")


def call(m: Any, name: str, result: Any) -> Any:
    function: Any = m
    for part in name.split("."):
        function = getattr(function, part)
    x = m.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
    if name in VECTORS:
        return function(x[0], x[1].detach(), out=result)
    arguments = [[x, x]] if name in LISTS else [x, x.detach()] if name in PAIRS else [x, *EXTRA.get(name, [])]
    return function(*arguments, out=result)


def outputs(m: Any, name: str) -> Any:
    dtype = m.float64 if name == "float_power" else m.complex64 if name in ("fft.fft", "fft.fftn") else m.float32
    if name == "linalg.svd":
        return tuple(m.empty(0) for _ in range(3))
    return m.empty(0, dtype=dtype)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    assert_torch_error(lambda: call(mt, name, outputs(mt, name)), lambda: call(torch, name, outputs(torch, name)))
    with mt.no_grad():
        call(mt, name, outputs(mt, name))


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str) -> None:
    with torch.no_grad():
        dtype = str(call(torch, name, None).dtype).removeprefix("torch.")
    assert_same_value(
        lambda: call(mt, name, mt.empty(0, dtype=getattr(mt, dtype))).detach(),
        lambda: call(torch, name, torch.empty(0, dtype=getattr(torch, dtype))).detach(),
    )


OVERLAPS: list[Callable[[Any], Any]] = [
    lambda m: over(m.zeros(2), lambda a: m.special.psi(a, out=a[..., :1])),
    lambda m: over(m.ones(1, 2), lambda a: m.sign(a, out=a.t())),
    lambda m: over(m.tensor(0.0), lambda a: m.log(a, out=a.view(-1))),
    lambda m: over(m.zeros(2), lambda a: m.sigmoid(a, out=a[1:])),
    lambda m: over(m.ones(2), lambda a: m.add(a, a[:1], out=a)),
    lambda m: over(m.ones(2, 2), lambda a: m.arctan2(a, a.t(), out=a)),
    lambda m: over(m.zeros(2), lambda a: m.concat([a], out=a)),
    lambda m: over(m.ones(2, 2), lambda a: a.divide_(a.t())),
    lambda m: over(m.ones(2, 2), lambda a: a.subtract_(a.t(), alpha=2)),
    lambda m: m.digamma(m.zeros(2), out=m.ones(1).expand(3)),
    lambda m: m.ones(2, dtype=m.int64).arccos_(),
    lambda m: m.ones(2, requires_grad=True).absolute_(),
]


def over(tensor: Any, call: Callable[[Any], Any]) -> Any:
    return call(tensor)


@pytest.mark.parametrize("case", OVERLAPS)
def test_an_output_over_a_part_of_an_argument_is_refused(case: Callable[[Any], Any]) -> None:
    assert_torch_error(lambda: case(mt), lambda: case(torch))


def test_an_output_that_is_the_argument_is_taken() -> None:
    for call in (
        lambda m, a: m.neg(a, out=a),
        lambda m, a: m.subtract(a, a, alpha=2, out=a),
        lambda m, a: a.subtract_(a),
    ):
        assert_same_value(lambda call=call: call(mt, mt.ones(2)), lambda call=call: call(torch, torch.ones(2)))


def test_tables_of_dtypes_name_rows() -> None:
    assert [name for name in (*EXACT, *SAME) if registry.find(f"aten::{name}") is None] == []


DTYPES: list[Callable[[Any, Any], Any]] = [
    lambda m, out: m.abs(m.ones(2), out=out),
    lambda m, out: m.absolute(m.ones(2), out=out),
    lambda m, out: m.clip(m.ones(2), 0, 3, out=out),
    lambda m, out: m.trunc(m.ones(2), out=out),
    lambda m, out: m.linalg.inv(m.eye(2), out=out),
    lambda m, out: m.linalg.solve(m.eye(2), m.ones(2), out=out),
    lambda m, out: m.isin(m.ones(2), m.ones(2), out=out),
    lambda m, out: m.tril(m.ones(2, 2), out=out),
    lambda m, out: m.view_copy(m.ones(2), (1, 2), out=out),
    lambda m, out: m.exp(m.ones(2), out=out),
    lambda m, out: m.add(m.ones(2), 1, out=out),
]


REFUSED_DTYPES: list[Callable[[Any, Any], Any]] = [
    lambda m, out: m.linalg.norm(m.ones(2), out=out),
    lambda m, out: m.linalg.norm(m.ones(2, 2), "nuc", out=out),
    lambda m, out: m.linalg.matrix_norm(m.ones(2, 2), 2, out=out),
    lambda m, out: m.linalg.vecdot(m.ones(2), m.ones(2), out=out),
    lambda m, out: m.linalg.multi_dot([m.ones(2, 2), m.ones(2, 2)], out=out),
    lambda m, out: m.qr(m.eye(2), out=(out, m.ones(2))),
    lambda m, out: m.linalg.eigh(m.eye(2), out=(m.ones(2), out)),
    lambda m, out: m.linalg.slogdet(m.eye(2), out=(out, m.ones(2))),
    lambda m, out: m.linalg.solve_triangular(m.eye(2), m.eye(2), upper=True, out=out),
    lambda m, out: m.ormqr(m.eye(2), m.ones(2), m.eye(2), out=out),
    lambda m, out: m.inner(m.ones(2), m.ones(2), out=out),
    lambda m, out: m.dot(m.ones(2), m.ones(2), out=out),
    lambda m, out: m.logcumsumexp(m.ones(2), 0, out=out),
    lambda m, out: m.nan_to_num(m.ones(2), out=out),
    lambda m, out: m.where(m.tensor(True), m.ones(2), m.ones(2), out=out),
    lambda m, out: m.hash_tensor(m.ones(2), out=out),
    *(
        lambda m, out, name=name, rest=rest: getattr(m.ops.aten, name).out(m.ones(2, 2), *rest(m), out=out)
        for name, rest in {
            "soft_margin_loss": lambda m: [m.ones(2, 2)],
            "binary_cross_entropy": lambda m: [m.ones(2, 2)],
            "norm": lambda m: [2, [0]],
            "frobenius_norm": lambda m: [[0]],
            "nuclear_norm": lambda m: [],
            "log_sigmoid": lambda m: [],
            "multi_margin_loss": lambda m: [m.tensor([0, 1])],
            "multilabel_margin_loss": lambda m: [m.tensor([[0, 1]] * 2)],
            "nll_loss": lambda m: [m.tensor([0, 1])],
        }.items()
    ),
    lambda m, out: m.ops.aten.upsample_nearest2d.out(m.ones(1, 1, 2, 2), [2, 2], out=out),
]


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("number", range(len(REFUSED_DTYPES)))
def test_outputs_that_refuse_other_dtypes(number: int, dtype: str) -> None:
    assert_torch_error(
        lambda: REFUSED_DTYPES[number](mt, mt.empty(0, dtype=getattr(mt, dtype))),
        lambda: REFUSED_DTYPES[number](torch, torch.empty(0, dtype=getattr(torch, dtype))),
    )


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64"])
@pytest.mark.parametrize("name", ["fft", "ifft2", "rfft", "rfftn", "hfft", "irfft", "hfft2", "irfftn"])
def test_transforms_refuse_what_is_not_complex_or_not_real(name: str, dtype: str) -> None:
    def outcome(m: Any) -> Any:
        return getattr(m.fft, name)(m.ones(2, 3), out=m.empty(0, dtype=getattr(m, dtype)))

    if call_for_error(lambda: outcome(torch)) is None:
        assert_same_value(lambda: outcome(mt), lambda: outcome(torch))
    else:
        assert_torch_error(lambda: outcome(mt), lambda: outcome(torch))


DEVICES: list[Callable[[Any, Any], Any]] = [
    lambda m, out: m.rad2deg(m.ones(2), out=out),
    lambda m, out: m.add(m.ones(2), 1, out=out),
    lambda m, out: m.mm(m.ones(2, 2), m.ones(2, 2), out=out),
    lambda m, out: m.stack([m.ones(2)], out=out),
    lambda m, out: m.var(m.ones(2), 0, out=out),
    lambda m, out: m.kron(m.ones(2), m.ones(2), out=out),
    lambda m, out: m.slice_copy(m.ones(2), out=out),
    lambda m, out: m.linalg.inv(m.eye(2), out=out),
    lambda m, out: m.linalg.svd(m.eye(2), out=(out, out, out)),
    lambda m, out: m.tensor(0.0).igamma_(out[0]),
    lambda m, out: m.tensor(0.0).hypot_(out[0]),
    lambda m, out: m.tensor(0.0).clamp_(out[0]),
    lambda m, out: m.tensor(0.0).eq_(out[0]),
]


@pytest.mark.parametrize("number", range(len(DEVICES)))
def test_outputs_on_another_device(number: int) -> None:
    assert_torch_error(
        lambda: DEVICES[number](mt, mt.empty(2, device="meta")),
        lambda: DEVICES[number](torch, torch.empty(2, device="meta")),
    )


def test_a_meta_tensor_of_no_dimensions_where_nothing_is_computed() -> None:
    for name in ("add_", "sub_", "mul_", "div_", "logical_or_"):
        assert_same_value(
            lambda name=name: getattr(mt.tensor(0.0), name)(mt.empty((), device="meta")),
            lambda name=name: getattr(torch.tensor(0.0), name)(torch.empty((), device="meta")),
        )


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool", "complex64", "float16"])
def test_outputs_of_another_dtype(dtype: str) -> None:
    for case in DTYPES:
        ours, theirs = (
            call_for_error(lambda m=m, case=case: case(m, m.empty(0, dtype=getattr(m, dtype)))) for m in (mt, torch)
        )
        assert (type(ours), str(ours)) == (type(theirs), str(theirs))
