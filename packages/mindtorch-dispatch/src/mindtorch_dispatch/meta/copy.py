"""Meta rules of copies and conversions."""

from __future__ import annotations

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.spec import Spec

from ..apart import ANYWHERE
from ..deprecations import warn_of_lost_part
from .checks import broadcastable, check
from .factory import like_spec
from .rule import MetaRule, every_dim, meta_rule


@meta_rule(leading=every_dim)
def clone(self: Spec, memory_format: MemoryFormat | None = None) -> Spec:
    """A copy; dense strides are kept unless a format is named."""
    return like_spec(self, None, None, memory_format)


@meta_rule(mixed_devices=True, leading=every_dim)
def to_copy(
    self: Spec,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Spec:
    """A copy with another dtype, device or format."""
    made = like_spec(self, dtype, device, memory_format)
    _check_data(self, made)
    _warn_of_cast(self, made)
    return made


def _check_data(source: Spec, target: Spec) -> None:
    """Refuse to copy elements that do not exist."""
    check(
        source.device.type != "meta" or target.device.type == "meta",
        lambda: "Cannot copy out of meta tensor; no data!",
        NotImplementedError,
    )


def _warn_of_cast(source: Spec, target: Spec) -> None:
    """Warn, as torch does once, where a copy keeps the real part alone; whether a complex number is zero loses nothing."""
    loses = source.dtype.is_complex and not target.dtype.is_complex and target.dtype is not bool_dtype
    if loses and source.numel and target.device.type != "meta":
        warn_of_lost_part()


def _copy(self: Spec, src: Spec, non_blocking: bool = False) -> Spec:
    if isinstance(src, Spec):
        broadcastable(src.shape, self.shape)
        _check_data(src, self)
        _warn_of_cast(src, self)
    return self


copy_ = MetaRule(_copy, mixed_devices=True, aliases_ok=True, leading=every_dim)
"""`copy_`: the source broadcasts to the target and converts to its dtype."""


def _fill(self: Spec, *values: object) -> Spec:
    for value in values:
        check(
            not isinstance(value, Spec) or value.ndim == 0,
            lambda value=value: (
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
            ),
        )
    return self


fill_ = MetaRule(_fill, aliases_ok=True, leading=every_dim, apart=ANYWHERE)
"""`fill_`, `zero_`."""
