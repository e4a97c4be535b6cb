"""Meta rules of special functions: which dtypes have a kernel."""

from __future__ import annotations

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import preserved_strides

from ..apart import ELEMENTWISE
from .checks import c_type, check
from .pointwise import FLOAT, checked, placed, pointwise, promoted, row_major
from .rule import MetaRule, Outputs
from .support import COMPLEX, HALVES, lacking, refuse


def real_only(name: str, *, half: bool = True, inplace: bool = False) -> MetaRule:
    """Rule of a function of one or two real operands; integers become floats."""
    without = COMPLEX if half else COMPLEX | HALVES

    def check_values(*values: object) -> None:
        compute = promoted(values)
        if compute.name in without:
            raise lacking(compute, name)

    return checked(pointwise(FLOAT, inplace=inplace), check_values)


def incomplete_gamma(name: str) -> MetaRule:
    """Rule of `igamma` and `igammac`: floating point only."""

    def check_values(self: Spec, other: Spec) -> None:
        compute = promoted((self, other))
        if not compute.is_floating_point:
            raise lacking(compute, name)

    return checked(pointwise(FLOAT), check_values)


_GAMMA = pointwise(FLOAT, operands=(0,))


def _polygamma(n: int, self: Spec) -> Outputs:
    check(n >= 0, lambda: "polygamma(n, x) does not support negative n.")
    refuse(self, {0: "digamma", 1: "trigamma"}.get(n, "polygamma"), COMPLEX)
    answer = _GAMMA(self)
    return Outputs(answer.specs, cast={1: answer.cast})


polygamma = MetaRule(_polygamma, out=True, aliases_ok=True)
"""`polygamma`."""


def _mvlgamma(self: Spec, p: int) -> Outputs:
    check(p >= 1, lambda: "p has to be greater than or equal to 1")
    check(self.dtype is not bool_dtype, lambda: "The input tensor may not be a boolean tensor.")
    refuse(self, "arange_cpu", COMPLEX)
    found: Outputs = placed(_GAMMA, row_major)(self)
    return found


mvlgamma = MetaRule(_mvlgamma, inplace=True, out=True)
"""`mvlgamma`."""


def _exponent_dtype(spec: Spec, target: Dtype) -> str:
    if spec.dtype is int32:
        return f"torch.frexp() expects exponent to have int dtype but got {c_type(target)}"
    return f"torch.frexp() expects mantissa to have dtype {c_type(spec.dtype)} but got {c_type(target)}"


def _frexp(self: Spec) -> tuple[Spec, Spec]:
    check(self.dtype.is_floating_point, lambda: "torch.frexp() only supports floating-point dtypes")
    stride = preserved_strides(self.shape, self.stride)
    mantissa, exponent = (Spec.of(dtype, self.device, self.shape, stride) for dtype in (self.dtype, int32))
    return mantissa, exponent


frexp = MetaRule(_frexp, out=True, exact=_exponent_dtype, apart=ELEMENTWISE)
"""`frexp`."""
