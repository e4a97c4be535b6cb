"""Masked operations on sparse tensors: a mask leaves elements by specifying them, and reductions see those alone."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

_KEPT_ALONE = "reduction operations on CSR tensors with keepdim=False is unsupported"
_LAYOUTS = (torch.strided, torch.sparse_coo, torch.sparse_csr)


def where(mask: Any, input: Any, fill_value: Any) -> Any:
    """Return the input where the mask is true and the fill value where the mask is specified and false, in the layout of
    both. Elements that a mask of single elements hides are not specified in the result."""
    if mask.layout not in _LAYOUTS:
        raise ValueError("_where expects strided or sparse COO or sparse CSR tensor but got " + str(mask.layout))
    if mask.layout is torch.strided:
        return torch.where(mask, input, fill_value)
    if input.layout is not mask.layout:
        raise AssertionError(f"input.layout must be {str(mask.layout)[6:]}, got {input.layout}")
    if mask.layout is torch.sparse_csr:
        found = _coo_where(_as_coo(mask), _as_coo(input), fill_value)
        return _as_csr(found)
    return _coo_where(mask.coalesce(), input.coalesce(), fill_value)


def _as_coo(tensor: Any) -> Any:
    counts = tensor.crow_indices().diff()
    rows = torch.arange(tensor.shape[0], dtype=torch.int64, device=tensor.device).repeat_interleave(counts)
    indices = torch.stack([rows, tensor.col_indices().to(torch.int64)])
    return torch.sparse_coo_tensor(indices, tensor.values(), tensor.shape, is_coalesced=True)


def _as_csr(tensor: Any) -> Any:
    rows, columns = tensor.indices()
    ends = torch.bincount(rows, minlength=tensor.shape[0]).cumsum(0)
    crow = torch.cat([ends.new_zeros(1), ends])
    return torch.sparse_csr_tensor(crow, columns, tensor.values(), tensor.shape)


def _flat(indices: Any, shape: Any) -> Any:
    """Return one number for each column of indices, in the order of the elements."""
    number = indices.new_zeros(indices.shape[1])
    for place, extent in zip(indices, shape, strict=True):
        number = number * extent + place
    return number


def _coo_where(mask: Any, input: Any, fill_value: Any) -> Any:
    """Of coalesced tensors."""
    indices, shown = mask.indices(), mask.values()
    if shown.ndim == 1:
        indices, shown = indices[:, shown], shown[shown]
    shape = mask.shape[: mask.sparse_dim()]
    own, wanted = _flat(input.indices(), shape), _flat(indices, shape)
    places = torch.searchsorted(own, wanted)
    values = torch.cat([input.values(), input.values().new_zeros((1, *input.values().shape[1:]))])
    nowhere = len(own)  # where the zeros are
    found = torch.cat([own, own.new_full((1,), -1)])[places] == wanted
    values = values[torch.where(found, places, nowhere)]
    return torch.sparse_coo_tensor(indices, torch.where(shown, values, fill_value), input.shape, is_coalesced=True)


def in_layout(mask: Any, input: Any) -> Any:
    """Return a mask that may be broadcast, in the layout and shape of the input."""
    if mask.layout is not torch.strided and mask.shape != input.shape:
        mask = mask.to_dense()
    if mask.shape != input.shape:
        mask = torch.broadcast_to(mask.clone(), input.shape)
    mask = mask.to(torch.bool)
    if mask.layout is input.layout and (mask.layout is not torch.sparse_coo or mask.sparse_dim() == input.sparse_dim()):
        return mask
    if input.layout is torch.strided:
        return mask.to_dense()
    if mask.layout is not torch.strided:
        mask = mask.to_dense()
    return mask.to_sparse_csr() if input.layout is torch.sparse_csr else mask.to_sparse(input.sparse_dim())


def require_strided(op_name: str, input: Any) -> None:
    """Refuse sparse inputs; ValueError."""
    if input.layout is not torch.strided:
        raise ValueError(f"masked {op_name} expects strided tensor (got {input.layout} tensor)")


def require_mask(op_name: str, input: Any, mask: Any) -> None:
    """Refuse sparse inputs without a mask, for reductions to which elements that are not specified count; ValueError."""
    if mask is None and input.layout is not torch.strided:
        kind = "sparse_csr" if input.layout is torch.sparse_csr else "sparse_coo"
        raise ValueError(f"masked {op_name} expects explicit mask for {kind} tensor input")


_ON_ELEMENTS: dict[str, Any] = {
    "amax": torch.amax,
    "amin": torch.amin,
    "sum": torch.sum,
    "prod": torch.prod,
    "mean": torch.mean,
}
_IDENTITY = {"sum": 0, "prod": 1, "mean": 0}


def _grouped(op_name: str, values: Any, groups: Any, count: int) -> Any:
    """Return the reduction of the values of each group, which are numbered."""
    places = groups.reshape((-1,) + (1,) * (values.ndim - 1)).expand(values.shape)
    start = values.new_full((count, *values.shape[1:]), _IDENTITY.get(op_name, 0))
    if op_name == "sum":
        return start.index_add(0, groups, values)
    if op_name == "prod" and values.is_complex():
        return _product_of_complex(values, groups, start)
    return start.scatter_reduce(0, places, values, op_name, include_self=op_name == "prod")


def _product_of_complex(values: Any, groups: Any, start: Any) -> Any:
    """One factor of every group at a time, as no kernel multiplies complex numbers by groups."""
    order = torch.argsort(groups, stable=True)
    values, groups = values[order], groups[order]
    counts = torch.bincount(groups, minlength=len(start))
    first = counts.cumsum(0) - counts
    rank = torch.arange(len(groups), device=groups.device) - first[groups]
    for number in range(int(counts.max()) if len(groups) else 0):
        now = rank == number
        start = start.index_copy(0, groups[now], start[groups[now]] * values[now])
    return start


def reduce(op_name: str, input: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    """Return the reduction of the specified elements over dimensions, in the layout of the input."""
    if input.layout is torch.sparse_csr:
        return _reduce_csr(op_name, input, dims, keepdim, dtype)
    input = input.coalesce()
    indices, values, shape = _reduced(op_name, input, dims, keepdim, dtype)
    if input.ndim and not any(dim < input.sparse_dim() for dim in dims):
        return torch.sparse_coo_tensor(indices, values, shape, is_coalesced=True)
    if all(dim in dims for dim in range(input.sparse_dim())):  # one entry is left, which is none where it is zero
        return values[0].reshape(shape).to_sparse() if len(values) else _identity_of(op_name, values, shape)
    return torch.sparse_coo_tensor(indices, values, shape)


def _reduced(op_name: str, input: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> tuple[Any, Any, list[int]]:
    """Return indices and values of the reduction of a coalesced tensor, and its shape."""
    dims = dims if input.ndim else ()
    sparse_dims = [dim for dim in dims if dim < input.sparse_dim()]
    dense_dims = [dim - input.sparse_dim() + 1 for dim in dims if dim >= input.sparse_dim()]
    indices, values = input.indices(), input.values()
    if values.dtype is not dtype and op_name in _IDENTITY:
        values = values.to(dtype)
    if dense_dims:
        values = _over(op_name, values, dense_dims, keepdim)
    left = [dim for dim in range(input.sparse_dim()) if dim not in sparse_dims]
    shape = [1 if dim in dims else extent for dim, extent in enumerate(input.shape) if keepdim or dim not in dims]
    if sparse_dims:
        indices, values = _without(op_name, indices, values, left, input, keepdim)
    return indices, values.to(dtype), shape


def _identity_of(op_name: str, values: Any, shape: list[int]) -> Any:
    """Return what a reduction of no entries at all gives."""
    return torch.masked._reduction_identity(op_name, values).to(values.dtype).expand(shape).to_sparse()


def _over(op_name: str, values: Any, dims: list[int], keepdim: bool) -> Any:
    if op_name != "prod":
        return _ON_ELEMENTS[op_name](values, dims, keepdim)
    for dim in reversed(dims):
        values = values.prod(dim, keepdim)
    return values


def _without(op_name: str, indices: Any, values: Any, left: list[int], input: Any, keepdim: bool) -> tuple[Any, Any]:
    """Return the indices in the dimensions that are left, and the values reduced over the others."""
    kept = indices[left]
    numbers, groups = torch.unique(_flat(kept, [input.shape[dim] for dim in left]), return_inverse=True)
    values = _grouped(op_name, values, groups, len(numbers))
    chosen = kept.new_zeros((len(left), len(numbers))).index_copy(1, groups, kept)
    if not keepdim:
        return chosen, values
    whole = indices.new_zeros((len(indices), len(numbers)))
    whole[left] = chosen
    return whole, values


def _reduce_csr(op_name: str, input: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    if not keepdim:
        raise (RuntimeError if op_name in ("sum", "prod") else AssertionError)(_KEPT_ALONE)
    coo = _as_coo(input)

    def reduced(op_name: str, coo: Any) -> Any:
        indices, values, shape = _reduced(op_name, coo, dims, True, dtype)
        return torch.sparse_coo_tensor(indices, values, shape, is_coalesced=True)

    if op_name == "mean":
        ones = torch.sparse_coo_tensor(coo.indices(), torch.ones_like(coo.values()), coo.shape, is_coalesced=True)
        total, count = (reduced("sum", one) for one in (coo, ones))
        mean = total.values() / count.values()
        return _as_csr(torch.sparse_coo_tensor(total.indices(), mean, total.shape, is_coalesced=True))
    return _as_csr(reduced(op_name, coo))
