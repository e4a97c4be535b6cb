"""Meta rules of copies and conversions."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.spec import Spec

from .checks import broadcastable
from .factory import like_spec
from .rule import MetaRule, meta_rule


@meta_rule()
def clone(self: Spec, memory_format: Any = None) -> Spec:
    """A copy; dense strides are kept unless a format is named."""
    return like_spec(self, None, None, memory_format)


@meta_rule(mixed_devices=True)
def to_copy(
    self: Spec,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Spec:
    """A copy with another dtype, device or format."""
    return like_spec(self, dtype, device, memory_format)


def _copy(self: Spec, src: Any, non_blocking: bool = False) -> Spec:
    if isinstance(src, Spec):
        broadcastable(src.shape, self.shape)
    return self


copy_ = MetaRule(_copy, mixed_devices=True, aliases_ok=True)
"""`copy_`: the source broadcasts to the target and converts to its dtype."""


def _fill(self: Spec, *values: Any) -> Spec:
    return self


fill_ = MetaRule(_fill, aliases_ok=True)
"""`fill_`, `zero_`."""
