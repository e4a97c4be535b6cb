"""Functions over linear algebra rows that upstream writes in Python: `lu`, `chain_matmul`."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.override import overrides
from mindtorch_storage.tensor_base import TensorBase

from .._naming import adopt


def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Return the product of the matrices, multiplied in the cheapest order.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.chain_matmul(torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1))
    tensor([[6.]])
    """
    handled, result = overrides.handle(chain_matmul, matrices, {"out": out})
    if handled:
        return result
    return aten.chain_matmul(list(matrices)) if out is None else aten.chain_matmul(list(matrices), out=out)


def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Return LU factors in one matrix and row exchanges; with `get_infos` the status too."""
    handled, result = overrides.handle(lu, (A,), {"pivot": pivot, "get_infos": get_infos, "out": out})
    if handled:
        return result
    found = aten._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    if not get_infos:
        found = (found[0], found[1])
    if out is None:
        return found
    if len(out) != len(found):
        raise TypeError(f"expected tuple of {len(found)} elements but got {len(out)}")
    for target, value in zip(out, found, strict=True):
        if not isinstance(target, TensorBase):
            raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
        target.resize_as_(value).copy_(value)  # type: ignore[attr-defined]
    return out


for _function in (chain_matmul, lu):
    _function.__module__ = "torch.functional"


adopt(globals(), "torch.functional")
