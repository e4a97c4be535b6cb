"""Exceptions that kernels raise and users catch by torch's names, and those that several modules word alike."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.spec import Spec

__all__ = ["LinAlgError", "bounds_error"]


class LinAlgError(RuntimeError):
    """A matrix that cannot be factored or inverted: `torch.linalg.LinAlgError`."""


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def bounds_error(spec: Spec, offset: int, storage: Any) -> RuntimeError:
    """Return torch's error for a geometry that reaches beyond its storage."""
    if offset < 0:
        return RuntimeError(f"Tensor: invalid storage offset {offset}")
    span = sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True)) + 1
    return RuntimeError(
        f"setStorage: sizes {list(spec.shape)}, strides {list(spec.stride)}, storage offset {offset}, and itemsize "
        f"{spec.itemsize} requiring a storage size of {(offset + span) * spec.itemsize} are out of bounds for storage of "
        f"size {storage.nbytes()}"
    )
