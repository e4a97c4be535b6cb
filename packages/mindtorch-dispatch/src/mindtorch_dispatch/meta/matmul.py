"""Meta rules of matrix products."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from .checks import check
from .rule import meta_rule


def check_same_dtype(first: Spec, second: Spec, name: str = "") -> None:
    """Raise torch's error for operands of two dtypes."""
    check(
        first.dtype is second.dtype,
        lambda: f"expected m1 and m2 to have the same dtype, but got: {first.dtype.c_name} != {second.dtype.c_name}",
    )


@meta_rule(out=True)
def mm(self: Spec, mat2: Spec) -> Spec:
    """`mm`: (n, k) x (k, m)."""
    check(self.ndim == 2, lambda: "self must be a matrix")
    check(mat2.ndim == 2, lambda: "mat2 must be a matrix")
    check(
        self.shape[1] == mat2.shape[0],
        lambda: f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and "
        f"{mat2.shape[0]}x{mat2.shape[1]})",
    )
    check_same_dtype(self, mat2)
    return Spec.of(self.dtype, self.device, (self.shape[0], mat2.shape[1]))
