"""Sums of sparse tensors of several processes: every process gets the parts of all, and adds them."""

from __future__ import annotations

from collections.abc import Callable

import mindtorch as torch
from mindtorch.distributed import _checks as checks
from mindtorch.distributed._reduce_op import RedOpType
from mindtorch.tensor.tensor import Tensor

_Gather = Callable[[Tensor], list[Tensor]]
"""Return the tensors of all ranks; theirs have one shape."""


def check(tensors: list[Tensor], reduction: RedOpType) -> None:
    """RuntimeError for what gloo does not do with sparse tensors."""
    if len(tensors) != 1:
        checks.fail("allreduce", "requires inputs to have a single tensor")
    if reduction is not RedOpType.SUM:
        checks.fail(
            "allreduce", "unsupported reduction operation (allreduce of sparse tensors only works with ReduceOp.SUM)"
        )


def total(tensor: Tensor, gather: _Gather) -> Tensor:
    """Return the sum, coalesced. RuntimeError where shapes differ between ranks."""
    own = tensor.detach().coalesce()
    shapes = gather(torch.tensor([own.sparse_dim(), own.dense_dim(), *own.shape], dtype=torch.int64))
    for shape in shapes:
        if shape.tolist() != shapes[0].tolist():
            raise RuntimeError("Sparse dimensions do not match")
    counts = [int(count) for count in gather(torch.tensor([own._nnz()], dtype=torch.int64))]
    most = max(counts)
    indices = gather(_padded(own.indices().t().contiguous(), most))
    values = gather(_padded(own.values(), most))
    places = torch.cat([part[:count] for count, part in zip(counts, indices, strict=True)])
    entries = torch.cat([part[:count] for count, part in zip(counts, values, strict=True)])
    return torch.sparse_coo_tensor(places.t(), entries, tuple(tensor.shape)).coalesce()


def _padded(rows: Tensor, count: int) -> Tensor:
    """Return so many rows: the ones given, then zeros."""
    made = rows.new_zeros((count, *rows.shape[1:]))
    made[: rows.shape[0]] = rows
    return made
