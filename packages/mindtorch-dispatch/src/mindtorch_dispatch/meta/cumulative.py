"""Meta rules of running reductions."""

from __future__ import annotations

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from ..apart import BY_ELEMENT
from .checks import check, wrap_dim
from .extremum import check_kernel
from .pointwise import int_or_bool_to_long
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES, WIDE_UNSIGNED, refuse


def running_sum(name: str) -> MetaRule:
    """Rule of `cumsum` and `cumprod`; the kernel gets (self, dim)."""
    kernel = f"{name}_out_cpu"

    def rule(self: Spec, dim: int, dtype: Dtype | None = None) -> Outputs:
        chosen = dtype or int_or_bool_to_long(self.dtype)
        axis = wrap_dim(dim, self.ndim)
        result = self.contiguous().with_(dtype=chosen)
        if self.numel:
            refuse(result, kernel, BOOL_NAMES | WIDE_UNSIGNED)
        return Outputs(result, cast=chosen, values=(self, axis))

    return MetaRule(rule, inplace=True, out=True, exact=True, adopts=True, apart=BY_ELEMENT)


def running(name: str) -> MetaRule:
    """Rule of `cummax` and `cummin`: values and where they are."""

    def rule(self: Spec, dim: int) -> Outputs:
        if self.ndim == 0:
            check(
                dim in (0, -1),
                lambda: f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}",
                IndexError,
            )
        axis = wrap_dim(dim, self.ndim)
        check_kernel(self, f"{name}_cpu")
        specs = tuple(Spec.of(dtype, self.device, self.shape) for dtype in (self.dtype, int64))
        return Outputs(specs, values=(self, axis))

    return MetaRule(rule, out=True)
