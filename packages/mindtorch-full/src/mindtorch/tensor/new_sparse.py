"""`Tensor.new` of sparse coordinate tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.call import aten
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import TensorBase

_SPARSE_FORMS = (
    " * (*, torch.device device = None)\n"
    " * (Tensor indices, Tensor values, *, torch.device device = None)\n"
    " * (Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)\n"
    " * (tuple of ints size, *, torch.device device = None)\n"
)


def new_sparse(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what `new` of a sparse tensor gives: a sparse tensor of a size, or of indices, values and maybe a size."""
    if len(args) > 1 and all(isinstance(arg, TensorBase) for arg in args[:2]):
        if len(args) == 2:
            return aten.sparse_coo_tensor.indices(*args, **options)
        if len(args) == 3 and isinstance(args[2], Sequence):
            return aten.sparse_coo_tensor.indices_size(*args[:2], list(args[2]), **options)
    if len(args) == 1 and type(args[0]) in (list, tuple):
        raise TypeError(
            "SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided "
            "tensor and convert it to sparse via to_sparse."
        )
    size = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if any(not isinstance(extent, (int, np.integer)) for extent in size):
        given = ", ".join(_argument_type(arg) for arg in args)
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({given}), but expected one of:\n{_SPARSE_FORMS}"
        )
    return aten.zeros(list(size) or [0], layout=sparse_coo, **options)


def _argument_type(value: Any) -> str:
    if isinstance(value, TensorBase):
        return "Tensor"
    return f"torch.storage.{type(value).__name__}" if isinstance(value, UntypedStorage) else type(value).__name__
