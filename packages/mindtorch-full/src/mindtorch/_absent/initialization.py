"""Initialisation, which always refuses, and whether there is anything to initialise."""

from collections.abc import Callable
from typing import NoReturn

from mindtorch._absent import SeedQueue

__all__ = [
    "_is_compiled",
    "_is_in_bad_fork",
    "_lazy_call",
    "_lazy_init",
    "device_count",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "refuse",
]
"""What the modules of accelerators take, with the private names that torch has there."""

_kind = "accelerator"
queue = SeedQueue()


def refuse() -> NoReturn:
    """Raise that there is no such accelerator."""
    raise AssertionError(f"Torch not compiled with {_kind.upper()} enabled")


def init() -> None:
    """Initialise the accelerator; raises, there is none.

    >>> torch.KIND.init()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def is_available() -> bool:
    """Return whether the accelerator can be used: False.

    >>> torch.KIND.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Return whether the accelerator has been initialised: False.

    >>> torch.KIND.is_initialized()
    False
    """
    return False


def device_count() -> int:
    """Return the number of devices: 0.

    >>> torch.KIND.device_count()
    0
    """
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the device computes in bfloat16: False.

    >>> torch.KIND.is_bf16_supported()
    False
    """
    return False


def is_tf32_supported() -> bool:
    """Return whether the device computes in TF32: False.

    >>> torch.KIND.is_tf32_supported()
    False
    """
    return False


def _lazy_init() -> None:
    refuse()


def _lazy_call(callable: Callable[[], object], **kwargs: bool) -> None:
    """Queue ``callable`` for the initialisation."""
    queue.add(callable, seed_all=kwargs.get("seed_all", False), seed=kwargs.get("seed", False))


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False
