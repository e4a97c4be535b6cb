"""Whether something is an array, for modules that the class itself is made of."""

from __future__ import annotations

from mindtorch_storage.lazy_import import LazyModule

_arrays = LazyModule("mindtorch._numpy._ndarray", "arrays are made of these")


def is_ndarray(x: object) -> bool:
    """Return whether something is an array."""
    return isinstance(x, _arrays.ndarray)
