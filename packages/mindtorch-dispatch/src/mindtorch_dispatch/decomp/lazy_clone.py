"""Clones that share their bytes until somebody writes them, and the operator that tries it in a parallel loop."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.layout import strided
from mindtorch_storage.storage.copy_on_write import lazy_clone, parallel_loop
from mindtorch_storage.tensor_base import array_of_storage, conceal, make_tensor

from ..interface.wiring import wired
from ..typing import Tensor


def lazily_cloned(self: Tensor) -> Any:
    """A tensor whose storage shares the bytes of this one's until one of the two is written."""
    sig = self._sig.spec.plain
    if self._sig.spec.layout is not strided:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")
    storage = self._materialized_storage()
    if storage.device.type != "cpu" or (storage.lent and not storage.is_shared()):  # others may write: a copy, at once
        copy = storage.clone()
        array = None if storage.device.type == "meta" else array_of_storage(copy, sig.spec, self._offset)
        return make_tensor(wired.tensor_class, sig, array, copy, self._offset, [0])
    clone = lazy_clone(storage)
    if clone is None:
        raise RuntimeError(
            "Expected storage != nullptr to be true, but got false.  (Could this error message be improved?  If so, "
            "please report an enhancement request to PyTorch.)"
        )
    return conceal(make_tensor(wired.tensor_class, sig, None, clone, self._offset, [0]), clone._allocation)


def materialized_in_parallel(self: Tensor, num_parallel: int, skip_first: bool = False) -> Any:
    """`self`, after every step of a parallel loop, but perhaps the first, has asked for bytes to write."""
    for step in range(num_parallel):
        with parallel_loop():
            if step or not skip_first:
                self._materialized_storage().data_ptr()
    return self
