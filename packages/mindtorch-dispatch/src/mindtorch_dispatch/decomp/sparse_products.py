"""Products with matrices whose rows are compressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import bfloat16, float16, float32
from mindtorch_storage.layout import layout_name, sparse_csr, strided

from ..call import aten
from ..meta.checks import check
from ..sparse import coo
from ..sparse.compressed import entries, is_compressed
from ..typing import Tensor

_REDUCTIONS = ("sum", "mean", "amax", "amin")
_SHORT = {"max": "amax", "min": "amin"}
"""Names that this product takes as well, alone among the reductions."""


def sparse_mm_reduce(sparse: Tensor, dense: Tensor, reduce: str) -> Any:
    """The product of a matrix with compressed rows and a dense one, the terms of each sum reduced in another way."""
    layout = sparse._sig.spec.layout
    if not is_compressed(sparse):
        needs_compressed("_sparse_mm_reduce_impl")(sparse)
    check(layout is sparse_csr, lambda: f"sparse_mm_reduce: expect self to be SparseCsr, got {layout_name(layout)}")
    check(
        reduce in (*_REDUCTIONS, *_SHORT, "prod"),
        lambda: f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}",
    )
    reduce = _SHORT.get(reduce, reduce)
    check(reduce != "prod", lambda: "sparse_mm_reduce: reduce type of prod has not been enabled.")
    kind = dense._sig.spec.layout
    check(
        kind is strided,
        lambda: (
            f"Expected tensor to have Strided Layout, but got tensor with {layout_name(kind)} Layout (while checking "
            "arguments for sparse_mm_reduce)"
        ),
    )
    check(
        sparse.dtype is dense.dtype,
        lambda: (
            f"Expected tensor for argument #1 'other' to have scalar type {sparse.dtype.scalar_name}; but got "
            f"torch.{dense.dtype.scalar_name}Tensor instead (while checking arguments for sparse_mm_reduce)"
        ),
    )
    check(
        dense.dim() == 2 and dense.shape[0] == sparse.shape[1],
        lambda: (
            f"Expected a tensor of dimension 2 and tensor.size[0] == {sparse.shape[1]} but got: dimension {dense.dim()} "
            f"and tensor.size[0] = {dense.shape[0]}"
        ),
    )
    places = entries(aten.detach(sparse))
    values, dtype = aten.values(sparse), dense.dtype
    if dtype in (float16, bfloat16):  # sums are rounded once
        values, dense = (aten._to_copy(one, dtype=float32) for one in (values, dense))
    terms = aten.mul(aten.unsqueeze(values, 1), aten.index_select(dense, 0, places.column))
    zeros = aten.zeros([sparse.shape[0], dense.shape[1]], dtype=terms.dtype, device=terms.device)
    if reduce == "sum":
        made = aten.index_add(zeros, 0, places.row, terms)
    else:
        spread = aten.expand(aten.unsqueeze(places.row, 1), list(terms.shape))
        made = aten.scatter_reduce(zeros, 0, spread, terms, reduce, include_self=False)
    return made if made.dtype is dtype else aten._to_copy(made, dtype=dtype)


def needs_compressed(name: str) -> Callable[..., Any]:
    """Return the function of an op that tensors with compressed rows have a kernel for: it raises for all others."""

    def refused(self: Tensor, *rest: object) -> Any:
        backend = "SparseCPU" if coo.is_sparse(self) else "CPU"
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. This could be because the "
            "operator doesn't exist for this backend."
        )

    return refused
