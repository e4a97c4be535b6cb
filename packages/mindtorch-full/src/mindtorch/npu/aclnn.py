"""`torch.npu.aclnn`: whether float32 may be multiplied with fewer bits, which is what `torch.npu.conv` says, too."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch.npu._versions import get_cann_version
from mindtorch.npu.options import conv

__all__ = ["flags", "version"]


def version() -> str | None:
    """Return the version of the operators' library, that of the installation.

    >>> print(torch.npu.aclnn.version())
    None
    """
    return get_cann_version() or None


@contextmanager
def flags(allow_hf32: bool = True) -> Iterator[None]:
    """Context: float32 may be multiplied with fewer bits, or may not.

    >>> with torch.npu.aclnn.flags(allow_hf32=False):
    ...     print(torch.npu.aclnn.allow_hf32)
    False
    """
    before = conv.allow_hf32
    conv.allow_hf32 = allow_hf32
    try:
        yield
    finally:
        conv.allow_hf32 = before


class _Aclnn(types.ModuleType):
    """The module itself, so that a plain attribute can be checked when it is set."""

    @property
    def allow_hf32(self) -> bool:
        """Whether float32 may be multiplied with fewer bits."""
        return conv.allow_hf32

    @allow_hf32.setter
    def allow_hf32(self, value: Any) -> None:
        conv.allow_hf32 = value


sys.modules[__name__].__class__ = _Aclnn
adopt(globals())
