"""`Tensor.new` of sparse coordinate tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.arguments.messages import invalid_combination_error
from mindtorch_dispatch.call import aten
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.tensor_base import TensorBase

from .legacy_sizes import sizes_of

_FORMS = (
    "(*, torch.device device = None)",
    "(Tensor indices, Tensor values, *, torch.device device = None)",
    "(Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)",
    "(tuple of ints size, *, torch.device device = None)",
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
    size = list(args[0]) if len(args) == 1 and isinstance(args[0], tuple) else sizes_of(args)
    if size is None and args:
        raise invalid_combination_error("new", args, {}, _FORMS)
    return aten.zeros(size or [0], layout=sparse_coo, **options)
