"""Meta rules of orthogonal factors."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from .checks import check
from .matrices import check_inexact, check_kernel, check_matrix, column_major, row_major
from .rule import meta_rule

MODES = ("reduced", "complete", "r")


def check_mode(mode: str) -> None:
    """Raise torch's error for an unknown mode."""
    check(
        mode in MODES,
        lambda: f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'",
    )


@meta_rule(out=True)
def qr(A: Spec, mode: str = "reduced") -> tuple[Spec, Spec]:
    """`linalg_qr`."""
    check_matrix(A, "linalg.qr")
    check_inexact(A, "linalg.qr", low_precision=True)
    check_kernel(A, "geqrf_cpu")
    check_mode(mode)
    batch, (rows, columns) = tuple(A.shape[:-2]), A.shape[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    first = row_major(A, (0,)) if mode == "r" else column_major(A, (*batch, rows, inner))
    return first, column_major(A, (*batch, inner, columns))


@meta_rule(out=True)
def geqrf(self: Spec) -> tuple[Spec, Spec]:
    """`geqrf`: reflectors in one matrix, and their scales."""
    check(self.ndim >= 2, lambda: "torch.geqrf: input must have at least 2 dimensions.")
    check_kernel(self, "geqrf_cpu")
    return column_major(self, self.shape), row_major(self, (*self.shape[:-2], min(self.shape[-2:])))


@meta_rule(out=True)
def householder_product(input: Spec, tau: Spec) -> Spec:
    """`linalg_householder_product`."""
    name = "torch.linalg.householder_product"
    check(input.ndim >= 2, lambda: f"{name}: input must have at least 2 dimensions.")
    check(
        input.shape[-2] >= input.shape[-1],
        lambda: f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]",
    )
    check(
        input.shape[-1] >= tau.shape[-1],
        lambda: f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]",
    )
    check(
        input.ndim - tau.ndim == 1,
        lambda: (
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        ),
    )
    check(
        input.ndim == 2 or input.shape[:-2] == tau.shape[:-1],
        lambda: (
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        ),
    )
    check(
        tau.dtype is input.dtype,
        lambda: f"{name}: tau dtype {tau.dtype.scalar_name} does not match input dtype {input.dtype.scalar_name}",
    )
    check_inexact(input, "linalg.householder_product")
    return column_major(input, input.shape)


@meta_rule(out=True)
def ormqr(self: Spec, input2: Spec, input3: Spec, left: bool = True, transpose: bool = False) -> Spec:
    """`ormqr`: the orthogonal matrix of reflectors times another one."""
    name = "torch.ormqr"
    check(self.ndim >= 2, lambda: f"{name}: input must have at least 2 dimensions.")
    check(input3.ndim >= 2, lambda: f"{name}: other must have at least 2 dimensions.")
    side = -2 if left else -1
    check(
        input3.shape[side] == self.shape[-2],
        lambda: f"{name}: other.shape[{side}] must be equal to input.shape[-2]",
    )
    inner = min(input3.shape[side], self.shape[-1])
    check(
        inner == input2.shape[-1],
        lambda: f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])",
    )
    check(
        self.ndim - input2.ndim == 1,
        lambda: (
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {input2.ndim} and "
            f"input.ndim is equal to {self.ndim}"
        ),
    )
    check(
        self.ndim == input3.ndim,
        lambda: (
            f"{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{input3.ndim} and input.ndim is equal to {self.ndim}"
        ),
    )
    for what, other, batch in (("tau", input2, tuple(input2.shape[:-1])), ("other", input3, tuple(input3.shape[:-2]))):
        check(
            batch == tuple(self.shape[:-2]),
            lambda what=what, batch=batch: (
                f"{name}: Expected batch dimensions of {what} to be equal to input.shape[:-2], but got {list(batch)}"
            ),
        )
        check(
            other.dtype is self.dtype,
            lambda what=what, other=other: (
                f"{name}: Expected input and {what} to have the same dtype, but input has dtype"
                f"{self.dtype.scalar_name} and {what} has dtype {other.dtype.scalar_name}"
            ),
        )
    check_inexact(self, "ormqr")
    return column_major(input3, input3.shape)
