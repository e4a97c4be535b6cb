"""`torch.sparse.FloatTensor` and its like: coordinate tensors by the type names of old."""

from __future__ import annotations

import functools
from typing import Any

from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.schema import parse_schema
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage.layout import sparse_coo

from .legacy import LEGACY_TYPES, LegacyTensorType

_SIZES_ONLY = (
    "torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided "
    "tensor and convert it to sparse via to_sparse."
)
_FORMS = {
    "new(*, Device? device=None)": ("", "(0,), dtype="),
    "new(Tensor indices, Tensor values, *, Device? device=None)": (
        "indices, values, *, device=",
        "indices, values, dtype=, device=",
    ),
    "new(Tensor indices, Tensor values, int[] size, *, Device? device=None)": (
        "indices, values, shape, *, device=",
        "indices, values, shape, dtype=, device=",
    ),
    "new(int[] size, *, Device? device=None)": ("shape, *, device=", "shape, dtype=, device="),
}
"""The forms of a call, with the words of the warning: what was called, and what to call."""


@functools.cache
def _parser() -> ArgumentParser:
    parser = ArgumentParser("new", [parse_schema(f"{form} -> ()") for form in _FORMS])
    # The forms of a legacy constructor are tried in the order in which they are written.
    parser.signatures = tuple(sorted(parser.signatures, key=lambda one: one.index))
    return parser


def _make(dtype: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the tensor of a call; values keep their dtype."""
    parsed = _parser().parse(args, kwargs)
    old, new = _FORMS[list(_FORMS)[parsed.index]]
    if len(args) == 1 and isinstance(args[0], (list, tuple)) and type(args[0]).__name__ != "Size":
        raise TypeError(_SIZES_ONLY)
    *given, device = parsed.values
    if device is not None and device.type != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {device.type} was passed")
    warn_once(f"torch.sparse.SparseTensor({old}) is deprecated.  Please use torch.sparse_coo_tensor({new}).")
    if len(given) > 1:
        return (
            aten.sparse_coo_tensor.indices(*given) if len(given) == 2 else aten.sparse_coo_tensor.indices_size(*given)
        )
    return aten.zeros(list(given[0]) if given else [0], layout=sparse_coo, dtype=dtype)


class LegacySparseType(LegacyTensorType):
    """Class of the types: made of indices and values, of a size, or empty."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a coordinate tensor of the type."""
        return _make(cls.dtype, args, kwargs)

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


SPARSE_TYPES = {
    name: LegacySparseType(
        name,
        (),
        {
            "dtype": one.dtype,
            "layout": sparse_coo,
            "is_sparse": True,
            "is_cuda": False,
            "is_xpu": False,
            "__module__": "torch.sparse",
            "__doc__": f"Coordinate tensors of {one.dtype}.\n\n>>> torch.sparse.{name}(2, 3).dtype\n{one.dtype}",
        },
    )
    for name, one in LEGACY_TYPES.items()
    if name != "BoolTensor"
}
"""Name to type."""
