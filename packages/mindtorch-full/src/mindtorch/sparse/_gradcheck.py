"""Gradients of functions of sparse tensors, checked with `torch.autograd.gradcheck`, which knows strided tensors alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor

_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COMPRESSED = (*_ROWS, torch.sparse_csc, torch.sparse_bsc)
_BLOCKS = (torch.sparse_bsr, torch.sparse_bsc)


def as_sparse_gradcheck(gradcheck: Callable[..., bool]) -> Callable[..., bool]:
    """Return `gradcheck` for functions that take or return sparse tensors.

    An argument that is sparse and requires a gradient is given to `gradcheck` by its values, and a sparse result as a dense
    tensor. Without `masked`, an argument stores every element before, zeros too, so that each has a gradient.

    >>> gradcheck = torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)
    >>> x = torch.eye(2, dtype=torch.float64).to_sparse_coo().requires_grad_(True)
    >>> gradcheck(lambda x: x.to_sparse_csr(), x)
    True
    """

    def gradcheck_with_sparse_support(func: Callable[..., Any], inputs: Any, **kwargs: Any) -> bool:
        masked = kwargs.pop("masked", False)
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        rebuilds: list[Callable[[Tensor], Tensor] | None] = []
        for place, argument in enumerate(given):
            rebuilds.append(None)
            if _is_checked(argument):
                given[place], rebuilds[place] = _values_of(argument if masked else _store_all(argument))

        def of_values(*arguments: Any, **options: Any) -> Any:
            rebuilt = [
                value if rebuild is None else rebuild(value) for rebuild, value in zip(rebuilds, arguments, strict=True)
            ]
            results = func(*rebuilt, **options)
            if not isinstance(results, list | tuple):
                return _dense(results, masked)
            return tuple(_dense(result, masked) for result in results)

        return gradcheck(of_values, tuple(given), **kwargs)

    return gradcheck_with_sparse_support


def _is_checked(argument: object) -> bool:
    layouts = (torch.sparse_coo, *_COMPRESSED)
    return isinstance(argument, Tensor) and argument.requires_grad and argument.layout in layouts


def _store_all(sparse: Tensor) -> Tensor:
    """Return the same tensor with every element stored."""
    batch = sparse.ndim - sparse.dense_dim() - sparse.sparse_dim()
    block: Sequence[int] | None = sparse.values().shape[batch + 1 : batch + 3] if sparse.layout in _BLOCKS else None
    everywhere = torch.ones(sparse.shape, device=sparse.device, dtype=torch.bool)
    mask = everywhere.to_sparse(layout=sparse.layout, blocksize=block, dense_dim=sparse.dense_dim())
    return sparse.to_dense().sparse_mask(mask)


def _values_of(sparse: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return a sparse tensor's values, and what makes a tensor with the same indices of other values."""
    shape, layout = sparse.shape, sparse.layout
    if layout is torch.sparse_coo:
        indices, coalesced = sparse._indices(), sparse.is_coalesced()
        return sparse._values().detach().requires_grad_(), lambda values: torch.sparse_coo_tensor(
            indices, values, shape, is_coalesced=coalesced
        )
    rows = layout in _ROWS
    compressed = sparse.crow_indices() if rows else sparse.ccol_indices()
    plain = sparse.col_indices() if rows else sparse.row_indices()
    return sparse.values().detach().requires_grad_(), lambda values: torch.sparse_compressed_tensor(
        compressed, plain, values, shape, layout=layout
    )


def _dense(result: Any, masked: bool) -> Any:
    return result.to_dense(masked_grad=masked) if _is_checked(result) else result
