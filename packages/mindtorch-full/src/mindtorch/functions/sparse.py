"""Making sparse coordinate tensors of tensors or Python data."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage.dtype import bool as bool_
from mindtorch_storage.dtype import int32, int64
from mindtorch_storage.tensor_base import TensorBase

from .._overridable import as_given, make_overridable
from ..sparse._invariants import invariants
from ..tensor.construction import from_data
from ..tensor.native import parsed_by

__all__ = ["_validate_sparse_coo_tensor_args", "sparse_coo_tensor"]

_OPTIONS = "*, torch.dtype dtype = None, torch.device device = None{}, bool requires_grad = False, bool check_invariants = None"
_WITH_VALUES = _OPTIONS.format(", bool pin_memory = False") + ", bool is_coalesced = None"
_NOTHING_GIVEN = (
    "sparse_coo_tensor() received an invalid combination of arguments - got (), but expected one of:\n"
    f" * (object indices, object values, {_WITH_VALUES})\n"
    f" * (object indices, object values, tuple of ints size, {_WITH_VALUES})\n"
    f" * (tuple of ints size, {_OPTIONS.format('')})\n"
)


@parsed_by(
    "sparse_coo_tensor(Any indices=None, Any values=None, Any size=None, *, ScalarType? dtype=None, Device? device=None, "
    "bool requires_grad=False, bool? check_invariants=None, bool? is_coalesced=None)"
)
def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    check_invariants: bool | None,
    is_coalesced: bool | None,
) -> Any:
    """Return the sparse tensor whose element at `indices[:, i]` is `values[i]`, equal indices added up.

    Without a size it is as large as the indices demand; `sparse_coo_tensor(size)` has no entries. Indices out of range
    raise RuntimeError when `check_invariants` is true. Source: aten::sparse_coo_tensor.

    >>> import mindtorch as torch
    >>> torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,)).to_dense()
    tensor([1., 0., 2., 0.])
    """
    checked = checks_places(check_invariants)
    if values is None:
        extents = indices if size is None else size
        if extents is None:
            raise TypeError(_NOTHING_GIVEN)
        made = aten.sparse_coo_tensor.size(list(extents), dtype=dtype, device=device)
        return made.requires_grad_(requires_grad)
    given_values = values if isinstance(values, TensorBase) else from_data(values, dtype, device)
    given_indices: Any = indices if isinstance(indices, TensorBase) else from_data(indices, int64, device)
    if given_indices.dtype not in (int64, int32):
        given_indices = given_indices.to(int64)
    options = {"dtype": dtype, "device": device, "is_coalesced": is_coalesced}
    if size is None:
        _check_negative(given_indices)
        made = aten.sparse_coo_tensor.indices(given_indices, given_values, **options)
    else:
        made = aten.sparse_coo_tensor.indices_size(given_indices, given_values, list(size), **options)
        if checked:
            _check_places(given_indices, size, is_coalesced)
    return made.requires_grad_() if requires_grad and not made.requires_grad else made


@parsed_by(
    "_validate_sparse_coo_tensor_args(Tensor indices, Tensor values, int[] size, bool? is_coalesced=None, "
    "bool? check_pinning=None)"
)
def _validate_sparse_coo_tensor_args(
    indices: Any, values: Any, size: Any, is_coalesced: bool | None, check_pinning: bool | None
) -> None:
    """Raise where these parts do not make a sparse tensor of this size.

    >>> import mindtorch as torch
    >>> torch._validate_sparse_coo_tensor_args(torch.tensor([[0]]), torch.ones(1), (2,))
    """
    aten.sparse_coo_tensor.indices_size(indices, values, list(size))
    _check_places(indices, size, is_coalesced)


_NOT_CHOSEN = (
    "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur when operating on a sparse "
    "tensor which violates the invariants, but checks incur performance overhead. To silence this warning, explicitly opt in "
    "or out. See `torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance. "
)


def checks_places(given: bool | None) -> bool:
    """Return whether a call with `check_invariants=given` looks at its indices; a notice where nobody chose."""
    if given is None and not invariants.chosen:
        warn_once(_NOT_CHOSEN)
    return invariants.checked if given is None else given


def _check_places(indices: Any, size: Any, is_coalesced: bool | None) -> None:
    _check_range(indices, size)
    if is_coalesced:
        _check_order(indices)


def _check_negative(indices: Any) -> None:
    if indices.device.type != "meta" and indices.ndim == 2 and indices.numel() and indices.min() < 0:
        raise RuntimeError(
            "found negative index " + str(indices.min().item()) + " for dim " + _place(indices, indices < 0)
        )


def _check_range(indices: Any, size: Any) -> None:
    if indices.numel() == 0:
        return
    _check_negative(indices)
    for dim, largest in enumerate(aten.amax(indices, [1]).tolist()):
        if largest >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found index {largest}"
            )


def _check_order(indices: Any) -> None:
    """Refuse indices that are not in the order of rows, each once, though they are said to be."""
    if indices.numel() == 0:
        return
    before, after = indices[:, :-1], indices[:, 1:]
    smaller = aten.zeros_like(before[0], dtype=bool_)
    well = True
    for dim in range(len(indices)):
        well = well and not bool((~smaller & (before[dim] > after[dim])).any())
        smaller = smaller | (before[dim] < after[dim])
    if not well or not bool(smaller.all()):
        raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


def _place(indices: Any, wrong: Any) -> str:
    return str(int(wrong.nonzero()[0, 0]))


make_overridable(globals(), __all__, as_given)
