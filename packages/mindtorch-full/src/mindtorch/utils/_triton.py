"""`torch.utils._triton`: whether Triton can be used. It writes kernels for GPUs, of which there is none."""

import functools
import importlib.util

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import load

__all__ = ["get_triton_version", "has_triton", "has_triton_package"]


@functools.cache
def has_triton_package() -> bool:
    """Return whether the package `triton` is installed."""
    return importlib.util.find_spec("triton") is not None


@functools.cache
def get_triton_version(fallback: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Return the first two numbers of Triton's version, ``fallback`` without it."""
    if not has_triton_package():
        return fallback
    major, minor = load("triton").__version__.split(".")[:2]
    return int(major), int(minor)


@functools.cache
def has_triton() -> bool:
    """Return whether kernels of Triton run here: False, there is no device for them."""
    return False


adopt(globals())
