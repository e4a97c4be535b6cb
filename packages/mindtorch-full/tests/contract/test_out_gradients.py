"""`out=` beside arguments that require grad: refused where the op that writes has a derivative, as torch does."""

from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

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
