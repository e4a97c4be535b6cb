"""Initialisation, which always refuses, and the errors of this module."""

from collections.abc import Callable
from typing import NoReturn

from mindtorch._absent import SeedQueue, device_index
from mindtorch._errors import AcceleratorError, OutOfMemoryError

__all__ = ["AcceleratorError", "OutOfMemoryError"]

queue = SeedQueue()

has_magma = False
has_half = True
default_generators: tuple[()] = ()


class DeferredCudaCallError(Exception):
    """A call that was queued before the initialisation failed during it."""


class CudaError(RuntimeError):
    """An error code of the CUDA runtime."""

    def __init__(self, code: int) -> None:
        raise AttributeError("'NoneType' object has no attribute 'cudaGetErrorString'")


class cudaStatus:
    """Status codes of the CUDA runtime."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


def refuse() -> NoReturn:
    """Raise that there is no CUDA."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def init() -> None:
    """Initialise CUDA; raises, there is none."""
    refuse()


def is_available() -> bool:
    """Return whether CUDA can be used: False."""
    return False


def is_initialized() -> bool:
    """Return whether CUDA has been initialised: False."""
    return False


def device_count() -> int:
    """Return the number of CUDA devices: 0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the device computes in bfloat16: False."""
    return False


def is_tf32_supported() -> bool:
    """Return whether the device computes in TF32: False."""
    return False


def check_error(res: int) -> None:
    """Raise the error of a CUDA status; there is no CUDA runtime to know it."""
    raise AttributeError("'NoneType' object has no attribute 'cudaError'")


def cudart() -> NoReturn:
    """Return the CUDA runtime module; raises, there is none."""
    refuse()


def _lazy_init() -> None:
    refuse()


def _lazy_call(callable: Callable[[], object], **kwargs: bool) -> None:
    """Queue ``callable`` for the initialisation."""
    queue.add(callable, seed_all=kwargs.get("seed_all", False), seed=kwargs.get("seed", False))


def _is_compiled() -> bool:
    return False


def _is_in_bad_fork() -> bool:
    return False


def _nvml_based_avail() -> bool:
    return False


def _get_device_index(device: object, optional: bool = False, allow_cpu: bool = False) -> int | None:
    return device_index("cuda", device, optional, allow_cpu)
