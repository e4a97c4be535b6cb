"""`torch.backends.mkldnn`: oneDNN is not part of this library; its settings are kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

from mindtorch._naming import adopt
from mindtorch.backends._flags import BoolFlag, flag, flags_set, give_class
from mindtorch.backends._precision import FP32Precision, get, precision_flag, put

__all__ = ["flags", "is_acl_available", "is_available", "set_flags", "verbose"]

VERBOSE_OFF = 0
VERBOSE_ON = 1
VERBOSE_ON_CREATION = 2

conv = FP32Precision("mkldnn", "conv")
rnn = FP32Precision("mkldnn", "rnn")
matmul = FP32Precision("mkldnn", "matmul")

_FLAGS = {
    "enabled": BoolFlag(True, "set_enabled_mkldnn"),
    "deterministic": BoolFlag(False, "set_onednn_deterministic"),
}


class MkldnnModule(ModuleType):
    """The type of this module; its properties are the settings."""

    enabled = _FLAGS["enabled"].property()
    deterministic = _FLAGS["deterministic"].property()
    # A setting for Intel's GPUs: without one torch takes a value and returns None.
    allow_tf32 = flag(lambda: None, lambda value: None)
    # torch keeps this one and that of `torch.backends` in the same place.
    fp32_precision = precision_flag("generic")


def is_available() -> bool:
    """Return whether oneDNN is built in: False."""
    return False


def is_acl_available() -> bool:
    """Return whether Arm's compute library is built in: False.

    >>> torch.backends.mkldnn.is_acl_available()
    False
    """
    return False


class verbose:
    """Context manager that lets oneDNN report its calls; switching it on raises, there is nothing to report.

    >>> with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_OFF):
    ...     print(torch.ones(1) + 1)
    tensor([2.])
    """

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> Any:
        if self.level == VERBOSE_OFF:
            return None
        raise RuntimeError("Failed to set MKLDNN into verbose mode. Please consider to disable this verbose scope.")

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Literal[False]:
        return False


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[Any, ...]:
    """Set those settings that are not None and return what all of them were.

    >>> before = torch.backends.mkldnn.set_flags(False)
    >>> torch.backends.mkldnn.enabled
    False
    >>> _ = torch.backends.mkldnn.set_flags(*before[:1])
    """
    before = (_FLAGS["enabled"].get(), _FLAGS["deterministic"].get(), None, get("generic", "all"))
    for name, value in (("enabled", _enabled), ("deterministic", _deterministic)):
        if value is not None:
            _FLAGS[name].put(value)
    if _fp32_precision is not None:
        put("generic", "all", _fp32_precision)
    return before


@contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> Iterator[None]:
    """Context manager that sets the settings.

    >>> with torch.backends.mkldnn.flags(enabled=False):
    ...     print(torch.backends.mkldnn.enabled)
    False
    """
    with flags_set(set_flags, enabled, deterministic, allow_tf32, fp32_precision):
        yield


adopt(globals())
give_class(__name__, MkldnnModule)
